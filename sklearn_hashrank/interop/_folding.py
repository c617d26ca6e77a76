"""Fold a pipeline that ends in a linear hasher into one set of hyperplanes for its input."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from ..base import BaseHasher
from ..features import Hyperplanes
from ..metrics.retrieval import unwrap

_REFUSAL = (
    "only codes of half-spaces can be exported: the estimator, or the last step of a pipeline, "
    "must be a LinearHasher or have hyperplanes."
)


def fold(estimator: Any) -> tuple[Hyperplanes, str]:
    """Return hyperplanes in float64 for what goes into the estimator, and its `output`."""
    before, hasher = unwrap(estimator)
    if not isinstance(hasher, BaseHasher):
        raise TypeError(f"{_REFUSAL} Got {_name(hasher)}.")
    check_is_fitted(hasher)
    try:
        normals, intercept = (np.asarray(each, np.float64) for each in hasher.hyperplanes())
    except TypeError as error:
        raise TypeError(f"{_REFUSAL} Got {_name(hasher)}: {error}") from error
    for step in reversed([step for part in before for step in _steps(part)]):
        matrix, offset = _affine_map(step)
        intercept = intercept + normals @ offset
        normals = normals * matrix if matrix.ndim == 1 else normals @ matrix.T
    return Hyperplanes(normals, intercept), hasher.output


def check_dtype(dtype: Any) -> np.dtype:
    """Return the type of the arithmetic, float32 or float64."""
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype must be numpy.float32 or numpy.float64. Got {dtype} instead.")
    return dtype


def _steps(part: Any) -> Iterator[Any]:
    """The steps of a pipeline, also of one inside of another."""
    if hasattr(part, "best_estimator_"):
        part = part.best_estimator_
    if not hasattr(part, "named_steps"):
        if part is not None and not isinstance(part, str):  # "passthrough"
            yield part
        return
    for _, step in part.steps:
        yield from _steps(step)


def _affine_map(step: Any) -> tuple[np.ndarray, np.ndarray]:
    """Matrix (n_in, n_out), or its diagonal, and offset (n_out,) of a fitted step."""
    find = _MAPS.get(type(step))
    if find is None or getattr(step, "clip", False):
        accepted = ", ".join(sorted(known.__name__ for known in _MAPS))
        raise TypeError(
            f"the steps before the hasher must be affine: {accepted}, without clip=True. "
            f"Got {_name(step)}."
        )
    check_is_fitted(step)
    matrix, offset = find(step)
    return np.asarray(matrix, dtype=np.float64), np.asarray(offset, dtype=np.float64)


def _of_standard_scaler(step):
    gains = 1 / step.scale_ if step.with_std else np.ones(step.n_features_in_)
    return gains, -step.mean_ * gains if step.with_mean else np.zeros_like(gains)


def _of_robust_scaler(step):
    gains = 1 / step.scale_ if step.with_scaling else np.ones(step.n_features_in_)
    return gains, -step.center_ * gains if step.with_centering else np.zeros_like(gains)


def _of_max_abs_scaler(step):
    return 1 / step.scale_, np.zeros(step.n_features_in_)


def _of_min_max_scaler(step):
    return step.scale_, step.min_


def _of_pca(step):
    components = np.asarray(step.components_, dtype=np.float64)
    if step.whiten:
        deviations = np.sqrt(step.explained_variance_)
        deviations = np.maximum(deviations, np.finfo(deviations.dtype).eps)
        components = components / deviations[:, None]
    return components.T, -components @ step.mean_


def _of_truncated_svd(step):
    return step.components_.T, np.zeros(len(step.components_))


_MAPS: dict[type, Callable[[Any], tuple[Any, Any]]] = {
    StandardScaler: _of_standard_scaler,
    MinMaxScaler: _of_min_max_scaler,
    MaxAbsScaler: _of_max_abs_scaler,
    RobustScaler: _of_robust_scaler,
    PCA: _of_pca,
    IncrementalPCA: _of_pca,
    TruncatedSVD: _of_truncated_svd,
}


def _name(estimator: Any) -> str:
    return estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
