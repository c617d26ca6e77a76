"""No label becomes another, whatever container it comes in."""

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from sklearn_hashrank import LSHHasher, RSHHasher, TALRLinear, retrieval_histogram
from sklearn_hashrank.affinity._auto import auto_affinity
from sklearn_hashrank.affinity._coercion import as_array
from sklearn_hashrank.affinity._euclidean import EuclideanAffinity
from sklearn_hashrank.affinity._labels import (
    HierarchicalAffinity,
    LabelAffinity,
    SharedLabelAffinity,
)
from sklearn_hashrank.affinity._neighbors import NeighborAffinity
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.metrics import tie_aware_average_precision_score
from sklearn_hashrank.model_selection import RetrievalSplit

MISSING = [
    ["a", np.nan, "b"],
    ("a", None, "b"),
    [["a", "b"], ["a", np.nan]],
    ["a", pd.NA, "b"],
    ["a", pd.NaT, "b"],
    np.array(["a", np.nan], dtype=object),
    np.array(["a", np.nan], dtype=np.dtypes.StringDType(na_object=np.nan)),
    pd.Series(["a", np.nan, "b"], dtype=object),
    pd.Series(["a", None, "b"], dtype="string"),
    pd.Series(["a", None, "b"], dtype="string[pyarrow]"),
    pd.Series(["a", None, "b"], dtype="category"),
    pd.Series([1, None, 2], dtype="category"),
    pd.Series([1, None, 2], dtype="Int64"),
    pd.Series([1, None, 2], dtype="int64[pyarrow]"),
    pd.DataFrame({"a": pd.Series(["a", None], dtype="string"), "b": [1, 2]}),
    pl.Series(["a", None, "b"]),
    pl.Series(["a", None, "b"], dtype=pl.Categorical),
    pl.Series([1, None, 2]),
]
MIXED = [
    [1, "1"],
    (1, "1"),
    [1.5, "1.5"],
    [True, "True"],
    [b"a", "a"],
    [["a", 1], ["a", 2]],
    [np.array(["a"]), np.array([1])],
    pd.Series([1, "1"], dtype=object),
    pl.Series(["1", 1], dtype=pl.Object),
]


@pytest.mark.parametrize("y", MISSING, ids=repr)
def test_a_missing_label_is_never_a_class(y):
    with pytest.raises(ValueError, match="^y contains NaN"):
        auto_affinity(y)
    codes = np.zeros((len(y), 1), dtype=int)
    with pytest.raises(ValueError, match="contains NaN"):
        tie_aware_average_precision_score(y, codes)
    X = np.arange(2.0 * len(y)).reshape(-1, 2)
    with pytest.raises(ValueError, match="contains NaN"):  # of numbers, in scikit-learn's words
        LSHHasher(2).fit(X, y)


@pytest.mark.parametrize("y", MIXED, ids=repr)
def test_numbers_and_text_never_become_one_class(y):
    for use in (
        auto_affinity,
        lambda y: tie_aware_average_precision_score(y, np.zeros((len(y), 1), dtype=int)),
        lambda y: LSHHasher(2).fit(np.arange(4.0).reshape(2, 2), y),
        lambda y: compare(np.arange(4.0).reshape(2, 2), y, methods=["lsh"]),
    ):
        with pytest.raises(ValueError, match="y must hold only numbers or only strings"):
            use(y)


@pytest.mark.parametrize(
    "y",
    [
        ["a", "b"],
        (np.str_("a"), "b"),
        np.array(["a", "b"], dtype=object),
        np.array(["a", "b"], dtype=np.dtypes.StringDType()),
        pd.Series(["a", "b"], dtype="string"),
        pd.Series(["a", "b"], dtype="category"),
        pl.Series(["a", "b"], dtype=pl.Categorical),
        [b"a", b"b"],
        [1, np.int64(2)],
        [1, True],
        pd.Series([1, 2], dtype="Int64"),
        pd.Series([1, 2], dtype="int64[pyarrow]"),
    ],
    ids=repr,
)
def test_labels_of_one_kind_are_accepted_in_any_container(y):
    assert as_array(y).tolist() == [getattr(value, "item", lambda v=value: v)() for value in y]
    assert LabelAffinity().fit(y).pairwise(y[:1], y)[0].tolist()[0] == 1


