"""The relevance of the pairs of a batch: as level indices on the host, as values on a device."""

from typing import Any, NamedTuple

import numpy as np
import torch

from ..affinity._auto import affinity_by_form, auto_affinity, fit_affinity, is_auto
from ..affinity._coercion import as_array
from ..affinity._labels import HierarchicalAffinity, LabelAffinity, SharedLabelAffinity
from ..affinity._level_checks import check_level_indices

_MOST_LEVELS = 256  # of a matrix; their indices are uint8


def is_precomputed(affinity: Any) -> bool:
    """Whether `y` is the matrix of relevance itself."""
    return isinstance(affinity, str) and affinity == "precomputed"


def level_indices(affinity: Any, y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of the level of every pair (M, M), unsigned, and the levels, ascending."""
    y = as_array(y)
    _check_length(y, n_rows)
    if is_precomputed(affinity):
        return _levels_of_matrix(y, n_rows)
    fitted = fit_affinity(affinity, y)
    rows = fitted.validate(y)
    levels = fitted.levels_[: fitted.n_reachable_levels(rows)]
    judge, queries = fitted.of_queries(rows, are_database=fitted is not affinity)
    indices = judge.level_indices(queries, rows)
    indices = check_level_indices(judge, indices, (n_rows, n_rows), len(levels))
    return indices.astype(np.min_scalar_type(len(levels)), copy=False), levels


class Relevance(NamedTuple):
    """The relevance of the pairs of a batch on a device.

    Parameters
    ----------
    value : Tensor of shape (M, M)
        Levels, 0 for irrelevant, in the precision of the scores.
    known_rank : Tensor of shape (M, M) or None
        The place of each level among all of them, where that is known.
    """

    value: torch.Tensor
    known_rank: "torch.Tensor | None" = None  # a text: the documentation is built without torch

    def rank(self) -> torch.Tensor:
        """Return the place of each level among all of them (M, M), from 0."""
        if self.known_rank is not None:
            return self.known_rank.long()
        if not (self.value % 1).any():  # as of a matrix on the host: whole numbers are places
            return self.value.long()
        distinct = torch.unique(torch.cat([self.value.new_zeros(1), self.value.flatten()]))
        return torch.searchsorted(distinct, self.value)


def relevance_on(scores: torch.Tensor, affinity: Any, y: Any) -> Relevance:
    """Return the relevance of the pairs of a batch on the device of the scores.

    Labels, label sets and paths in integer or boolean tensors are compared there, and so is a
    matrix of relevance. Other forms are compared on the host.
    """
    n_rows = len(scores)
    if torch.is_tensor(y):
        _check_length(y, n_rows)
        y = (y if y.layout == torch.strided else y.to_dense()).to(scores.device)
        if is_precomputed(affinity):
            _check_matrix(y, n_rows)
            return Relevance(y.to(scores.dtype), None if y.is_floating_point() else y)
        shared = None if y.is_floating_point() else _count_shared(affinity, y)
        if shared is not None:
            return Relevance(shared.to(scores.dtype), shared)
    return _from_host(scores, affinity, y)


def relevance_from(scores: torch.Tensor, level: np.ndarray, levels: np.ndarray) -> Relevance:
    """Return the relevance of pairs, given by the indices of their levels, where the scores are."""
    value = torch.from_numpy(np.asarray(levels)[level]).to(scores.device, scores.dtype)
    return Relevance(value, torch.from_numpy(level.astype(np.int64)).to(scores.device))


def _count_shared(affinity, y):
    """Return how many labels two rows share, or None where that is not what counts."""
    columns = y[:, None] if y.ndim == 1 else y
    if columns.ndim != 2 or not columns.shape[1]:
        return None
    kind = type(affinity)
    if kind is LabelAffinity and columns.shape[1] == 1:
        return columns == columns.T
    if kind is SharedLabelAffinity:
        indicator = columns.to(torch.float32)
        return indicator @ indicator.T
    if kind is HierarchicalAffinity and y.ndim == 2:
        same = columns[:, None] == columns
        return same.long().cumprod(dim=2).sum(dim=2)
    return None


class BatchAffinity:
    """The affinity of all batches of a loss.

    Where it is "auto", the first batch with several columns decides for all further ones: a batch
    of vectors or label paths may happen to hold nothing but 0 and 1.

    Parameters
    ----------
    given : {"auto", "precomputed"} or affinity object
        The parameter of the loss.
    """

    def __init__(self, given: Any):
        self.given, self._chosen = given, None

    def of(self, y: Any, n_rows: int) -> Any:
        """Return the affinity of a batch, or refuse one that contradicts what was decided."""
        if not is_auto(self.given):
            return self.given
        if not torch.is_tensor(y):
            y = as_array(y)
        _check_length(y, n_rows)
        found = _by_form(y)
        if isinstance(found, LabelAffinity):
            return found
        if self._chosen is None:
            self._chosen = found
        if isinstance(self._chosen, SharedLabelAffinity) and type(found) is not type(self._chosen):
            raise ValueError(
                "an earlier batch held only 0 and 1, so that y was taken for label sets; this "
                "batch holds other values. Pass affinity=HierarchicalAffinity() for label paths, "
                "or a fitted EuclideanAffinity for vectors."
            )
        return self._chosen


def _by_form(y):
    if not torch.is_tensor(y) or y.layout != torch.strided:
        return auto_affinity(as_array(y))
    kind = "f" if y.is_floating_point() else "b" if y.dtype == torch.bool else "i"
    return affinity_by_form(tuple(y.shape), kind, lambda: bool(((y == 0) | (y == 1)).all()))


@torch.compiler.disable
def _from_host(scores, affinity, y):
    level, levels = level_indices(affinity, y, len(scores))
    return relevance_from(scores, level, levels)


def _check_length(y, n_rows):
    if not y.shape or y.shape[0] != n_rows:
        raise ValueError(
            f"y must have one row for each of the {n_rows} rows of scores. "
            f"Got shape {tuple(y.shape)}."
        )


def _check_matrix(y, n_rows):
    if tuple(y.shape) != (n_rows, n_rows):
        raise ValueError(
            'with affinity="precomputed", y must be the relevance of each pair of rows, of shape '
            f"{(n_rows, n_rows)}. Got shape {tuple(y.shape)}."
        )


def _levels_of_matrix(matrix, n_rows):
    _check_matrix(matrix, n_rows)
    if matrix.dtype.kind not in "buif":
        raise ValueError(f"y must hold levels of relevance, numbers. Got dtype {matrix.dtype}.")
    levels, index = np.unique(matrix.astype(np.float64), return_inverse=True)
    if not np.isfinite(levels).all() or levels[0] < 0:
        raise ValueError(
            "y must hold levels of relevance, finite and not negative. "
            f"Got values from {levels[0]} to {levels[-1]}."
        )
    if levels[-1] < _MOST_LEVELS and not np.any(levels % 1):
        return matrix.astype(np.uint8), np.arange(levels[-1] + 1)
    if levels[0] > 0:
        levels, index = np.concatenate([[0.0], levels]), index + 1
    if len(levels) > _MOST_LEVELS:
        raise ValueError(
            f"y must hold at most {_MOST_LEVELS} distinct levels of relevance. Got {len(levels)}; "
            "round it, or threshold it into a few levels."
        )
    return index.reshape(matrix.shape).astype(np.uint8), levels
