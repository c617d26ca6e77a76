"""How `y` becomes rows that can be compared, whatever container it comes in.

:func:`as_array` is the only place where lists, tables and tensors become arrays, so that no label
becomes another. The other functions refine its result for one kind of `y` each: labels, label
paths, label sets and vectors.
"""

import reprlib
from numbers import Integral, Real

import numpy as np
from scipy import sparse

from .._features.block_rows import is_dask_array
from .._features.tensors import as_numpy, is_tensor

_SLICE_BYTES = 1 << 24  # 16 MB: checks of large arrays need no second array of their size


def as_array(y, name="y"):
    """Return rows of `y` as an array in which no value has become another.

    numpy makes text of a list of numbers and text, missing values included, so that ``1`` and
    ``"1"`` become one class. This is the one place where lists, tuples, tables and tensors become
    arrays.
    """
    if sparse.issparse(y):
        if y.ndim != 2:
            raise ValueError(
                f"{name} is a sparse array of shape {y.shape}. Pass labels as {name}.toarray(), or "
                "label sets as a sparse array of shape (n, n_labels)."
            )
        return y
    if not isinstance(y, np.ndarray) and is_dask_array(y):
        return y
    if isinstance(y, (list, tuple)) and any(map(is_tensor, y)):
        y = [as_numpy(value, name) if is_tensor(value) else value for value in y]
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        raise ValueError(f"{name} is masked in places; every row needs a value.")
    array = _numpy_rows(y, name)
    if array.dtype.kind in "OT":  # objects, and numpy's text of any length
        return _narrow(array.astype(object), name)
    if array.dtype.kind in "US" and not isinstance(y, np.ndarray):
        _narrow(np.asarray(y, dtype=object), name)  # what it was before numpy made text of it
    return array


def _numpy_rows(y, name):
    """As numpy has it; lists whose rows differ in length are objects, which `_narrow` explains."""
    try:
        return as_numpy(y, name)
    except ValueError:
        if not isinstance(y, (list, tuple)):
            raise
        rows = np.empty(len(y), dtype=object)
        for i, row in enumerate(y):
            rows[i] = row
        return rows


def as_rows(y, name):
    """Rows of y as an array of numbers or strings without missing values."""
    y = y.toarray() if sparse.issparse(y) else y
    if type(y) is not np.ndarray or y.dtype.kind not in "buif":  # in which nothing can be lost
        y = as_array(y, name)
    if y.ndim == 0:
        raise ValueError(f"{name} must have one row per item. Got {y!r} instead.")
    if y.dtype.kind not in "buifUSO":
        raise ValueError(f"{name} must hold numbers or strings. Got dtype {y.dtype}.")
    if y.dtype.kind == "f" and not all(np.isfinite(part).all() for part in slices(y)):
        raise ValueError(
            f"{name} contains NaN, infinity or missing values; every row needs a value."
        )
    return y


