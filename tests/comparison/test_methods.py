"""Every method that has a name works, whatever rows and relevance it is given, or says why not."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from sklearn_hashrank import (
    LabelAffinity,
    LSHHasher,
    NeighborAffinity,
    SharedLabelAffinity,
    load_hasher,
    save_hasher,
)
from sklearn_hashrank.comparison import compare, method_from_name
from sklearn_hashrank.comparison._method_table import METHODS
from sklearn_hashrank.model_selection import RandomRetrievalSplit
from tests.instances import METHODS_HERE

N_BITS = 5  # odd: no multiple of what a hash of wta, cmh or agh-2 has
N_ROWS = 260
FEWER = {  # of what takes time
    "classifier": "C=1.0",
    "fasthash": "n_estimators=3",
    "ksh": "n_anchors=60:max_iter=50",
    "lwh": "n_queries=60",
    "lwh-paper": "n_queries=60",
    "machash": "n_similar=15:n_dissimilar=30",
    "structhash": "n_queries=50:C=1.0",
    "structhash-trees": "n_estimators=3:n_queries=50",
    "talr-kernel": "n_anchors=50:max_iter=5",
}
QUICK = (
    {name: f"{name}:{fewer}" for name, fewer in FEWER.items()}
    | {
        name: f"{name}:max_iter=5"
        for name in METHODS_HERE
        if "max_iter" in METHODS[name].hasher.get_params() and METHODS[name].group == "minibatch"
    }
    | {name: f"{name}:max_iter=5" for name in ("mihash", "talr-ap", "talr-ndcg")}
)
LABELS_ONLY, PATHS_ONLY = {"classifier"}, {"hierarchical", "hierarchical-paper"}
METHODS_OF_BITS = [name for name in METHODS_HERE if name != "additive"]
CENTRES = {"centers", "deep-centers"} & set(METHODS_HERE)
DIRECTIONS_OF_FEATURES = {"sign", "pca", "pca-rr", "itq", "rsh-paper"}


@pytest.fixture(scope="module")
def rows():
    X, y = load_digits(return_X_y=True)
    return X[:N_ROWS], y[:N_ROWS]


def relevances(y):
    """Each form of relevance that methods learn from, and who refuses it by which words."""
    levels = np.stack([y // 5, y], axis=1) + 2  # 0 and 1 alone would be label sets
    sets = np.eye(10, dtype=int)[y]
    sets[:, 0] |= y > 7
    no_paths = dict.fromkeys(PATHS_ONLY, "needs superclasses: y as label paths")
    no_classes = dict.fromkeys(LABELS_ONLY, "learns from class labels")
    no_centres = dict.fromkeys(CENTRES, "learns from class labels or label sets")
    return {
        "classes": (y, no_paths),
        "sets": (sets, no_paths | no_classes),
        "paths": (levels, no_classes | no_centres),
        "nothing": (
            None,
            no_paths | no_centres | dict.fromkeys(LABELS_ONLY, "requires y to be passed"),
        ),
    }


@pytest.mark.parametrize("name", METHODS_HERE)
def test_a_class_of_hashers_is_a_method_with_its_defaults(name):
    kind = type(METHODS[name].hasher)
    assert repr(method_from_name(kind.__name__)) == repr(kind())


@pytest.mark.parametrize(
    ("written", "meant"),
    [("talrlinear", "TALRLinear"), ("ba", "BinaryAutoencoderHasher"), ("ITQ", "itq")],
)
def test_a_misspelled_method_is_recognised(written, meant):
    with pytest.raises(ValueError, match=f"'{written}'.*'{meant}'"):
        method_from_name(written)


def test_a_class_of_hashers_is_in_the_group_of_its_methods():
    X = np.random.default_rng(0).normal(size=(60, 8))
    found = compare(X, methods=["LSHHasher", "itq"], n_bits=[4], seeds=1)
    assert found.about["groups"] == {"LSHHasher": "independent", "itq": "unsupervised"}


def test_a_method_may_have_a_name_of_its_own():
    X = np.random.default_rng(0).normal(size=(60, 8))
    options = {"n_bits": [4], "seeds": 1}
    found = compare(X, methods={"ours": "itq:max_iter=3", "b": LSHHasher()}, **options)
    same = compare(X, methods=["itq:max_iter=3"], **options)
    assert [result.method for result in found.results] == ["ours", "b"]
    assert found.about["groups"] == {"ours": "unsupervised"}
    assert found.results[0].scores["ap"] == same.results[0].scores["ap"]


@pytest.mark.parametrize("name", METHODS_HERE)
def test_the_table_says_what_the_hasher_says(name):
    method, hasher = METHODS[name], METHODS[name].hasher
    assert hasher is not METHODS[name].hasher
    assert method.needs_y == hasher.__sklearn_tags__().target_tags.required
    parameters = hasher.get_params()
    for name, value in method.parameters.items():
        assert repr(parameters[name]) == repr(value)
        assert parameters[name] is not value or not hasattr(value, "get_params")


@pytest.mark.filterwarnings("ignore:skipped")
@pytest.mark.parametrize("kind", ["classes", "sets", "paths", "nothing"])
def test_every_method_is_compared_or_refused(rows, kind):
    X, y = rows
    y, refusals = relevances(y)[kind]
    refusals = refusals | {"additive": "'n_bytes'"}  # five bits are not a number of bytes
    numbers = {}
    # Labels do not know the form of the rows: sparse ones once for each method with labels.
    of_sparse = METHODS_HERE if kind in ("classes", "nothing") else ["lsh", *sorted(PATHS_ONLY)]
    for form, names in ((np.asarray, METHODS_HERE), (sparse.csr_matrix, of_sparse)):
        found = compare(
            form(X),
            y,
            methods=[QUICK.get(name, name) for name in names],
            n_bits=[N_BITS],
            seeds=1,
            protocol=RandomRetrievalSplit(n_queries=60, n_train=150),
            skip_unsupported=True,
        )
        said = {line.split("'")[1].partition(":")[0]: line for line in found.about["skipped"]}
        assert said.keys() == refusals.keys() & set(names)
        for name, line in said.items():
            assert refusals[name] in line
        for result in found.results:
            name = result.method.partition(":")[0]
            assert not result.error, name
            assert result.n_bits == N_BITS
            assert 0 < result.scores["ap"] <= 1
            numbers.setdefault(name, []).append(result.scores["ap"])
    assert sorted([*numbers, *refusals]) == sorted(METHODS_HERE)
    for name, of_forms in numbers.items():
        assert of_forms == pytest.approx(of_forms[:1] * len(of_forms), abs=0.03), name


def fitted(name, X, y, n_bits=N_BITS):
    """A hasher by name; those of superclasses get some."""
    hasher = method_from_name(QUICK.get(name, name)).set_params(n_bits=n_bits)
    if "random_state" in hasher.get_params():
        hasher.set_params(random_state=0)
    return hasher.fit(X, np.stack([y // 5, y], axis=1) + 2 if name in PATHS_ONLY else y)


@pytest.mark.parametrize("name", METHODS_OF_BITS)
def test_every_method_encodes_rows_it_has_not_seen(name, rows, tmp_path):
    X, y = rows
    hasher = fitted(name, X[:200], y[:200])
    codes = hasher.transform(X[200:])
    assert codes.shape == (N_ROWS - 200, N_BITS)
    assert len(np.unique(codes, axis=0)) > 1
    np.testing.assert_array_equal(fitted(name, X[:200], y[:200]).transform(X[200:]), codes)
    one_by_one = [hasher.decision_function(row) for row in np.split(X[200:230], 30)]
    together = hasher.decision_function(X[200:230])
    share = 1e-5 if together.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(
        np.concatenate(one_by_one), together, rtol=share, atol=share * np.abs(together).max()
    )
    save_hasher(tmp_path / "hasher.npz", hasher)
    loaded = load_hasher(tmp_path / "hasher.npz")
    np.testing.assert_array_equal(loaded.transform(X[200:]), codes)


@pytest.mark.parametrize("name", METHODS_OF_BITS)
def test_more_bits_than_features(name, rows):
    X, y = rows
    few, y = StandardScaler().fit_transform(X)[:200, 26:30], y[:200]
    if name in DIRECTIONS_OF_FEATURES:
        with pytest.raises(ValueError, match=r"n_bits.* n_features = 4"):
            fitted(name, few, y, n_bits=7)
    else:
        assert fitted(name, few, y, n_bits=7).transform(few).shape == (200, 7)


class TellsWhatItLearnsFrom(LSHHasher):
    """A hasher that learns from relevance, and remembers from which."""

    seen: ClassVar[list] = []

    def __init__(self, n_bits=8, *, affinity="auto", output="bits", random_state=None):
        super().__init__(n_bits, output=output, random_state=random_state)
        self.affinity = affinity

    def fit(self, X, y=None):
        self.seen.append(self.affinity)
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("has_y", "given", "wanted"),
    [
        (False, {}, "auto"),
        (False, {"affinity": NeighborAffinity(5)}, "auto"),
        (False, {"affinity": NeighborAffinity(5), "train_affinity": NeighborAffinity(7)}, 7),
        (True, {"affinity": LabelAffinity()}, LabelAffinity),
        (
            True,
            {"affinity": LabelAffinity(), "train_affinity": SharedLabelAffinity()},
            SharedLabelAffinity,
        ),
    ],
)
def test_what_is_judged_by_is_not_what_is_learned_from(digits, has_y, given, wanted):
    X, y = digits
    TellsWhatItLearnsFrom.seen.clear()
    compare(
        X[:200],
        y[:200] if has_y else None,
        methods={"it": TellsWhatItLearnsFrom()},
        n_bits=[8],
        seeds=1,
        protocol=RandomRetrievalSplit(n_queries=20),
        measures=["ap"],
        **given,
    )
    assert TellsWhatItLearnsFrom.seen
    for affinity in TellsWhatItLearnsFrom.seen:
        if isinstance(wanted, type):
            assert isinstance(affinity, wanted)
        else:
            assert getattr(affinity, "n_neighbors", affinity) == wanted


def test_a_name_of_an_objective_takes_no_parameters_of_the_one_it_replaces():
    with pytest.raises(ValueError, match="alpha of method .*objective="):
        method_from_name("talr-ap:objective=ndcg:alpha=3")
