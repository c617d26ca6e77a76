"""What a fit of DeepHasher leaves alone: given networks and how torch is set up."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from sklearn_hashrank import load_hasher, save_hasher
from sklearn_hashrank.deep import DeepHasher
from sklearn_hashrank.deep._objectives import objective_of_rows

X, Y = load_digits(return_X_y=True)
X, Y = X[:300], Y[:300]
IMAGES = X.reshape(-1, 8, 8)


def hasher(module=None, **options):
    return DeepHasher(module, **{"n_bits": 8, "max_iter": 2, "random_state": 0, **options})


def trunk():
    return nn.Sequential(nn.Linear(64, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout())


@pytest.mark.parametrize("early_stopping", [False, True])
def test_nothing_in_a_frozen_trunk_changes(early_stopping):
    given, seen = trunk(), []
    given[3].register_forward_hook(lambda layer, rows, out: seen.append(layer.training))
    options = {"trunk_learning_rate": 0, "weight_decay": 0.5, "early_stopping": early_stopping}
    fitted = hasher(given, **options).fit(X, Y)
    learned = fitted.network_.trunk.state_dict()
    for name, weights in given.state_dict().items():
        assert_array_equal(learned[name], weights, err_msg=name)
    assert not any(seen)


def test_trunks_learn_otherwise():
    given = trunk()
    learned = hasher(given).fit(X, Y).network_.trunk
    assert not torch.equal(learned[0].weight, given[0].weight)
    assert not torch.equal(learned[1].running_mean, given[1].running_mean)


def test_gradients_are_not_kept():
    for module in (None, trunk()):
        network = hasher(module, trunk_learning_rate=0).fit(X, Y).network_
        assert all(each.grad is None for each in network.parameters())


def test_a_network_that_a_function_returns_twice_learns_in_neither_fit():
    shared = nn.Linear(64, 8)
    before = shared.weight.detach().clone()
    first = hasher(lambda: shared).fit(X, Y)
    assert_array_equal(hasher(lambda: shared).fit(X, Y).codes_, first.codes_)
    assert torch.equal(shared.weight, before)


@pytest.mark.parametrize("as_function", [False, True])
def test_networks_may_come_from_another_device(as_function):
    class Elsewhere(nn.Linear):
        """Stands for one on an accelerator: takes rows of the CPU after it has moved there."""

        is_here = False

        def _apply(self, *args, **kwargs):
            self.is_here = True
            return super()._apply(*args, **kwargs)

        def forward(self, rows):
            if not self.is_here:
                raise RuntimeError("Expected all tensors to be on the same device")
            return super().forward(rows)

    given = Elsewhere(64, 8)
    fitted = hasher((lambda: given) if as_function else given).fit(X, Y)
    assert fitted.codes_.shape == (300, 1)
    assert not given.is_here


@pytest.mark.parametrize("rows", [X, IMAGES], ids=["rows", "images"])
def test_default_precision_of_torch_does_not_matter(rows, tmp_path):
    expected = hasher().fit(rows, Y)
    save_hasher(tmp_path / "hasher.npz", expected)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        loaded = load_hasher(tmp_path / "hasher.npz")
        fitted = hasher().fit(rows, Y)
    finally:
        torch.set_default_dtype(before)
    assert_array_equal(loaded.transform(rows), expected.transform(rows))
    assert next(fitted.network_.parameters()).dtype == torch.float32


def test_generators_of_accelerators_are_not_seeded_on_the_cpu(monkeypatch):
    seeded = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeded.append)
    hasher(device="cpu").fit(X, Y)
    assert not seeded


def test_losses_of_users_go_where_the_scores_are():
    """The meta device stands for an accelerator."""
    weighted = nn.CrossEntropyLoss(weight=torch.ones(10))
    loss = objective_of_rows(weighted, Y).of(np.arange(2))
    assert loss(torch.zeros(2, 10, device="meta")).device.type == "meta"


# Forms of rows


class Items(torch.utils.data.Dataset):
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, number):
        return self.items[number]


def test_only_tuples_bring_a_y():
    expected = hasher().fit(X, Y).codes_
    for items in (Items(X.tolist()), TensorDataset(torch.from_numpy(X))):
        assert_array_equal(hasher().fit(items, Y).codes_, expected)
        assert hasher().fit(items).score(items) == hasher().fit(X).score(X)
    with pytest.raises(ValueError, match="type list"):
        hasher().fit(Items([[row, 0] for row in X]), Y)


def test_loaders_are_told_apart_from_data_sets():
    with pytest.raises(ValueError, match="X.dataset"):
        hasher().fit(DataLoader(TensorDataset(torch.from_numpy(X)), 10), Y)


def test_half_precision_tensors_are_rows():
    rows = torch.from_numpy(X).bfloat16()
    assert_array_equal(hasher().fit(rows, Y).codes_, hasher().fit(rows.float(), Y).codes_)


def test_augmentation_may_give_another_precision():
    def twice(rows):
        return 2 * rows.double()

    def plainly_twice(rows):
        return 2 * rows

    codes = [hasher(augment=how).fit(X, Y).codes_ for how in (twice, plainly_twice)]
    assert np.mean(codes[0] == codes[1]) > 0.9
