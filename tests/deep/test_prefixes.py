"""Networks and losses whose first bits are codes, and shorter hashers made of longer ones."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits
from torch import nn

from sklearn_hashrank import load_hasher, save_hasher
from sklearn_hashrank.affinity._labels import HierarchicalAffinity
from sklearn_hashrank.codes import truncate_codes
from sklearn_hashrank.deep import DeepHasher, PairwiseLoss, TieAwareLoss
from sklearn_hashrank.objectives import AveragePrecision, Centers, HashNet, Prefixes
from tests.deep.batches import (
    LOSSES,
    N_BITS,
    PATHS,
    make_loss,
    make_scores,
    value_and_gradient,
)

X, Y = load_digits(return_X_y=True)
X, Y = X[:400], Y[:400]
PREFIXES = (2, 5, N_BITS)


def hasher(**options):
    return DeepHasher(**{"n_bits": 13, "max_iter": 2, "random_state": 0, **options})


# Losses


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_with_prefixes_is_the_mean_of_losses(name):
    options = {"affinity": HierarchicalAffinity()}
    scores = make_scores()
    parts = []
    for n_bits in PREFIXES:
        first = scores.detach()[:, :n_bits].clone().requires_grad_()
        value, gradient = value_and_gradient(make_loss(name, **options), first, PATHS)
        parts.append((value, torch.nn.functional.pad(gradient, (0, N_BITS - n_bits))))
    value, gradient = value_and_gradient(
        make_loss(name, prefixes=PREFIXES[::-1], **options), scores, PATHS
    )
    expected, of_scores = (torch.stack(part).mean(dim=0) for part in zip(*parts))
    assert torch.allclose(value, expected, atol=1e-12)
    assert torch.allclose(gradient, of_scores, atol=1e-9 * float(of_scores.abs().max()))


def test_losses_with_prefixes_become_steeper():
    loss, scores = (
        TieAwareLoss(AveragePrecision(alpha=1.0, alpha_end=4.0), prefixes=(4, 8)),
        make_scores(),
    )
    steep = TieAwareLoss(AveragePrecision(alpha=4.0), prefixes=(4, 8))
    assert loss(scores, PATHS) != steep(scores, PATHS)
    loss.anneal(1.0)
    assert torch.isclose(loss(scores, PATHS), steep(scores, PATHS))


@pytest.mark.parametrize("prefixes", [(), (0, 4), (4, 4), 4, "48", (2.0,)])
def test_prefixes_of_losses_are_checked_at_once(prefixes):
    for loss in (TieAwareLoss, PairwiseLoss):
        with pytest.raises(ValueError, match="prefixes"):
            loss(prefixes=prefixes)


def test_prefixes_beyond_the_scores_are_refused():
    with pytest.raises(ValueError, match=r"from 1 to n_bits = 8. Got \(4, 9\)"):
        TieAwareLoss(prefixes=(4, 9))(make_scores(), PATHS)


# DeepHasher


class ToLabels(nn.Module):
    """A loss of a user, for scores of any width."""

    def forward(self, scores, y):
        return ((scores.mean(dim=1) - y) ** 2).mean()


@pytest.mark.parametrize(
    ("given", "wrapped"),
    [
        ("ap", Prefixes(AveragePrecision(), (3, 13))),
        (HashNet(), Prefixes(HashNet(), (3, 13))),
        (PairwiseLoss("dsh"), PairwiseLoss("dsh", prefixes=(3, 13))),
        (
            TieAwareLoss(AveragePrecision(alpha_end=4.0)),
            TieAwareLoss(AveragePrecision(alpha_end=4.0), prefixes=(3, 13)),
        ),
        (Centers(), Prefixes(Centers(), (3, 13))),
    ],
    ids=["name", "object", "pairs", "annealed", "centers"],
)
def test_prefixes_of_a_hasher_are_those_of_its_objective(given, wrapped):
    by_hasher = hasher(objective=given, prefixes=(3, 13)).fit(X, Y)
    by_objective = hasher(objective=wrapped).fit(X, Y)
    assert_array_equal(by_hasher.decision_function(X), by_objective.decision_function(X))
    plain = hasher(objective=given).fit(X, Y)
    assert not np.array_equal(by_hasher.decision_function(X), plain.decision_function(X))


def test_losses_of_users_are_called_with_every_prefix():
    widths = []

    class Noting(ToLabels):
        def forward(self, scores, y):
            widths.append(scores.shape[1])
            return super().forward(scores, y)

    hasher(objective=Noting(), prefixes=(3, 13), max_iter=1).fit(X, Y.astype(float))
    assert widths
    assert widths == [3, 13] * (len(widths) // 2)
    widths.clear()
    hasher(objective=Noting(), prefixes=(3, 13), max_iter=2, early_stopping=True).fit(X, Y)
    assert set(widths) == {3, 13}


@pytest.mark.learning
def test_first_bits_are_better_codes_than_those_of_a_plain_network():
    gains = []
    for seed in range(3):
        options = {"n_bits": 16, "max_iter": 15, "random_state": seed}
        plain, nested = (
            DeepHasher(prefixes=prefixes, **options).fit(X[:300], Y[:300])
            for prefixes in (None, (4, 16))
        )
        short = [each.truncate(4).score(X[300:], Y[300:]) for each in (nested, plain)]
        gains.append(short[0] - short[1])
    assert np.mean(gains) > 0.03


@pytest.mark.parametrize("rows", [X, X.reshape(-1, 8, 8)], ids=["rows", "images"])
def test_truncated_networks_give_the_first_bits(rows, tmp_path):
    fitted = hasher(prefixes=(4, 8, 13)).fit(rows, Y)
    codes, scores = fitted.predict(rows), fitted.decision_function(rows)
    for n_bits in (1, 8, 13):
        shorter = fitted.truncate(n_bits)
        assert shorter.n_bits_ == shorter.n_bits == n_bits
        assert shorter.prefixes == (tuple(n for n in (4, 8, 13) if n <= n_bits) or None)
        assert_array_equal(shorter.predict(rows), codes[:, :n_bits])
        assert_array_equal(shorter.decision_function(rows), scores[:, :n_bits])
        assert_array_equal(shorter.codes_, truncate_codes(fitted.codes_, n_bits))
        assert_array_equal(shorter.packed_codes(rows), shorter.codes_)
        assert len(shorter.get_feature_names_out()) == n_bits
        assert 0 < shorter.score(rows, Y) <= 1
        save_hasher(tmp_path / "hasher.npz", shorter)
        loaded = load_hasher(tmp_path / "hasher.npz")
        assert_array_equal(loaded.predict(rows), codes[:, :n_bits])
        assert_array_equal(loaded.truncate(1).predict(rows), codes[:, :1])
    assert_array_equal(fitted.predict(rows), codes)
    again = fitted.truncate(8).fit(rows, Y)
    assert again.network_(torch.zeros(1, *again.input_shape_)).shape == (1, 8)


def test_truncated_networks_do_not_go_on():
    shorter = hasher(warm_start=True).fit(X, Y).truncate(8)
    with pytest.raises(ValueError, match="13 bits.*n_bits=8"):
        shorter.fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prefixes": (4, 16)}, r"from 1 to n_bits = 13. Got \(4, 16\)"),
        ({"prefixes": 4}, "The 'prefixes' parameter of DeepHasher must be"),
        (
            {"prefixes": (4,), "objective": Prefixes(AveragePrecision(), (2, 13))},
            r"the objective has prefixes of its own, \(2, 13\), beside those of DeepHasher, \(4,\)",
        ),
        (
            {"prefixes": (4,), "objective": TieAwareLoss(prefixes=(2, 13))},
            "the objective has prefixes of its own",
        ),
    ],
)
def test_wrong_prefixes_are_refused_before_learning(options, message):
    with pytest.raises(ValueError, match=message):
        hasher(**options).fit(X, Y)
