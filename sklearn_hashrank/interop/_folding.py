"""Fold a pipeline that ends in a linear hasher into hyperplanes, and normalizations before."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from .._features.space import Hyperplanes
from ..base import BaseHasher
from ..metrics._retrieval import unwrap

_REFUSAL = (
    "only codes of half-spaces can be exported: the estimator, or the last step of a pipeline, "
    "must be a LinearHasher or have hyperplanes."
)


class Normalization(NamedTuple):
    """Rows are mapped, unless there is no map, and then divided by their length."""

    affine: Hyperplanes | None
    norm: str  # of Normalizer


class Folded(NamedTuple):
    """What encodes rows: normalizations, one after the other, then hyperplanes, in float64."""

    hyperplanes: Hyperplanes
    output: str
    normalizations: list[Normalization]

    @property
    def n_features(self) -> int:
        """Width of the rows that go in."""
        maps = [*(each.affine for each in self.normalizations), self.hyperplanes]
        return next(each for each in maps if each is not None).components_.shape[1]

    def check_norms(self, what: str) -> None:
        """Refuse norms other than "l2", for programs that know no other."""
        for _, norm in self.normalizations:
            if norm != "l2":
                raise TypeError(
                    f"{what} normalizes rows by Normalizer(norm='l2') only. "
                    f"Got Normalizer(norm={norm!r})."
                )


def fold(estimator: Any) -> Folded:
    """Return what encodes the rows that go into an estimator."""
    before, hasher = unwrap(estimator)
    if not isinstance(hasher, BaseHasher):
        raise TypeError(f"{_REFUSAL} Got {_name(hasher)}.")
    check_is_fitted(hasher)
    try:
        hyperplanes = Hyperplanes(*(np.asarray(each, np.float64) for each in hasher.hyperplanes()))
    except TypeError as error:
        raise TypeError(f"{_REFUSAL} Got {_name(hasher)}: {error}") from error
    maps: list[Hyperplanes | None] = [hyperplanes]  # those before the last are of normalizations
    norms: list[str] = []
    for step in reversed([step for part in before for step in _steps(part)]):
        if type(step) is Normalizer:
            maps.insert(0, None)
            norms.insert(0, step.norm)
        else:
            maps[0] = _composed(*_affine_map(step), maps[0])
    *first, last = maps
    assert last is not None
    normalizations = [Normalization(*each) for each in zip(first, norms, strict=True)]
    return Folded(last, hasher.output, normalizations)


def _composed(matrix: np.ndarray, offset: np.ndarray, then: Hyperplanes | None) -> Hyperplanes:
    """Return one affine map for two, of which the first has a matrix or a diagonal."""
    if then is None:
        return Hyperplanes(np.diag(matrix) if matrix.ndim == 1 else matrix.T, offset)
    normals, intercept = then
    composed = normals * matrix if matrix.ndim == 1 else normals @ matrix.T
    return Hyperplanes(composed, intercept + normals @ offset)


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
        hint = ""
        if isinstance(step, FunctionTransformer):
            hint = " In place of FunctionTransformer(normalize), use Normalizer()."
        raise TypeError(
            f"the steps before the hasher must be affine: {accepted}, without clip=True; or "
            f"Normalizer. Got {_name(step)}.{hint}"
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


def _of_pca(step):
    components = np.asarray(step.components_, dtype=np.float64)
    if step.whiten:
        deviations = np.sqrt(step.explained_variance_)
        deviations = np.maximum(deviations, np.finfo(deviations.dtype).eps)
        components = components / deviations[:, None]
    return components.T, -components @ step.mean_


_MAPS: dict[type, Callable[[Any], tuple[Any, Any]]] = {
    StandardScaler: _of_standard_scaler,
    MinMaxScaler: lambda step: (step.scale_, step.min_),
    MaxAbsScaler: lambda step: (1 / step.scale_, np.zeros(step.n_features_in_)),
    RobustScaler: _of_robust_scaler,
    PCA: _of_pca,
    IncrementalPCA: _of_pca,
    TruncatedSVD: lambda step: (step.components_.T, np.zeros(len(step.components_))),
}


def _name(estimator: Any) -> str:
    return estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
