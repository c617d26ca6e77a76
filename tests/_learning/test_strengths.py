"""Weight decay and dropout by held-out rows: what is held out, what is taken, and what is kept."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sklearn_hashrank import (
    DispersionHasher,
    LabelAffinity,
    TALRKernel,
    TALRLinear,
    load_hasher,
    save_hasher,
)
from sklearn_hashrank._learning.pair_relevance import PairRelevance
from sklearn_hashrank._learning.regularization import Strengths, choose_strengths, held_out_folds

X, Y = (rows[:90] for rows in load_digits(return_X_y=True))
SMALL = {"n_bits": 4, "max_iter": 3, "random_state": 0}
SETS = np.eye(10, dtype=int)[Y]


def test_folds_hold_each_row_out_once_and_each_class_in_equal_shares():
    y = np.repeat(np.arange(4), 9)
    relevance = PairRelevance(LabelAffinity().fit(y), y)
    rows = np.arange(0, 36)
    held_out = []
    for train, validation in held_out_folds(relevance, rows, np.random.RandomState(0)):
        assert sorted([*train, *validation]) == rows.tolist()
        assert np.bincount(y[validation]).tolist() == [3, 3, 3, 3]
        held_out += validation.tolist()
    assert sorted(held_out) == rows.tolist()
    with pytest.raises(ValueError, match="at least 6 rows. Got n_samples = 5"):
        next(held_out_folds(relevance, rows[:5], np.random.RandomState(0)))


def scores_around(weight_decay, dropout, noise=0.1):
    """Scores that are best at these values, and differ between the folds."""

    def score(tried):
        loss = abs(tried.weight_decay - weight_decay) + abs(tried.dropout - dropout)
        return np.array([-1.0, 0.0, 1.0]) * noise - loss

    return score


def test_what_held_out_rows_gain_by_is_taken():
    start = Strengths(0.05, 0.1)
    chosen, tried = choose_strengths(start, ["weight_decay", "dropout"], scores_around(0.15, 0.3))
    assert chosen == Strengths(0.15, 0.3)
    pairs = list(zip(tried["weight_decay"], tried["dropout"], strict=True))
    assert pairs[0] == start
    assert len(pairs) == len(set(pairs)) == len(tried["mean"]) == len(tried["spread"])
    assert tried["spread"] == pytest.approx([0.1] * len(pairs))
    assert choose_strengths(start, ["dropout"], lambda _: [0.5, 0.5])[0] == start
    chosen, tried = choose_strengths(start, ["weight_decay"], scores_around(0.15, 0.3))
    assert chosen == Strengths(0.15, 0.1)
    assert set(tried["dropout"]) == {0.1}


@pytest.mark.parametrize(
    ("hasher", "y"),
    [
        (TALRLinear(weight_decay="cv", dropout="cv", **SMALL), Y),
        (TALRLinear(weight_decay="cv", **SMALL), SETS),
        (TALRLinear(dropout="cv", **SMALL), None),
        (TALRLinear(weight_decay="cv", early_stopping=True, **SMALL), Y),
        (TALRKernel(weight_decay="cv", dropout="cv", n_anchors=30, **SMALL), Y),
        (DispersionHasher(weight_decay="cv", **SMALL), Y),
    ],
    ids=["classes", "sets", "none", "stopping", "kernel", "dispersion"],
)
def test_the_result_is_that_of_a_fit_with_the_chosen_values(hasher, y, tmp_path):
    hasher.fit(X, y)
    wanted = {name for name in ("weight_decay", "dropout") if hasher.get_params().get(name) == "cv"}
    chosen = {name: getattr(hasher, f"{name}_") for name in wanted}
    again = type(hasher)(**{**hasher.get_params(deep=False), **chosen}).fit(X, y)
    np.testing.assert_array_equal(hasher.codes_, again.codes_)
    assert not hasattr(again, "cv_results_")
    results = hasher.cv_results_
    for name, value in chosen.items():
        assert getattr(again, f"{name}_") == value
        assert value in results[name]
    repeated = type(hasher)(**hasher.get_params(deep=False)).fit(X, y)
    assert repeated.cv_results_ == results
    save_hasher(tmp_path / "h.npz", hasher)
    assert load_hasher(tmp_path / "h.npz").cv_results_ == results


def test_blocks_and_few_rows_are_refused():
    for option in ("weight_decay", "dropout"):
        with pytest.raises(ValueError, match='"cv" holds rows out, and needs fit'):
            TALRLinear(4, **{option: "cv"}).partial_fit(X, Y)
    with pytest.raises(ValueError, match='"cv" holds a third of the rows out'):
        TALRLinear(4, weight_decay="cv").fit(X[:4], Y[:4] % 2)
    hasher = TALRLinear(4, random_state=0).partial_fit(X, Y)
    assert hasher.weight_decay_ == 0.05
    assert hasher.dropout_ == 0


def test_progress_is_told(capsys):
    TALRLinear(weight_decay="cv", verbose=1, **SMALL).fit(X, Y)
    assert "[TALRLinear] held out with weight_decay=0.4, dropout=" in capsys.readouterr().out
