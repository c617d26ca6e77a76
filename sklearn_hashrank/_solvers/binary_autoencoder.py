"""Codes and a linear decoder that reconstruct rows, found in turn."""

from typing import Any

import numpy as np
from scipy import linalg

from .. import _kernels

_MOST_SWEEPS = 100  # a few are needed; rounding might go on for ever


def fit_decoder(rows: Any, signs: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Regress rows of mean zero on the bits of their codes, -1 and +1.

    The `ridge`, a penalty of the squared vectors of the decoder for each row, keeps them finite
    where bits depend on each other. Returns the decoder (n_bits, n_features) and the offset, by
    which a code reconstructs its row as ``signs @ decoder + offset``, and what that explains: the
    mean squared length of the rows, less the mean squared error and the penalty.
    """
    mean = signs.mean(axis=0)
    moments = signs.T @ signs / len(signs) - np.outer(mean, mean)
    moments[np.diag_indices_from(moments)] += ridge
    products = (rows.T @ signs).T / len(signs)  # those with the mean vanish, as rows have none
    decoder = np.ascontiguousarray(linalg.solve(moments, products, assume_a="pos"))
    return decoder, -mean @ decoder, float(np.vdot(products, decoder))


def signs_of_least_error(fields: np.ndarray, gram: np.ndarray, signs: np.ndarray) -> None:
    """Change bits one after the other while that lowers the squared error of the reconstruction.

    `fields` (n_samples, n_bits) are products ``(row - offset) @ decoder.T``, and are changed to
    what is left of them for each bit when the other bits are reconstructed; `gram` is ``decoder @
    decoder.T``; `signs` are the codes to start from, changed.
    """
    of_others = gram.copy()
    np.fill_diagonal(of_others, 0.0)
    _kernels.bit_flips.descend(fields, of_others, signs, _MOST_SWEEPS)


def reconstruct_in_turn(
    rows: Any, signs: np.ndarray, max_iter: int, ridge: float, tol: float
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Alternate between the decoder of given codes and the codes of a given decoder.

    Neither lowers what the reconstruction explains, see :func:`fit_decoder`. `rows` have mean zero
    and mean squared length 1; `signs` are the codes to start from, changed. At most `max_iter`
    alternations end when what is left to explain falls by no more than the share `tol`. Returns
    decoder, offset, and what the first decoder and every one after it explained.
    """
    decoder, offset, first = fit_decoder(rows, signs, ridge)
    explained = [first]
    for _ in range(max_iter):
        fields = rows @ decoder.T - decoder @ offset
        signs_of_least_error(fields, decoder @ decoder.T, signs)
        decoder, offset, now = fit_decoder(rows, signs, ridge)
        explained.append(now)
        if now - explained[-2] <= tol * (1 - now):
            break
    return decoder, offset, explained