def slices(y):
    """Consecutive rows of y, few enough for temporary arrays of their size."""
    row_bytes = max(1, y.dtype.itemsize * int(np.prod(y.shape[1:])))
    step = max(1, _SLICE_BYTES // row_bytes)
    return (y[start : start + step] for start in range(0, y.shape[0], step))


def check_width(y, width, name, what):
    """Refuse rows of another width than the affinity was fitted with."""
    if y.shape[1] != width:
        raise ValueError(f"{name} has {y.shape[1]} {what}; this affinity was fitted with {width}.")


def as_labels(y, name):
    """Labels as int64 or strings, so that equality means the same for every pair of arrays."""
    y = as_rows(y, name)
    if y.dtype.kind == "f":
        if np.any(y != np.floor(y)):
            raise ValueError(
                f"{name} holds non-integral numbers such as {y[y != np.floor(y)][0]}, which are "
                "no class labels. Relevance by distance between targets is what EuclideanAffinity "
                "is for: affinity=EuclideanAffinity()."
            )
        n_digits = np.finfo(y.dtype).nmant + 1
        if np.any(np.abs(y) >= np.float64(2**n_digits)):
            raise ValueError(
                f"{name} holds floats beyond 2**{n_digits}, of which {y.dtype} does not tell "
                "neighboring labels apart. Pass integers or strings."
            )
    if y.dtype.kind == "u" and y.size and y.max() > np.iinfo(np.int64).max:
        raise ValueError(
            f"{name} holds unsigned labels beyond 2**63 - 1, such as {y.max()}. Pass them as "
            "strings."
        )
    return y if y.dtype.kind in "USO" else y.astype(np.int64, copy=False)


def as_label_matrix(y, name):
    """Label paths, (n, depth)."""
    y = as_labels(y, name)
    if y.ndim != 2 or y.shape[1] == 0:
        raise ValueError(f"{name} must hold one label path per row, (n, depth). Got {y.shape}.")
    return y


def as_indicator(y, name):
    """A multilabel indicator, dense or CSR; its values are checked by `packed_bits`."""
    y = y.tocsr() if sparse.issparse(y) else as_rows(y, name)
    if y.ndim != 2 or y.shape[1] == 0:
        raise ValueError(f"{name} must be a multilabel indicator, (n, n_labels). Got {y.shape}.")
    if y.dtype.kind not in "buif":
        raise ValueError(f"{name} must be a multilabel indicator of 0 and 1. Got {y.dtype}.")
    return y


def are_one_hot(indicator):
    """Whether there are rows, and each has one 1 and otherwise zeros."""
    return indicator.shape[0] > 0 and all(
        (_n_labels(part) == 1).all() for part in slices(indicator)
    )


def _n_labels(rows):
    """Count the labels of rows; -1 where a value is neither 0 nor 1."""
    rows = rows.toarray() if sparse.issparse(rows) else rows
    is_binary = ((rows == 0) | (rows == 1)).all(axis=1)
    return np.where(is_binary, (rows != 0).sum(axis=1), -1)


def as_classes(indicator, name):
    """Return the column of the only label of each row, (n,) int64."""
    classes = [np.zeros(0, dtype=np.int64)]
    for part in slices(indicator):
        part = part.toarray() if sparse.issparse(part) else part
        is_wrong = _n_labels(part) != 1
        if is_wrong.any():
            raise ValueError(
                f"{name} must be an indicator of 0 and 1 with exactly one label in every row, as "
                "were the rows that LabelAffinity was fitted on. For label sets pass "
                f"affinity=SharedLabelAffinity(). Got {reprlib.repr(part[is_wrong][0].tolist())}."
            )
        classes.append(part.argmax(axis=1))
    return np.concatenate(classes)


def packed_bits(indicator, name):
    """Label sets packed into bytes, slice by slice."""
    for part in slices(indicator):
        part = part.toarray() if sparse.issparse(part) else part
        bits = part != 0
        if not np.array_equal(bits, part):
            raise ValueError(
                f"{name} must be a multilabel indicator of 0 and 1. Got other values. Rows of "
                "which only some hold nothing else need an explicit affinity: "
                "HierarchicalAffinity() for label paths, EuclideanAffinity() for vectors."
            )
        yield np.packbits(bits, axis=1)


def as_vectors(y, name):
    """Finite numeric vectors, dense (n, n_features) of the given dtype, or CSR."""
    if sparse.issparse(y) and y.ndim == 2:
        y = y.tocsr()
        if y.dtype.kind not in "buif" or not np.isfinite(y.data).all():
            raise ValueError(f"{name} contains NaN or infinity, or is not numeric: {y.dtype}.")
        return y
    y = as_rows(y, name)
    if y.dtype.kind not in "buif" or y.ndim > 2:
        raise ValueError(
            f"{name} must hold numeric vectors, (n, n_features). "
            f"Got shape {y.shape} and dtype {y.dtype}."
        )
    return y[:, None] if y.ndim == 1 else y


def _narrow(y, name):
    """An object array as one of integers, floats or strings, if it holds nothing else."""
    if any(_is_missing(value) for value in y.flat):
        raise ValueError(
            f"{name} contains NaN, infinity or missing values; every row needs a value."
        )
    kinds = set(map(type, y.flat))
    for accepted, dtype in ((Integral, np.int64), (Real, np.float64)):
        if all(issubclass(kind, (accepted, np.bool_)) for kind in kinds):
            try:
                return y.astype(dtype)
            except OverflowError as error:
                raise ValueError(f"{name} holds integers beyond 64 bits.") from error
    if not any(all(issubclass(kind, text) for kind in kinds) for text in (str, bytes)):
        given = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(
            f"{name} must hold only numbers or only strings. Got objects of type {given}. For sets "
            "of labels, pass a multilabel indicator (sklearn.preprocessing.MultiLabelBinarizer)."
        )
    if any(value.endswith(b"\0" if isinstance(value, bytes) else "\0") for value in y.flat):
        raise ValueError(f"{name} holds text that ends in a NUL character, which numpy drops.")
    return y if all(issubclass(kind, str) for kind in kinds) else y.astype(bytes)


def _is_missing(value):
    try:
        equals_itself = value == value  # not so for NaN, and neither true nor false for pandas.NA
    except (TypeError, ValueError):
        return False
    is_bool = isinstance(equals_itself, (bool, np.bool_))
    is_marked = value is None or type(value).__name__ in ("NAType", "NaTType")
    return is_marked or (is_bool and not equals_itself)