def test_floats_that_may_have_been_other_integers_are_refused():
    with pytest.raises(ValueError, match="beyond 2"):
        LabelAffinity().fit([2**53 + 1, 1.0])
    assert LabelAffinity().fit([2**53 - 1, 1.0]).pairwise([2**53 - 1], [2**53 - 1, 1]).sum() == 1
    for dtype, n_digits in ((np.float16, 11), (np.float32, 24)):
        with pytest.raises(ValueError, match=rf"2\*\*{n_digits}.* float"):
            LabelAffinity().fit(np.array([2**n_digits, 1], dtype))
        LabelAffinity().fit(np.array([2**n_digits - 1, 1], dtype))


@pytest.mark.parametrize("y", [["a", "a\0"], [b"a", b"a\0"], np.array(["a", "a\0"], dtype=object)])
def test_what_numpy_would_drop_from_a_text_is_refused(y):
    with pytest.raises(ValueError, match="NUL"):
        auto_affinity(y)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int8, np.uint64, bool, "O"]
)
@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, list, pd.DataFrame])
def test_only_zeros_and_ones_are_label_sets_in_any_type_of_number(dtype, container):
    y = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]]).astype(dtype)
    assert isinstance(auto_affinity(container(y)), SharedLabelAffinity)
    found = tie_aware_average_precision_score(container(y), np.eye(3, dtype=int), zero_division=0)
    expected = tie_aware_average_precision_score(
        y.astype(int), np.eye(3, dtype=int), affinity=SharedLabelAffinity(), zero_division=0
    )
    assert found == expected


@given(st.data(), st.sampled_from([0.5, -1.0, 2.0, 1 + 1e-7]))
def test_one_other_value_makes_vectors_or_paths(data, other):
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(2, 4)))
    y = data.draw(hnp.arrays(np.float64, shape, elements=st.sampled_from([0.0, 1.0])))
    assert isinstance(auto_affinity(y), SharedLabelAffinity)
    y[data.draw(st.integers(0, shape[0] - 1)), data.draw(st.integers(0, shape[1] - 1))] = other
    assume(not np.isin(y, (-1, 1)).all())  # signs of codes, which are refused
    assert isinstance(auto_affinity(y), EuclideanAffinity)
    if other in (-1.0, 2.0):
        assert isinstance(auto_affinity(y.astype(int)), HierarchicalAffinity)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_missing_makes_no_label_set(value):
    with pytest.raises(ValueError, match="contains NaN"):
        auto_affinity([[0.0, 1.0], [value, 1.0]])


VECTORS = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.5], [2.0, 1.0]])


@pytest.mark.parametrize("in_chunks", [False, True])
def test_blocks_of_zeros_and_ones_do_not_make_label_sets_of_vectors(in_chunks):
    """Not where they come first, nor where they come last: such a database is refused."""
    codes = np.eye(4, dtype=np.uint8)
    for y in (VECTORS, VECTORS[::-1], VECTORS * 2 // 1):
        if in_chunks:
            database = da.from_array(codes, chunks=(2, -1)), da.from_array(y, chunks=(2, -1))
        else:
            database = ((codes[i : i + 2], y[i : i + 2]) for i in (0, 2)), None
        with pytest.raises(ValueError, match="EuclideanAffinity"):
            retrieval_histogram(codes, database[0], y, database[1])


def test_what_the_first_block_was_holds_for_further_blocks():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 5)), (rng.random((80, 3)) < 0.4).astype(np.float32)
    for hasher in (TALRLinear(4, random_state=0), RSHHasher(4, random_state=0)):
        hasher.partial_fit(X[:40], y[:40])
        assert isinstance(hasher.affinity_, SharedLabelAffinity)
        with pytest.raises(ValueError, match=r"indicator of 0 and 1.*EuclideanAffinity\(\)"):
            hasher.partial_fit(X[40:], y[40:] + 0.5)
        hasher.fit(X, y + 0.5 * (np.arange(80)[:, None] > 70))
        assert isinstance(hasher.affinity_, EuclideanAffinity)


