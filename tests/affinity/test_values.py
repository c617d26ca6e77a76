"""No label becomes another, whatever container it comes in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sklearn_hashrank import LSHHasher
from sklearn_hashrank.affinity import LabelAffinity, as_array, auto_affinity
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.metrics import tie_aware_average_precision_score

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
    with pytest.raises(ValueError, match=r"^y contains NaN, infinity or missing values"):
        auto_affinity(y)
    codes = np.zeros((len(y), 1), dtype=int)
    with pytest.raises(ValueError, match="contains NaN, infinity or missing values"):
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
        with pytest.raises(ValueError, match="y must hold only numbers or only strings. Got objec"):
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
    with pytest.raises(ValueError, match="floats beyond 2"):
        LabelAffinity().fit([2**53 + 1, 1.0])
    assert LabelAffinity().fit([2**53 - 1, 1.0]).pairwise([2**53 - 1], [2**53 - 1, 1]).sum() == 1


@pytest.mark.parametrize("y", [["a", "a\0"], [b"a", b"a\0"], np.array(["a", "a\0"], dtype=object)])
def test_what_numpy_would_drop_from_a_text_is_refused(y):
    with pytest.raises(ValueError, match="ends in a NUL character"):
        auto_affinity(y)
