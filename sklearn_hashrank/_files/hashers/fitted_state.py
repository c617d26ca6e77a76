"""Checks that fitted attributes fit together, before a hasher is written and once it is read."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from ..._utils.parameters import is_int
from ...affinity._protocol import BaseAffinity
from ...base import BaseHasher, LinearHasher
from ...codes._formats import packed_width
from ..storable import is_of_package

# Of a number that no array of a file is as long as, a row is made: 32 MB, however small the file.
_MOST_WITHOUT_ARRAY = 1 << 22


def check_kind(hasher: Any) -> None:
    """Refuse what is no hasher."""
    kind = type(hasher)
    if isinstance(hasher, BaseHasher):
        return
    is_estimator = isinstance(hasher, BaseEstimator) and hasattr(hasher, "transform")
    is_of_library = kind.__module__.startswith("sklearn.") or is_of_package(kind)
    if not is_estimator or is_of_library:
        hint = ""
        if hasattr(hasher, "steps"):
            hint = " Save its last step, and the other steps by joblib or skops."
        elif isinstance(hasher, (str, os.PathLike)):
            hint = " The order is save_hasher(path, hasher)."
        raise ValueError(f"the files hold a single hasher. Got a {kind.__name__}.{hint}")


def check_state(hasher: Any) -> None:
    """Refuse fitted attributes that do not fit together, or numbers that are not finite."""
    if hasattr(hasher, "_parameter_constraints"):
        hasher._validate_params()
    if hasattr(hasher, "affinity_") and not isinstance(hasher.affinity_, BaseAffinity):
        raise ValueError(f"affinity_ must be an affinity. Got {type(hasher.affinity_).__name__}.")
    _check_levels(hasher)
    if isinstance(hasher, LinearHasher):
        _check_hyperplanes(hasher)
    if isinstance(hasher, BaseHasher):
        hasher._check_fitted()
        _check_training_rows(hasher)
    if is_of_package(type(hasher)):
        _check_finite(hasher, "the hasher", set())
        _check_encoding(hasher)


def _check_hyperplanes(hasher: LinearHasher) -> None:
    """Refuse hyperplanes that are not finite, or that features or training rows do not fit."""
    n_bits, n_features = np.shape(hasher.components_)
    for name, shape in (("components_", (n_bits, n_features)), ("intercept_", (n_bits,))):
        array = getattr(hasher, name)
        if array.dtype.kind != "f" or array.shape != shape or not np.isfinite(array).all():
            raise ValueError(
                f"{name} must be finite numbers of shape {shape}. "
                f"Got {array.dtype} of shape {array.shape}."
            )
    names = getattr(hasher, "feature_names_in_", range(n_features))
    if hasher.n_features_in_ != n_features or len(names) != n_features or not n_bits:
        raise ValueError(f"components_ has {n_features} columns, which are not the features.")


def _check_training_rows(hasher: BaseHasher) -> None:
    """Refuse codes of the training rows that are no codes, or whose `y` are those of others."""
    codes, n_bits = getattr(hasher, "codes_", None), hasher.n_bits_
    if codes is None:
        return
    if codes.dtype != np.uint8 or codes.ndim != 2 or codes.shape[1] != packed_width(n_bits):
        raise ValueError(f"codes_ must be packed codes of {n_bits} bits. Got shape {codes.shape}.")
    y = getattr(hasher, "y_", None)
    if y is not None and np.shape(y)[:1] != (len(codes),):
        raise ValueError(f"y_ must have {len(codes)} rows, as codes_. Got shape {np.shape(y)}.")


def _check_encoding(hasher: BaseHasher) -> None:
    """Refuse fitted attributes that do not fit together, by encoding a row of zeros."""
    n_features, n_bits = hasher.n_features_in_, hasher.n_bits_
    for name, number in (("n_features_in_", n_features), ("n_bits_", n_bits)):
        if not is_int(number, 1) or number > max(_MOST_WITHOUT_ARRAY, _longest_axis(hasher)):
            raise ValueError(
                f"{name} must be an int from 1 to {_MOST_WITHOUT_ARRAY}, or at most as long as an "
                f"array of the hasher. Got {number!r}."
            )
    names = getattr(hasher, "feature_names_in_", None)
    if names is not None and np.shape(names) != (n_features,):
        raise ValueError(f"feature_names_in_ must name {n_features} features. Got {len(names)}.")
    projections = hasher._project(np.zeros((1, n_features)))
    is_finite = projections.dtype.kind == "f" and np.isfinite(projections).all()
    if projections.shape != (1, n_bits) or not is_finite:
        raise ValueError(
            f"a row of zeros must have {n_bits} finite projections. "
            f"Got {projections.dtype} of shape {projections.shape}."
        )


def _longest_axis(value: Any) -> int:
    """Length of the longest axis of the arrays that an object holds."""
    if isinstance(value, np.ndarray):
        return max(value.shape, default=0)
    parts: Iterable[Any] = ()
    if sparse.issparse(value):  # whose shape is two numbers
        parts = value.data, value.indices, value.indptr
    elif isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, (list, tuple)):
        parts = value
    elif is_of_package(type(value)) and hasattr(value, "__dict__"):
        parts = vars(value).values()
    return max((_longest_axis(part) for part in parts), default=0)


def _check_levels(hasher: Any) -> None:
    """Refuse an affinity whose relevance levels do not ascend."""
    if hasattr(getattr(hasher, "affinity_", None), "levels_"):
        levels = np.asarray(hasher.affinity_.levels_)
        is_ascending = levels.ndim == 1 and levels.dtype.kind in "iuf" and np.all(levels >= 0)
        if not is_ascending or not len(levels) or not np.all(np.diff(levels) > 0):
            raise ValueError("affinity_.levels_ must ascend from 0 or more.")


def _check_finite(value: Any, where: str, seen: set[int]) -> None:
    """Refuse arrays of NaN or infinity, in objects of this package and in what they hold."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise ValueError(f"{where} holds numbers that are not finite.")
        return
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (list, tuple)):
        parts = enumerate(value)
    elif is_of_package(type(value)) and hasattr(value, "__dict__"):
        parts = vars(value).items()
    if id(value) not in seen:
        seen.add(id(value))
        for name, part in parts:
            _check_finite(part, str(name), seen)
