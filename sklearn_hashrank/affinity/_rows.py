"""Validation of rows of `y`."""

import numpy as np
from scipy import sparse


def as_rows(y, name):
    """Rows of y as an array without missing values."""
    if sparse.issparse(y):
        y = y.toarray()
    y = np.asarray(y)
    if y.ndim == 0:
        raise ValueError(f"{name} must have one row per item. Got {y!r} instead.")
    if y.dtype.kind == "f":
        missing = not np.isfinite(y).all()
    elif y.dtype.kind == "O":
        missing = any(_is_missing(value) for value in y.ravel())
    elif y.dtype.kind in "buiUS":
        missing = False
    else:
        raise ValueError(f"{name} must hold numbers or strings. Got dtype {y.dtype}.")
    if missing:
        raise ValueError(
            f"{name} contains NaN, infinity or missing values; every row needs a value."
        )
    return y


def _is_missing(value):
    equals_itself = value == value  # not so for NaN, and neither true nor false for pandas.NA
    return value is None or not (isinstance(equals_itself, (bool, np.bool_)) and equals_itself)


def as_label_matrix(y, name):
    y = as_rows(y, name)
    if y.ndim != 2 or y.shape[1] == 0:
        raise ValueError(f"{name} must hold one label path per row, (n, depth). Got {y.shape}.")
    if y.dtype.kind == "f" and np.any(y != np.floor(y)):
        raise ValueError(f"{name} must hold labels. Got non-integral numbers.")
    return y


def as_indicator(y, name):
    if sparse.issparse(y):
        y = y.tocsr()
        values = y.data
    else:
        y = values = as_rows(y, name)
    if y.ndim != 2 or y.shape[1] == 0:
        raise ValueError(f"{name} must be a multilabel indicator, (n, n_labels). Got {y.shape}.")
    if values.dtype.kind not in "buif" or not np.all((values == 0) | (values == 1)):
        raise ValueError(f"{name} must be a multilabel indicator of 0 and 1. Got other values.")
    return y


def as_vectors(y, name):
    if sparse.issparse(y):
        y = y.tocsr().astype(float)
        if not np.isfinite(y.data).all():
            raise ValueError(f"{name} contains NaN or infinity.")
        return y
    y = as_rows(y, name)
    if y.dtype.kind not in "buif" or y.ndim > 2:
        raise ValueError(
            f"{name} must hold numeric vectors, (n, n_features). "
            f"Got shape {y.shape} and dtype {y.dtype}."
        )
    return (y[:, None] if y.ndim == 1 else y).astype(float)


def check_width(y, width, name, what):
    if y.shape[1] != width:
        raise ValueError(f"{name} has {y.shape[1]} {what}; this affinity was fitted with {width}.")
