"""Scores of a few rows of hashers of users, stored, and compared with those of the loaded hasher.

A digest shows that a file is as it was written. It does not show that the file held all that the
scores depend on: a network may have tensors that are neither parameters nor buffers, and a class of
a user may have changed. So the scores themselves are stored, of rows that every process can make
anew.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

_SCALES = (1e-2, 1.0, 1.0, 1.0, 1.0, 1.0, 1e2, 1e4)  # of rows around zero
_METHODS = ("decision_function", "transform", "predict")
# Of the largest score of a row. Networks compute in float32, on accelerators with 10 bits.
_TOLERANCE = {"f8": 1e-6, "f4": 1e-2}
_SHARE_OF_CODES = 0.01  # that may differ where there are codes and no scores
_FORMS = ("numbers", "positive numbers", "counts", "sparse counts", "zeros")


class Probes(NamedTuple):
    """What a hasher made of rows of one form: scores, or codes of a hasher that gives no scores."""

    form: str
    n_features: int
    method: str
    scores: np.ndarray


def take_probes(hasher: Any) -> Probes | None:
    """Encode rows of the first form that a hasher takes; None where it takes none."""
    method = next(name for name in _METHODS if hasattr(hasher, name))
    for form in _FORMS:
        for n_features in _possible_widths(hasher):
            try:
                scores = _scores(hasher, form, n_features, method)
            except Exception:  # not a form that it takes; code of a user can raise anything
                continue
            return Probes(form, n_features, method, scores)
    return None


def check_probes(hasher: Any, probes: Probes) -> None:
    """Refuse a hasher whose scores differ from those of the probes by more than rounding."""
    if probes.form not in _FORMS or probes.method not in _METHODS:
        raise ValueError(f"there are no probe rows of {probes.form!r}")
    if probes.n_features not in _possible_widths(hasher):
        raise ValueError(f"its probe rows have {probes.n_features!r} features")
    found = _scores(hasher, probes.form, probes.n_features, probes.method)
    expected = probes.scores
    if found.shape != expected.shape or found.dtype.kind != expected.dtype.kind:
        raise ValueError(
            f"{probes.method} of its probe rows gives {found.dtype} of shape {found.shape}, where "
            f"the stored hasher gave {expected.dtype} of shape {expected.shape}."
        )
    differs = _differ(found, expected)
    what, allowed = ("scores", 0) if expected.dtype.kind == "f" else ("codes", _SHARE_OF_CODES)
    if differs.mean() > allowed:
        raise ValueError(
            f"it encodes otherwise than the hasher that was stored: {differs.sum()} of "
            f"{differs.size} {what} of its probe rows differ by more than rounding. Something that "
            "they depend on is not in the file. A file holds attributes and the state_dict of a "
            "network: not tensors that are neither parameters nor buffers, nor buffers with "
            "persistent=False, nor what is in other objects or modules. Or a class or function "
            "in types is another one than then."
        )


def _differ(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Of every number whether it differs by more than rounding from what it should be."""
    if expected.dtype.kind != "f":
        return found != expected
    coarser = min(found.dtype.itemsize, expected.dtype.itemsize)
    tolerance = _TOLERANCE["f8" if coarser >= 8 else "f4"]
    sizes = np.abs(np.where(np.isfinite(expected), expected, 0)).max(axis=1, keepdims=True)
    sizes = np.maximum(sizes, tolerance * sizes.max(initial=0))
    is_same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        is_near = np.abs(found.astype(float) - expected) <= tolerance * sizes
    return ~(is_same | is_near)


def _scores(hasher: Any, form: str, n_features: int, method: str) -> np.ndarray:
    rows = _rows(form, n_features)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # such as those that columns have no names
        scores = np.asarray(getattr(hasher, method)(rows))
    if scores.ndim != 2 or scores.dtype.kind not in "biuf" or len(scores) != rows.shape[0]:
        raise ValueError(
            f"{method} of {rows.shape[0]} rows must give as many rows of numbers. Got "
            f"{scores.dtype} of shape {scores.shape}."
        )
    return scores


def _rows(form: str, n_features: int) -> Any:
    """Rows of one form, the same in every process."""
    if form == "zeros":
        return np.zeros((1, n_features))
    random_state = np.random.RandomState(0)  # whose numbers no version of numpy changes
    rows = random_state.standard_normal((len(_SCALES), n_features))
    if form.endswith("counts"):
        rows = np.floor(np.abs(rows))
        return sparse.csr_matrix(rows) if form.startswith("sparse") else rows
    rows *= np.array(_SCALES)[:, None]
    return np.abs(rows) if form == "positive numbers" else rows


def _possible_widths(hasher: Any) -> list[int]:
    """Number of features; where a hasher does not say it, the widths of its arrays."""
    if hasattr(hasher, "n_features_in_"):
        return [int(hasher.n_features_in_)]
    arrays = [array for array in vars(hasher).values() if isinstance(array, np.ndarray)]
    return sorted({array.shape[-1] for array in arrays if array.ndim})
