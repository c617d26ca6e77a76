"""What a file restores encodes as what was stored did, or is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from sklearn_hashrank import (
    ITQHasher,
    LabelAffinity,
    RSHHasher,
    load_hasher,
    save_hasher,
)
from sklearn_hashrank._files.container import read_archive, write_archive
from sklearn_hashrank._files.hashers.probes import check_probes, take_probes
from sklearn_hashrank.base import BaseHasher, LinearHasher

RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(60, 5)), np.arange(60) % 3
OTHER = "encodes otherwise than the hasher that was stored"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "hasher.npz"


def changed(path, change):
    """The file with other scores of its probe rows."""
    about, arrays = read_archive(path)
    place = about["probes"]["scores"]["array"]
    arrays[place] = change(arrays[place].copy())
    write_archive(path, about, [("a", array) for array in arrays])
    return path


class Own(ITQHasher):
    """Of a user; only such hashers are compared."""


def test_hashers_of_the_package_need_no_probes(path):
    save_hasher(path, ITQHasher(3, random_state=0).fit(X))
    assert "probes" not in read_archive(path).about


def test_probe_rows_of_several_sizes(path):
    hasher = Own(3, random_state=0).fit(X)
    probes = take_probes(hasher)
    assert probes.form == "numbers"
    assert all(len(np.unique(column)) == len(column) for column in probes.scores.T)
    check_probes(hasher, probes)
    save_hasher(path, hasher)
    with pytest.raises(ValueError, match=OTHER):
        load_hasher(changed(path, lambda scores: -scores), types=Own)


@pytest.mark.parametrize("n_other", [1, 24])
def test_one_other_score_is_enough(path, n_other):
    save_hasher(path, Own(3, random_state=0).fit(X))

    def change(scores):
        scores.ravel()[:n_other] *= 1.001
        return scores

    with pytest.raises(ValueError, match=f"{n_other} of 24 scores"):
        load_hasher(changed(path, change), types=Own)


def test_rounding_is_allowed(path):
    """As other processors round, and a few thousand times more."""
    hasher = Own(3, random_state=0).fit(X)
    save_hasher(path, hasher)
    noise = 1 + 1e-9 * RNG.normal(size=(8, 3))
    loaded = load_hasher(changed(path, lambda scores: scores * noise), types=Own)
    np.testing.assert_array_equal(loaded.transform(X), hasher.transform(X))
    probes = take_probes(hasher)
    coarse = probes.scores.astype(np.float32) * np.float32(1.001)
    check_probes(hasher, probes._replace(scores=coarse))
    with pytest.raises(ValueError, match=OTHER):
        check_probes(hasher, probes._replace(scores=coarse * np.float32(1.1)))


@pytest.mark.parametrize(
    "changes",
    [
        {"form": "others"},
        {"method": "fit"},
        {"method": "score_samples"},
        {"n_features": 10**9},
        {"n_features": "5"},
        {"scores": {"list": []}},
        {"more": 1},
    ],
    ids=str,
)
def test_crafted_probes_are_refused(changes, path):
    save_hasher(path, Own(3, random_state=0).fit(X))
    about, arrays = read_archive(path)
    about["probes"] |= changes
    write_archive(path, about, [("a", array) for array in arrays])
    with pytest.raises(ValueError, match="does not hold a hasher that"):
        load_hasher(path, types=Own)


class Outside(LinearHasher):
    """Of a user; what it learns lies in no attribute."""

    kept: dict = {}

    def __init__(self, output="bits"):
        self.output = output

    def fit(self, X, y=None):
        X, y = self._validate_training_data(X, y)
        self._set_hyperplanes(np.eye(X.shape[1]), X.mean(axis=0), X.dtype)
        self.kept[id(self)] = 7.0
        self._keep_database(X, y)
        return self

    def _project(self, X):
        return super()._project(X) + self.kept.get(id(self), 0.0)


def test_what_is_not_in_the_file_is_noticed_when_it_is_written(path):
    with pytest.raises(ValueError, match=rf"this Outside cannot be stored: it {OTHER}.*state_dict"):
        save_hasher(path, Outside().fit(X))
    assert not path.exists()


class Median(TransformerMixin, BaseEstimator):
    """Of a user; does not say how many features it takes, and gives codes alone."""

    factor = 1

    def fit(self, X, y=None):
        self.medians_ = np.median(X, axis=0)
        return self

    def transform(self, X):
        return (self.factor * self.medians_ < X).astype(np.uint8)


def test_a_class_that_has_changed_is_another_one(path):
    save_hasher(path, Median().fit(X + 3))
    load_hasher(path, types=[Median])
    later = type("Median", (Median,), {"factor": -1})
    with pytest.raises(ValueError, match="codes of its probe rows"):
        load_hasher(path, types=[later])


class OneForm(BaseHasher):
    """Of a user; takes rows of one form only."""

    n_bits_ = 1

    def __init__(self, form="positive", output="bits"):
        self.form = form
        self.output = output

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def __sklearn_is_fitted__(self):
        return hasattr(self, "n_features_in_")

    def decision_function(self, X):
        takes = {
            "positive": lambda: (X > 0).all(),
            "counts": lambda: (np.floor(X) == X).all() and X.max() > 0,
            "sparse": lambda: sparse.issparse(X),
            "zeros": lambda: not X.any(),
            "nothing": lambda: False,
        }
        if not takes[self.form]():
            raise KeyError(self.form)
        return np.asarray(X.sum(axis=1), dtype=float).reshape(-1, 1)

    _project = decision_function


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("positive", "positive numbers"),
        ("counts", "counts"),
        ("sparse", "sparse counts"),
        ("zeros", "zeros"),
        ("nothing", None),
    ],
)
def test_rows_are_of_a_form_that_the_hasher_takes(form, expected, path):
    hasher = OneForm(form).fit(X)
    probes = take_probes(hasher)
    assert (probes.form if probes else None) == expected
    save_hasher(path, hasher)
    assert load_hasher(path, types=[OneForm]).form == form


class Slotted(LabelAffinity):
    """Of a user; one attribute has a slot."""

    __slots__ = ("modulus_",)

    def validate(self, y, name="y"):
        self.modulus_ = 2
        return super().validate(y, name) % self.modulus_


class Listed(LabelAffinity, list):
    """Of a user; its items are in no attribute."""

    def __init__(self):
        pass


def test_what_has_no_attribute_is_refused(path):
    hasher = RSHHasher(2, affinity=Slotted(), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="affinity_ .* modulus_ of Slotted"):
        save_hasher(path, hasher)
    hasher = RSHHasher(2, affinity=Listed(), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="affinity .* list"):
        save_hasher(path, hasher)


def _threshold(value):
    def objective(scores):
        return scores > value

    return objective


class Functions(OneForm):
    """Of a user; takes functions, which the user passes again."""

    _passed_again = ("first", "second")

    def __init__(self, first=None, second=None, form="positive", output="bits"):
        self.first = first
        self.second = second
        super().__init__(form, output)


def test_a_name_stands_for_one_thing(path):
    first, second = _threshold(1), _threshold(2)
    save_hasher(path, Functions(first, first).fit(X))
    with pytest.raises(ValueError, match="second cannot be stored"):
        save_hasher(path, Functions(first, second).fit(X))
