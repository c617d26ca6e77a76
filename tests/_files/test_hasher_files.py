"""save_hasher and load_hasher: what was saved goes on as if nothing had happened, or is refused."""

import contextlib
import json
import os
import pickle
import random
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from sklearn_hashrank import (
    DispersionHasher,
    EuclideanAffinity,
    FastHasher,
    HammingNeighbors,
    HierarchicalAffinity,
    ITQHasher,
    LabelAffinity,
    LSHHasher,
    PrecomputedAffinity,
    RSHHasher,
    SharedLabelAffinity,
    TALRLinear,
    load_hasher,
    save_hasher,
)
from sklearn_hashrank._files.container import read_archive, write_archive
from sklearn_hashrank.base import LinearHasher
from sklearn_hashrank.metrics import make_retrieval_scorer
from sklearn_hashrank.objectives import DSH, AveragePrecision
from tests.instances import ENCODERS, HASHERS, needs_y

RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(60, 5)), np.arange(60) % 3
S = RNG.integers(0, 3, (60, 60))
TARGETS = {
    "integers": (y, "auto"),
    "strings": (np.array(["a", "bc", ""])[y], "auto"),
    "objects": (np.array(["a", "bc", ""], dtype=object)[y], "auto"),
    "paths": (np.stack([y // 2 + 2, y + 2], axis=1), HierarchicalAffinity()),
    "label sets": (sparse.csr_matrix(np.eye(3, dtype=int)[y]), SharedLabelAffinity()),
    "vectors": (X[:, :2], EuclideanAffinity(percentiles=[10, 1], levels=(1.0, np.float64(2)))),
    "thresholds": (X[:, :2], EuclideanAffinity(random_state=3).fit(X[:30, :2])),
    "matrix": (np.arange(60), PrecomputedAffinity(S)),
    "sparse matrix": (np.arange(60), PrecomputedAffinity(sparse.csr_array(S)).fit()),
    "nothing": (None, "auto"),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "hasher.npz"


def saved(path, hasher, types=(), **options):
    save_hasher(path, hasher, **options)
    return load_hasher(path, types=types)


def check_same(value, other, name=""):
    """Equal in all that it holds, types included."""
    assert type(value) is type(other), name
    if isinstance(value, np.ndarray):
        assert value.dtype == other.dtype
        assert_array_equal(value, other, name)
        if value.ndim > 1:
            assert value.flags.f_contiguous == other.flags.f_contiguous, name
        assert other.flags.writeable
    elif sparse.issparse(value):
        assert value.shape == other.shape
        for part in ("data", "indices", "indptr"):
            check_same(getattr(value, part), getattr(other, part), f"{name}.{part}")
    elif isinstance(value, (list, tuple)):
        assert len(value) == len(other), name
        for item, again in zip(value, other):
            check_same(item, again, name)
    elif isinstance(value, dict):
        assert list(value) == list(other), name
        for key, item in value.items():
            check_same(item, other[key], f"{name}.{key}")
    elif hasattr(value, "state_dict"):
        check_same(
            *({k: v.numpy() for k, v in each.state_dict().items()} for each in (value, other))
        )
    elif hasattr(value, "__dict__") and not callable(value):
        check_same(
            {key: vars(value)[key] for key in sorted(vars(value))},
            {key: vars(other)[key] for key in sorted(vars(other))},
            f"{name}.",
        )
    else:
        assert value == other or value != value, name


def check_hasher_but_objective(hasher, loaded):
    assert type(hasher.objective) is type(loaded.objective)
    check_same(vars(hasher.objective), vars(loaded.objective))
    for name in ("components_", "intercept_", "codes_", "y_", "history_"):
        check_same(getattr(hasher, name), getattr(loaded, name), name)


def check_hasher(hasher, loaded):
    assert repr(loaded) == repr(hasher)
    check_same(hasher, loaded)
    assert repr(clone(loaded)) == repr(clone(hasher))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("hasher", "target"),
    [
        pytest.param(hasher, target, id=f"{type(hasher).__name__}-{target}")
        for hasher in HASHERS
        for target in ("integers", "nothing")
        if target != "nothing" or not needs_y(hasher)
    ],
)
def test_a_loaded_hasher_goes_on(path, hasher, target):
    targets, _ = TARGETS[target]
    hasher = clone(hasher).set_params(n_bits=3).fit(X, targets)
    loaded = saved(path, hasher)
    check_hasher(hasher, loaded)
    for method in ("transform", "decision_function"):
        assert_array_equal(getattr(loaded, method)(X), getattr(hasher, method)(X))
    assert loaded.score(X, targets) == hasher.score(X, targets)
    if targets is not None:
        scorer = make_retrieval_scorer("tie_aware_ap", database="fit")
        assert scorer(loaded, X, targets) == scorer(hasher, X, targets)
    check_hasher(hasher, saved(path, loaded))  # with what score has set
    light = saved(path, hasher, training_rows=False)
    assert not hasattr(light, "codes_")
    assert not hasattr(light, "y_")
    assert light.score(X, targets) == hasher.score(X, targets)


@pytest.mark.parametrize(
    "hasher",
    [hasher for hasher in HASHERS if hasattr(hasher, "partial_fit")],
    ids=lambda hasher: type(hasher).__name__,
)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_learning_goes_on(path, hasher, make):
    hasher = clone(hasher).set_params(n_bits=3).partial_fit(make(X[:30]), y[:30])
    loaded = saved(path, hasher)
    assert vars(loaded).keys() == vars(hasher).keys()
    for rows in (slice(30, 45), slice(45, 60)):
        for learner in (hasher, loaded):
            learner.partial_fit(make(X[rows]), y[rows])
    assert_array_equal(loaded.components_, hasher.components_)
    assert_array_equal(loaded.intercept_, hasher.intercept_)


@pytest.mark.parametrize("warm_start", [False, True])
def test_fit_goes_on(path, warm_start):
    hasher = TALRLinear(3, max_iter=2, random_state=0, solver="sgd", warm_start=warm_start)
    loaded = saved(path, hasher.fit(X, y))
    assert loaded.batch_size_ == hasher.batch_size_
    check_same(hasher.history_, loaded.history_)
    for learner in (hasher, loaded):
        learner.fit(X, y).partial_fit(X, y)
    assert_array_equal(loaded.components_, hasher.components_)


@pytest.mark.parametrize(
    "hasher",
    [
        TALRLinear(
            3, objective=AveragePrecision(relaxation="exact", n_bins=3), max_iter=2, random_state=0
        ),
        DispersionHasher(3, objective=DSH(), max_iter=2, random_state=0),
    ],
    ids=lambda hasher: type(hasher.objective).__name__,
)
def test_objectives_of_the_package(path, hasher):
    hasher = hasher.fit(X, y)
    loaded = saved(path, hasher)
    check_hasher_but_objective(hasher, loaded)
    for learner in (hasher, loaded):
        learner.partial_fit(X, y)
    assert_array_equal(loaded.components_, hasher.components_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("target", TARGETS)
def test_targets_and_affinities(path, target):
    targets, affinity = TARGETS[target]
    hasher = RSHHasher(3, affinity=affinity, random_state=0).fit(X.astype(np.float32), targets)
    loaded = saved(path, hasher)
    check_hasher(hasher, loaded)
    assert loaded.score(X, targets) == hasher.score(X, targets)
    if hasher.affinity_ is affinity:  # fitted by the user: one object, still
        assert loaded.affinity_ is loaded.affinity
    hasher = LSHHasher(3, random_state=0).fit(X, targets)
    check_hasher(hasher, saved(path, hasher))


def test_names_of_features(path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcdä"))
    hasher = ITQHasher(3, random_state=0).fit(frame, y)
    loaded = saved(path, hasher.set_output(transform="pandas"))
    assert_array_equal(loaded.get_feature_names_out(), hasher.get_feature_names_out())
    assert isinstance(loaded.transform(frame), np.ndarray)  # set_output is not kept
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(frame[list("äabcd")])


def test_anybody_can_look_into_the_file(path):
    hasher = LSHHasher(3, random_state=0).fit(X, y)
    save_hasher(path, hasher)
    first = path.read_bytes()
    with np.load(path, allow_pickle=False) as file:
        assert_array_equal(file["components_"], hasher.components_)
        assert_array_equal(file["y_"], y)
        about = json.loads(file["about.json"])
    assert about["hasher"]["object"][0] == "sklearn_hashrank.LSHHasher"
    save_hasher(path, hasher)
    assert path.read_bytes() == first  # no time, no name of the machine
    assert len(os.listdir(path.parent)) == 1


class ParityAffinity(LabelAffinity):
    """Of a user, with a parameter."""

    def __init__(self, modulus=2):
        self.modulus = modulus

    def validate(self, y, name="y"):
        return super().validate(y, name) % self.modulus


class PlainObjective:
    """Of a user; not an estimator."""

    def __init__(self, weights):
        self.weights = weights

    def value_and_gradient(self, scores, level, levels):
        return float(scores.sum()), np.ones_like(scores)


class SumHasher(LinearHasher):
    """Of a user, with an object as parameter."""

    _not_stored = ("_made_anew",)

    def __init__(self, objective=None, output="bits"):
        self.objective = objective
        self.output = output

    def fit(self, X, y=None):
        X, y = self._validate_training_data(X, y)
        self._set_hyperplanes(np.ones((1, X.shape[1])), X.mean(axis=0), X.dtype)
        self._keep_database(X, y)
        self._made_anew = len
        return self


class MedianTransformer(TransformerMixin, BaseEstimator):
    """Of a user; derived from scikit-learn's classes alone."""

    def fit(self, X, y=None):
        self.medians_ = np.median(X, axis=0)
        return self

    def transform(self, X):
        return (self.medians_ < X).astype(np.uint8)


def test_types_of_users(path):
    hasher = RSHHasher(2, affinity=ParityAffinity(4), random_state=0).fit(X, y)
    save_hasher(path, hasher)
    loaded = load_hasher(path, types=[ParityAffinity])
    check_hasher(hasher, loaded)
    assert loaded.score(X, y) == hasher.score(X, y)
    for types in ([], [LabelAffinity], [SumHasher]):
        with pytest.raises(ValueError, match=r"\.ParityAffinity"):
            load_hasher(path, types=types)
    assert type(load_hasher(path, types=ParityAffinity).affinity_) is ParityAffinity
    with pytest.raises(ValueError, match="types .* 'ParityAffinity'"):
        load_hasher(path, types=["ParityAffinity"])
    moved = type("ParityAffinity", (ParityAffinity,), {})
    moved.__module__ = "elsewhere"
    assert type(load_hasher(path, types=[moved]).affinity) is moved
    assert type(load_hasher(path, types=[moved, ParityAffinity]).affinity) is ParityAffinity

    hasher = SumHasher(PlainObjective([1.5, {"a": np.arange(3), "b" * 70_000: np.zeros(())}])).fit(
        X
    )
    loaded = saved(path, hasher, types=[SumHasher, PlainObjective])
    del hasher._made_anew  # the class says that it is not stored
    check_same(hasher, loaded)
    with pytest.raises(ValueError, match=r"types=\[Plain"):
        load_hasher(path, types=[SumHasher])

    hasher = TALRLinear(3, objective=PlainObjective(1), max_iter=2, random_state=0).fit(X, y)
    loaded = saved(path, hasher, types=[PlainObjective])
    check_hasher_but_objective(hasher, loaded)
    for learner in (hasher, loaded):
        learner.partial_fit(X, y)
    assert_array_equal(loaded.components_, hasher.components_)

    hasher = MedianTransformer().fit(X)
    assert_array_equal(saved(path, hasher, [MedianTransformer]).transform(X), hasher.transform(X))


@pytest.mark.parametrize(
    ("hasher", "message"),
    [
        (LSHHasher(2, random_state=np.random.RandomState(0)), "random_state cannot be stored: it"),
        (SumHasher(objective=lambda x: x), r"objective cannot be stored: it holds the function"),
        (SumHasher(objective=[1, {"a": open}]), r"objective\[1\]\['a'\] cannot be stored"),
        (SumHasher(objective=PlainObjective(len)), r"objective.weights cannot be stored: it holds"),
        (SumHasher(objective=1j), "objective cannot be stored: it holds a builtins.complex"),
        (SumHasher(objective=np.array([object()])), "objective cannot be stored: it holds a buil"),
        (SumHasher(objective=np.array(["2020"], "M8[D]")), r"an array of dtype datetime64\[D\]"),
        (SumHasher(objective=PlainObjective), "the function or class PlainObjective"),
        (make_pipeline(PCA(2), LSHHasher(2)), "a single hasher. Got a Pipeline. Save its last ste"),
        (PCA(2), "a single hasher. Got a PCA."),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_cannot_be_saved_is_refused(path, hasher, message):
    with pytest.raises(ValueError, match=message):
        save_hasher(path, hasher.fit(X, y))
    assert not path.exists()


def test_what_is_no_fitted_hasher_is_refused(path):
    with pytest.raises(NotFittedError):
        save_hasher(path, LSHHasher())
    index = HammingNeighbors(n_bits=8).fit(np.zeros((3, 1), np.uint8))
    for other in (index, 3, None, LSHHasher):
        with pytest.raises(ValueError, match="single hasher"):
            save_hasher(path, other)
    with pytest.raises(ValueError, match=r"save_hasher\(path, hasher\)"):
        save_hasher(LSHHasher(2, random_state=0).fit(X, y), str(path))
    hasher = LSHHasher(2, random_state=0).fit(X, y)
    hasher.components_[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"components_ must be finite .*\(2, 5\)"):
        save_hasher(path, hasher)
    loop = [1]
    loop.append(loop)
    with pytest.raises(ValueError, match="too deeply"):
        save_hasher(path, SumHasher(objective=loop).fit(X))
    hasher = SumHasher().fit(X)
    hasher.transform = 3
    with pytest.raises(ValueError, match="transform cannot be stored"):
        save_hasher(path, hasher)
    assert not path.exists()


def refused(path):
    """The message of the ValueError, the only error there may be."""
    with pytest.raises(ValueError) as caught:
        load_hasher(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_files_of_others_are_refused(path, tmp_path):
    with pytest.raises(FileNotFoundError):
        load_hasher(path)
    with pytest.raises(IsADirectoryError):
        load_hasher(tmp_path)
    hasher = LSHHasher(2, random_state=0).fit(X, y)
    contents = [b"", b"PK", b"text", pickle.dumps(hasher), bytes(1000)]
    np.savez(tmp_path / "other.npz", a=X)
    hasher.encode_blocks(X, out=tmp_path / "codes.npy")
    contents += [(tmp_path / name).read_bytes() for name in ("other.npz", "codes.npy")]
    for content in contents:
        path.write_bytes(content)
        assert "is not a file that save_hasher wrote" in refused(path) or content == b"PK"


def test_every_byte_matters(path):
    save_hasher(path, LSHHasher(1, random_state=0).fit(X[:3, :1], y[:3]))
    whole = path.read_bytes()
    generator = random.Random(0)
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << generator.randrange(8)
        path.write_bytes(changed)
        in_the_mark = len(whole) - 64 <= place < len(whole) - 56
        assert ("truncated" if in_the_mark else "was changed after") in refused(path)
    for length in (1, 2, 30, 45, 46, 60, 500, len(whole) - 65, len(whole) - 64, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert "truncated" in refused(path)
    path.write_bytes(whole + b"x")
    assert "truncated" in refused(path)


@pytest.fixture
def parts(path):
    """What a file says, and its arrays, to be written with a right digest again."""
    hasher = RSHHasher(2, random_state=0, affinity=EuclideanAffinity()).partial_fit(X)
    save_hasher(path, hasher)
    return read_archive(path)


def test_crafted_values_are_refused(path, parts):
    """A right digest makes nothing true."""
    name, parameters, state = parts.about["hasher"]["object"]
    arrays = [(str(i), array) for i, array in enumerate(parts.arrays)]

    def write(**changes):
        changed = {"parameters": parameters, "state": state, "format": 2, "name": name} | changes
        tree = {"object": [changed["name"], changed["parameters"], changed["state"]]}
        write_archive(path, parts.about | {"format": changed["format"], "hasher": tree}, arrays)

    codes = len(arrays)
    arrays.append(("codes_", np.zeros((3, 1), np.uint8)))
    write()
    load_hasher(path)
    deep = {"list": []}
    for _ in range(200):
        deep = {"list": [deep]}
    for changes in (
        {"format": 1},
        {"name": "sklearn_hashrank.Nothing"},
        {"name": "os.system"},
        {"name": "sklearn_hashrank.LabelAffinity"},
        {"name": "sklearn_hashrank.Adam"},
        {"parameters": parameters | {"n_bits": "many"}},
        {"parameters": parameters | {"n_bits": -1}},
        {"parameters": parameters | {"no_such": 1}},
        {"parameters": parameters | {"affinity": {"object": ["sklearn_hashrank.SGD", {}, {}]}}},
        {"parameters": []},
        {"state": {}},
        {"state": state | {"__class__": 1}},
        {"state": state | {"transform": 1}},
        {"state": state | {"n_bits_": 7}},
        {"state": state | {"not a name": 1}},
        {"state": state | {"affinity_": 1}},
        {"state": state | {"affinity_": {"object": ["sklearn_hashrank.RSHHasher", {}, {}]}}},
        {"state": state | {"n_features_in_": 4}},
        {"state": state | {"components_": 1}},
        {"state": state | {"components_": {"array": 10**6}}},
        {"state": state | {"components_": {"array": -1}}},
        {"state": state | {"components_": state["intercept_"]}},
        {"state": state | {"intercept_": state["components_"]}},
        {"state": state | {"a_": {"again": 999}}},
        {"state": state | {"a_": {"pickle": "x"}}},
        {"state": state | {"a_": {"scalar": ["<f8", "00"]}}},
        {"state": state | {"a_": {"scalar": ["|O", "00" * 8]}}},
        {"state": state | {"a_": {"scalar": ["<f8", "zz"]}}},
        {"state": state | {"a_": {"scalar": ["<U1", "ffffffff"]}}},
        {"state": state | {"a_": {"scalar": ["|b1", "07"]}}},
        {"state": state | {"codes_": {"array": codes}, "y_": 5}},
        {"state": state | {"a_": {"strings": [[10**12], ["a"]]}}},
        {"state": state | {"a_": {"dtype": "O"}}},
        {"state": state | {"a_": {"float": "1e5"}}},
        {"state": state | {"a_": {"dict": [[{"list": []}, 1]]}}},
        {"state": state | {"a_": {"sparse": ["csr_matrix", [2, 2], *[state["intercept_"]] * 3]}}},
        {"state": state | {"a_": [1]}},
        {"state": state | {"a_": deep}},
    ):
        write(**changes)
        assert "does not hold a hasher that sklearn-hashrank" in refused(path), changes


def _misfits(array):
    """An array of other shapes, and of other numbers where those may be places in other arrays."""
    if array.ndim:
        yield array[:-1]
        yield array[:0]
        yield np.concatenate([array, array], axis=-1)
        yield array[..., None] if array.ndim == 1 else array.ravel()
    if array.dtype.kind in "iu":
        yield np.full_like(array, 100)


@pytest.mark.parametrize("hasher", ENCODERS, ids=repr)
def test_arrays_that_do_not_fit_together_are_refused(hasher, path, monkeypatch):
    """Whatever is loaded encodes, whichever array of the file was exchanged."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    hasher = clone(hasher).set_params(n_bits=2).fit(X, y)
    save_hasher(path, hasher)
    about, arrays = read_archive(path)
    n_refused = 0
    for place, whole in enumerate(arrays):
        for misfit in _misfits(whole):
            changed = [misfit if i == place else array for i, array in enumerate(arrays)]
            write_archive(path, about, [("a", np.ascontiguousarray(array)) for array in changed])
            try:
                loaded = load_hasher(path)
            except ValueError:
                n_refused += 1
                continue
            assert loaded.predict(X).shape == (len(X), loaded.n_bits_)
            assert loaded.training_database()[0].shape == (len(X), 1)
    assert n_refused > 3


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_hyperplanes_are_finite(path, parts, value):
    arrays = [array.copy() for array in parts.arrays]
    for array in arrays:
        if array.shape == (2, 5):
            array[1, 1] = value
    write_archive(path, parts.about, [("a", array) for array in arrays])
    assert "components_ must be finite" in refused(path)


@pytest.mark.parametrize("place", range(20))
def test_no_array_of_a_file_may_hold_nan(path, tmp_path, place):
    """Neither hyperplanes, nor levels, nor what learning goes on from."""
    hasher = TALRLinear(2, max_iter=1, batch_size=8, random_state=0).partial_fit(X, y)
    save_hasher(path, hasher)
    about, arrays = read_archive(path)
    if place < len(arrays) and arrays[place].dtype.kind == "f":
        arrays[place] = np.full_like(arrays[place], np.nan)
        write_archive(path, about, [("a", array) for array in arrays])
        refused(path)


def test_levels_of_an_affinity_must_ascend(path):
    save_hasher(path, RSHHasher(2, random_state=0).fit(X, y))
    about, arrays = read_archive(path)
    [place] = [i for i, array in enumerate(arrays) if array.tolist() == [0.0, 1.0]]
    for levels in ([1.0, 0.0], [-1.0, 0.0], [], [[0.0, 1.0]]):
        arrays[place] = np.array(levels)
        write_archive(path, about, [("a", array) for array in arrays])
        assert "levels_ must ascend" in refused(path)


@pytest.mark.parametrize("text", [b"null", b"1", b"[]", b'"a"'])
def test_a_description_is_a_dict(path, text, monkeypatch):
    monkeypatch.setattr(json, "dumps", lambda *_, **__: text.decode())
    write_archive(path, {}, [])
    assert "malformed, although its checksum is right" in refused(path)


def test_crafted_places_are_refused(path, parts, monkeypatch):
    """Absurd shapes take no memory, and nothing outside of the file is read."""
    real = json.dumps
    [first, *_] = parts.arrays
    for changes in (
        {"shape": [10**18]},
        {"shape": [2**40, 2**40]},
        {"shape": [-1]},
        {"shape": [1.5]},
        {"shape": "5"},
        {"shape": [1] * 100},
        {"start": -1},
        {"start": 10**30},
        {"start": 1.5},
        {"start": True},
        {"dtype": "|O"},
        {"dtype": "<f999999999"},
        {"dtype": "<V8"},
        {"dtype": "<U999999999"},
        {"dtype": 5},
        {"order": "K"},
        {"more": 1},
    ):

        def crafted(about, changes=changes, **options):
            [place] = about["arrays"]
            return real({**about, "arrays": [place | changes]}, **options)

        monkeypatch.setattr("sklearn_hashrank._files.container.json.dumps", crafted)
        write_archive(path, parts.about, [("a", first)])
        monkeypatch.undo()
        assert "is malformed, although its checksum is right" in refused(path), changes
    for text in ("[" * 100_000, "{", "\x00", '{"arrays": 3}', "[]", "9" * 10_000, '{"a": NaN}'):
        monkeypatch.setattr(
            "sklearn_hashrank._files.container.json.dumps", lambda *_, text=text, **__: text
        )
        write_archive(path, {}, [])
        monkeypatch.undo()
        refused(path)


def test_any_tree_is_loaded_or_refused(path, parts, monkeypatch):
    """Trees with a branch exchanged or replaced, under a right digest."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # which takes most of the time
    generator = random.Random(0)
    arrays = [(str(i), array) for i, array in enumerate(parts.arrays)]
    junk = [
        None,
        True,
        -1,
        10**30,
        1e300,
        "x",
        [],
        {},
        [[]],
        {"array": 0},
        {"again": 0},
        {"list": 1},
    ]

    def branches(tree):
        items = tree.items() if isinstance(tree, dict) else enumerate(tree)
        for key, branch in items:
            yield tree, key
            if isinstance(branch, (dict, list)):
                yield from branches(branch)

    n_loaded = 0
    for _ in range(300):
        about = json.loads(json.dumps(parts.about))
        places = list(branches(about))
        tree, key = generator.choice(places)
        other, other_key = generator.choice(places)
        tree[key] = generator.choice([*junk, other[other_key]])
        try:
            write_archive(path, about, arrays)
        except (ValueError, RecursionError):  # a branch that holds itself
            continue
        with contextlib.suppress(ValueError):
            load_hasher(path)
            n_loaded += 1
    assert 0 < n_loaded < 200


@pytest.mark.parametrize("name", ["n_features_in_", "n_bits_"])
def test_nothing_is_allocated_by_a_number_that_no_array_backs(path, name):
    """A file of some kilobytes takes no memory for the features it says there are."""
    save_hasher(path, FastHasher(2, n_estimators=2, random_state=0).fit(X, y))
    parts = read_archive(path)
    _, _, state = parts.about["hasher"]["object"]
    state[name] = 5 * 10**7
    arrays = [(str(i), array) for i, array in enumerate(parts.arrays)]
    write_archive(path, parts.about, arrays)
    tracemalloc.start()
    assert "does not hold a hasher" in refused(path)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()
