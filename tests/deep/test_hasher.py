"""DeepHasher learns from every form of rows, module and objective."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import Dataset, TensorDataset

from sklearn_hashrank import (
    EuclideanAffinity,
    LabelAffinity,
    NeighborAffinity,
    SharedLabelAffinity,
)
from sklearn_hashrank._learning.pair_relevance import PairRelevance
from sklearn_hashrank.deep import DeepHasher, PairwiseLoss, TieAwareLoss
from sklearn_hashrank.deep._objectives import objective_of_rows
from sklearn_hashrank.objectives import (
    AveragePrecision,
    Centers,
    HashNet,
    RankingObjective,
    TieValues,
)

X, Y = load_digits(return_X_y=True)
X, Y = X[:500], Y[:500]
IMAGES = X.reshape(-1, 8, 8)


def hasher(**options):
    return DeepHasher(**{"n_bits": 16, "max_iter": 4, "random_state": 0, **options})


class Features(nn.Module):
    """A network of features, to be fine-tuned."""

    def __init__(self, n_features=64, width=32):
        super().__init__()
        self.layer = nn.Linear(n_features, width)

    def forward(self, rows):
        return torch.relu(self.layer(rows))


class Whole(nn.Sequential):
    """A network with its bits."""

    def __init__(self, n_features, n_bits):
        super().__init__(nn.Linear(n_features, 32), nn.ReLU(), nn.Linear(32, n_bits))


def without_arguments():
    return nn.Linear(64, 16)


def with_everything(**known):
    return nn.Linear(known["n_features"], known["n_bits"])


FORMS = {
    "float64": X,
    "float32": X.astype(np.float32),
    "bytes": X.astype(np.uint8),
    "csr": sparse.csr_array(X),
    "list": X.tolist(),
    "tensor": torch.from_numpy(X),
    "data set": TensorDataset(torch.from_numpy(X), torch.from_numpy(Y)),
}
IMAGE_FORMS = {
    "gray": IMAGES,
    "bytes": IMAGES.astype(np.uint8),
    "channels last": IMAGES[..., None],
    "channels first": IMAGES[:, None],
    "list": IMAGES.tolist(),
    "tensor": torch.from_numpy(IMAGES[:, None]),
    "reversed": np.ascontiguousarray(IMAGES[:, :, ::-1])[:, :, ::-1],
    "data set": TensorDataset(torch.from_numpy(IMAGES[:, None]), torch.from_numpy(Y)),
}


def assert_same_codes(codes, expected):
    """Equal but for what lies within rounding of a threshold."""
    assert np.mean(codes == expected) > 0.99


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_rows_are_the_same_rows(form):
    expected = hasher().fit(X, Y)
    fitted = hasher().fit(FORMS[form], Y)
    assert fitted.input_shape_ == (64,)
    assert_same_codes(fitted.transform(FORMS[form]), expected.transform(X))


@pytest.mark.parametrize("form", IMAGE_FORMS)
def test_forms_of_images_are_the_same_images(form):
    expected = hasher(max_iter=1).fit(IMAGES, Y)
    fitted = hasher(max_iter=1).fit(IMAGE_FORMS[form], Y)
    assert fitted.input_shape_ == (1, 8, 8)
    assert fitted.n_features_in_ == 64
    assert_same_codes(fitted.transform(IMAGE_FORMS[form]), expected.transform(IMAGES))
    assert_same_codes(fitted.transform(X), expected.transform(IMAGES))
    flat = hasher(max_iter=1, image_shape=(8, 8)).fit(X, Y)
    assert_array_equal(flat.codes_, expected.codes_)


def test_channels_first_and_last_are_the_same_images():
    random = np.random.default_rng(0)
    first = random.normal(size=(60, 3, 8, 6)) * [[[5.0]], [[1.0]], [[0.1]]]
    last = np.moveaxis(first, 1, 3)
    fitted = hasher(max_iter=1).fit(first, Y[:60])
    assert fitted.input_shape_ == (3, 8, 6)
    assert_array_equal(hasher(max_iter=1).fit(last, Y[:60]).codes_, fitted.codes_)
    assert_array_equal(hasher(max_iter=1, channels="last").fit(last, Y[:60]).codes_, fitted.codes_)


@pytest.mark.parametrize("rows", [X, IMAGES], ids=["rows", "images"])
def test_scale_and_offset_do_not_matter(rows):
    expected = hasher(max_iter=3).fit(rows, Y).score(rows, Y)
    assert hasher(max_iter=3).fit(1000 * rows + 7, Y).score(1000 * rows + 7, Y) == pytest.approx(
        expected, abs=0.02
    )


def test_items_of_data_sets_bring_their_y():
    fitted = hasher().fit(FORMS["data set"])
    assert_array_equal(fitted.y_, Y)
    assert_array_equal(fitted.codes_, hasher().fit(X, Y).codes_)
    assert fitted.score(FORMS["data set"]) == fitted.score(X, Y)


def test_it_learns():
    rows, images = (hasher(max_iter=15).fit(rows[:400], Y[:400]) for rows in (X, IMAGES))
    assert rows.score(X[400:], Y[400:]) > 0.75
    assert images.score(IMAGES[400:], Y[400:]) > 0.6
    assert rows.history_["objective"][-1] > rows.history_["objective"][0]
    assert len(rows.history_["learning_rate"]) == rows.n_iter_ == 15


OBJECTIVES = ["ap", "ndcg", "mi", "dsh", "dispersed", "dpsh", "hashnet", "dtsh"]


@pytest.mark.parametrize(
    "objective",
    [*OBJECTIVES, TieAwareLoss(AveragePrecision(alpha_end=4.0))],
    ids=[*OBJECTIVES, "loss"],
)
def test_objectives(objective):
    fitted = hasher(objective=objective, max_iter=10).fit(X[:400], Y[:400])
    assert fitted.score(X[400:], Y[400:]) > 0.4


@pytest.mark.parametrize("form", ["softmax", "bits"])
def test_networks_learn_centers(form):
    """As linear hashers do: the loss of a batch is minus the objective of its rows."""
    fitted = hasher(objective=Centers(form), max_iter=10).fit(X[:400], Y[:400])
    assert fitted.score(X[400:], Y[400:]) > 0.5
    relevance = PairRelevance(LabelAffinity().fit(Y), Y)
    objective = Centers(form)
    rows, scores = np.arange(30, 60), torch.from_numpy(X[:30, 8:16]).requires_grad_()
    bound = objective_of_rows(objective, relevance.levels, Y)
    bound.bind(relevance)
    found = bound.of(rows)(scores)
    found.backward()
    value, gradient = objective.bind(relevance.affinity, Y)(scores.detach().numpy(), rows)
    assert found.item() == pytest.approx(-value, rel=1e-6)
    np.testing.assert_allclose(scores.grad, -gradient, rtol=1e-5, atol=1e-9)
    with pytest.raises(ValueError, match="class labels or label sets"):
        hasher(objective=Centers(form), max_iter=1).fit(X[:50])


def test_hashnet_becomes_steeper():
    relevance = PairRelevance(LabelAffinity().fit(Y), Y)
    found, scores = (
        objective_of_rows("hashnet", relevance.levels, Y),
        torch.from_numpy(X[:40, 8:16]),
    )
    found.bind(relevance)
    for progress, alpha in ((0.0, 1.0), (0.5, np.sqrt(5)), (1.0, 3.0)):
        found.anneal(progress)
        expected = PairwiseLoss(HashNet(alpha=alpha))(scores, Y[:40])
        assert found.of(np.arange(40))(scores) == pytest.approx(expected)


class Warming:
    """An objective of a user that anneals: the similarity that relevant rows shall have grows."""

    target = 0.5

    def anneal(self, progress):
        self.target = 0.5 + 0.5 * progress

    def value_and_gradient(self, scores, level, levels):
        codes = np.tanh(scores)
        error = codes @ codes.T / codes.shape[1] - self.target * np.where(levels[level] > 0, 1, -1)
        np.fill_diagonal(error, 0)
        by_codes = -2 * (error + error.T) @ codes / (error.size * codes.shape[1])
        return -np.mean(error**2), by_codes * (1 - codes**2)


def test_objectives_and_losses_of_users_anneal():
    class Steady(Warming):
        anneal = None

    learned = hasher(objective=Warming(), max_iter=10).fit(X[:400], Y[:400])
    assert learned.objective.target == 0.5
    assert learned.score(X[400:], Y[400:]) > 0.4
    steady = hasher(objective=Steady(), max_iter=10).fit(X[:400], Y[:400])
    assert np.any(steady.decision_function(X) != learned.decision_function(X))

    class Loss(nn.CrossEntropyLoss):
        seen = []

        def anneal(self, progress):
            self.seen.append(progress)

    hasher(objective=Loss(), max_iter=2, batch_size=250).fit(X, Y)
    assert Loss.seen == pytest.approx([0, 0.25, 0.5, 0.75])


class Falling(nn.Module):
    """A loss that says how much of the training is left."""

    left = 1.0

    def anneal(self, progress):
        self.left = 1 - progress

    def forward(self, scores, y):
        return self.left + 0 * scores.sum()


def test_every_pass_is_validated_by_the_loss_of_the_end():
    learned = hasher(objective=Falling(), max_iter=9, early_stopping=True, n_iter_no_change=2)
    history = learned.fit(X, Y).history_
    assert history["validation"] == [0.0] * 3
    assert history["objective"] == sorted(history["objective"])
    assert learned.objective.left == 1


def test_an_object_is_annealed_like_its_name():
    named = hasher(objective="hashnet").fit(X, Y)
    given = HashNet()
    assert_array_equal(hasher(objective=given).fit(X, Y).codes_, named.codes_)
    assert given.alpha_ == 1.0
    steady = hasher(objective=HashNet(alpha_end=None)).fit(X, Y)
    assert np.any(steady.decision_function(X) != named.decision_function(X))


@pytest.mark.parametrize(
    "module",
    [Features(), Whole, without_arguments, with_everything, lambda n_bits: Whole(64, n_bits)],
)
def test_modules(module):
    before = module.layer.weight.clone() if isinstance(module, Features) else None
    fitted = hasher(module=module, max_iter=10).fit(X[:400], Y[:400])
    assert fitted.score(X[400:], Y[400:]) > 0.3
    if before is not None:
        assert torch.equal(module.layer.weight, before)  # a parameter is left alone
        assert not torch.equal(fitted.network_.trunk.layer.weight, before)
        frozen = hasher(module=module, trunk_learning_rate=0, max_iter=2).fit(X, Y)
        assert torch.equal(frozen.network_.trunk.layer.weight, before)


def test_torch_goes_on_as_if_nothing_had_been_drawn():
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    hasher().fit(IMAGES[:50], Y[:50])
    assert torch.equal(torch.rand(3), expected)


class Nearest(RankingObjective):
    """An objective of a user: the share of relevant items in the nearest bin."""

    def tie(self, ties):
        first = (ties.before == 0).astype(ties.gain.dtype)
        return TieValues(ties.gain * first, first, None, None, None)


def test_objectives_of_users():
    fitted = hasher(objective=Nearest(), max_iter=10).fit(X[:400], Y[:400])
    assert fitted.score(X[400:], Y[400:]) > 0.3


@pytest.mark.parametrize("optimizer", ["adam", "sgd", torch.optim.RMSprop], ids=str)
def test_optimizers(optimizer):
    fitted = hasher(optimizer=optimizer, max_iter=10).fit(X[:400], Y[:400])
    assert fitted.score(X[400:], Y[400:]) > 0.6


@pytest.mark.parametrize(
    "affinity", [NeighborAffinity(10), EuclideanAffinity((20, 5), (1, 2))], ids=["nearest", "near"]
)
def test_relevance_of_distances(affinity):
    fitted = hasher(affinity=affinity, objective="ndcg", max_iter=10).fit(X, X[:, :40])
    codes = hasher(affinity=affinity, objective="ndcg", max_iter=1).fit(X, X[:, :40]).codes_
    assert not np.array_equal(fitted.codes_, codes)
    assert fitted.score(X, X[:, :40]) > 0.2


class Items(Dataset):
    """Rows with what a list holds beside them."""

    def __init__(self, labels):
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, number):
        return X[number].astype(np.float32), self.labels[number]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, "1"] * 10, "only numbers or only strings. Got objects of type int, str"),
        ([np.str_("a"), 1.0] * 10, "only numbers or only strings"),
        (["a", np.nan] * 10, "contains NaN, infinity or missing values"),
        (["a", None] * 10, "contains NaN, infinity or missing values"),
        ([torch.tensor(1), "1"] * 10, "only numbers or only strings"),
    ],
    ids=repr,
)
def test_labels_of_items_are_refused_as_those_of_lists(labels, message):
    for given in ((Items(labels),), (X[:20], labels)):
        with pytest.raises(ValueError, match=message):
            hasher().fit(*given)


@pytest.mark.parametrize(
    "of_items",
    [
        lambda y: [torch.tensor(v, dtype=torch.bfloat16) for v in y],
        lambda y: [torch.tensor(v, dtype=torch.int16) for v in y],
        lambda y: [np.float16(v) for v in y],
        lambda y: [torch.tensor([v]) for v in y],
        lambda y: [np.array(v) for v in y],
        list,
    ],
)
def test_labels_of_items_are_those_of_an_array(of_items):
    y = Y[:60]
    expected = hasher(max_iter=1).fit(X[:60].astype(np.float32), y)
    found = hasher(max_iter=1).fit(Items(of_items(y)))
    assert_array_equal(found.codes_, expected.codes_)
    assert found.score(Items(of_items(y))) == expected.score(X[:60].astype(np.float32), y)


@pytest.mark.parametrize("of_items", [lambda row: torch.from_numpy(row).bfloat16(), np.float32])
def test_label_sets_of_items_may_be_floats(of_items):
    y = np.eye(10)[Y[:60]]
    y[0] = 1  # one label in every row would be classes
    found = hasher(max_iter=1).fit(Items([of_items(row) for row in y]))
    assert isinstance(found.affinity_, SharedLabelAffinity)


@pytest.mark.parametrize("options", [{}, {"image_shape": (8, 8), "augment": "flip"}])
def test_the_default_dtype_of_torch_changes_nothing(options):
    expected = hasher(**options).fit(X, Y).codes_
    torch.set_default_dtype(torch.float64)
    try:
        found = hasher(**options).fit(X, Y).codes_
    finally:
        torch.set_default_dtype(torch.float32)
    assert_array_equal(found, expected)


def test_lines_say_the_measure(capsys):
    silent = hasher(max_iter=2).fit(X, Y)
    assert_array_equal(hasher(max_iter=2, verbose=1).fit(X, Y).codes_, silent.codes_)
    hasher(max_iter=2, verbose=1, early_stopping=True).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert ["ap of 500 training rows 0." in line for line in lines] == [True, True, False, False]
    assert ["validation (ap) 0." in line for line in lines] == [False, False, True, True]


def test_batches_of_many_classes_are_groups():
    assert hasher(max_iter=1).fit(X, Y).group_size_ is None
    assert hasher(max_iter=1).fit(X, np.arange(500) // 5).group_size_ == 4


def test_networks_without_weights_are_refused():
    with pytest.raises(ValueError, match="'meta'"):
        DeepHasher(nn.Linear(64, 16, device="meta"), 16).fit(X, Y)
    with pytest.raises(ValueError, match="'meta'"):
        TieAwareLoss()(torch.zeros(4, 3, device="meta"), Y[:4])