def test_training_rows_of_zeros_and_ones_do_not_decide_for_all_rows():
    """All rows of a comparison together say what `y` is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (rng.random((60, 2)) < 0.5).astype(float)
    y[40:] = rng.random((20, 2))
    split = RetrievalSplit(np.arange(30), np.arange(30, 45), np.arange(45, 60))
    found = compare(X, y, methods=["rsh"], n_bits=[4], seeds=1, protocol=split)
    assert not found.failures
    assert found.about["data"]["relevance"].startswith("y: vectors of 2 numbers")
    assert "EuclideanAffinity" in found.about["methods"]["rsh"]


def test_hashers_decide_themselves_where_training_rows_look_like_all_rows():
    """So an objective knows that the affinity is a guess, and may refuse it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), (rng.random((60, 3)) < 0.5).astype(float)
    split = RetrievalSplit(np.arange(30), np.arange(30, 45), np.arange(45, 60))
    methods = ["rsh", "hierarchical"]
    asked = {"methods": methods, "n_bits": [4], "seeds": 1, "protocol": split}
    with pytest.warns(UserWarning, match="skipped: 'hierarchical'"):
        found = compare(X, y, **asked, skip_unsupported=True)
    assert found.about["methods"]["rsh"] == "RSHHasher()"
    [skipped] = found.about["skipped"]
    assert "needs superclasses" in skipped


TEXT = np.array(list("abcabc"), dtype=object)
SPREAD = np.random.default_rng(0).normal(size=(30, 4))
SPREAD /= np.abs(SPREAD).max()
SCALES = [1e-320, 1e-300, 1e300, 4e307, 1.5e308]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "affinity",
    [
        EuclideanAffinity((50, 20), (1, 2)),
        NeighborAffinity(3),
        NeighborAffinity(3, metric="euclidean"),
        NeighborAffinity(3, metric="inner_product"),
    ],
    ids=repr,
)
def test_distances_of_numbers_as_large_or_small_as_floats_are(affinity, form, scale):
    exact = np.round(SPREAD * 64) / 64  # of which rounding near 0 leaves nothing out
    scale = 2.0 ** np.floor(np.log2(scale))
    expected = affinity.fit(exact).pairwise(exact, exact)
    rows = form(exact * scale)
    np.testing.assert_array_equal(affinity.fit(rows).pairwise(rows, rows), expected)


def test_distances_beyond_floats_have_an_order():
    y = np.array([[1.5e308], [-1.5e308], [1e308], [0.0]])
    relevance = EuclideanAffinity((50, 20), (1, 2)).fit(y).pairwise(y[:1], y)
    np.testing.assert_array_equal(relevance, [[2, 0, 2, 1]])


@pytest.mark.parametrize("y", [TEXT, None])
@pytest.mark.parametrize("chunks", [(0, 2, 4), (2, 0, 4), (2, 4, 0)])
def test_a_chunk_of_objects_may_be_empty(y, chunks):
    y = np.stack([TEXT, TEXT[::-1]], axis=1) if y is None else y
    affinity = HierarchicalAffinity().fit(y) if y.ndim == 2 else "auto"
    codes = np.eye(6, dtype=np.uint8)
    of_y = (chunks,) if y.ndim == 1 else (chunks, (2,))
    in_chunks = da.from_array(codes, (chunks, (6,))), da.from_array(y, of_y)
    np.testing.assert_array_equal(
        retrieval_histogram(codes, in_chunks[0], y, in_chunks[1], affinity=affinity).counts,
        retrieval_histogram(codes, codes, y, y, affinity=affinity).counts,
    )
