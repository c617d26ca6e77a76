"""Codes and a linear decoder that reconstruct rows, found in turn."""

from typing import Any

import numpy as np
from scipy import linalg

from .. import _kernels

__all__ = ["fit_decoder", "reconstruct_in_turn", "signs_of_least_error"]

_MOST_SWEEPS = 100  # a few are needed; rounding might go on for ever


def fit_decoder(rows: Any, signs: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Regress rows on the bits of their codes.

    Parameters
    ----------
    rows : ndarray or linear operator of shape (n_samples, n_features)
        Rows of mean zero.
    signs : ndarray of shape (n_samples, n_bits)
        Codes of -1 and +1.
    ridge : float
        Penalty of the squared vectors of the decoder, for each row. It keeps the vectors finite
        where bits depend on each other.

    Returns
    -------
    decoder : ndarray of shape (n_bits, n_features)
        A code reconstructs its row as ``signs @ decoder + offset``.
    offset : ndarray of shape (n_features,)
    explained : float
        Mean squared length of the rows, less the mean squared error of their reconstruction and
        the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank._solvers.binary_autoencoder import fit_decoder
    >>> signs = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> rows = signs @ np.array([[2.0, 0.0], [0.0, 1.0]])
    >>> decoder, offset, explained = fit_decoder(rows, signs, 1e-9)
    >>> decoder.round(3)
    array([[2., 0.],
           [0., 1.]])
    """
    mean = signs.mean(axis=0)
    moments = signs.T @ signs / len(signs) - np.outer(mean, mean)
    moments[np.diag_indices_from(moments)] += ridge
    products = (rows.T @ signs).T / len(signs)  # those with the mean vanish, as rows have none
    decoder = np.ascontiguousarray(linalg.solve(moments, products, assume_a="pos"))
    return decoder, -mean @ decoder, float(np.vdot(products, decoder))


def signs_of_least_error(fields: np.ndarray, gram: np.ndarray, signs: np.ndarray) -> None:
    """Change bits one after the other while that lowers the squared error of the reconstruction.

    Parameters
    ----------
    fields : ndarray of shape (n_samples, n_bits), float64
        Products ``(row - offset) @ decoder.T``. Changed to what is left of them for each bit when
        the other bits are reconstructed.
    gram : ndarray of shape (n_bits, n_bits), float64
        ``decoder @ decoder.T``.
    signs : ndarray of shape (n_samples, n_bits), float64
        The codes to start from, changed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank._solvers.binary_autoencoder import signs_of_least_error
    >>> decoder = np.array([[2.0, 0.0], [1.0, 1.0]])
    >>> row, signs = np.array([[1.5, -0.9]]), np.array([[1.0, 1.0]])
    >>> signs_of_least_error(row @ decoder.T, decoder @ decoder.T, signs)
    >>> signs
    array([[ 1., -1.]])
    """
    of_others = gram.copy()
    np.fill_diagonal(of_others, 0.0)
    _kernels.bit_flips.descend(fields, of_others, signs, _MOST_SWEEPS)


def reconstruct_in_turn(
    rows: Any, signs: np.ndarray, max_iter: int, ridge: float, tol: float
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Alternate between the decoder of given codes and the codes of a given decoder.

    Neither lowers what the reconstruction explains, see :func:`fit_decoder`.

    Parameters
    ----------
    rows : ndarray or linear operator of shape (n_samples, n_features)
        Rows of mean zero and mean squared length 1.
    signs : ndarray of shape (n_samples, n_bits), float64
        The codes to start from, changed.
    max_iter : int
        Most alternations; 0 finds the decoder of the codes as they are.
    ridge : float
        See :func:`fit_decoder`.
    tol : float
        It ends when what is left to explain falls by no more than this share of it.

    Returns
    -------
    decoder : ndarray of shape (n_bits, n_features)
    offset : ndarray of shape (n_features,)
    explained : list of float
        By the first decoder, and by every one after it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank._solvers.binary_autoencoder import reconstruct_in_turn
    >>> rows = np.random.RandomState(0).standard_normal((200, 8)) / np.sqrt(8)
    >>> rows -= rows.mean(axis=0)
    >>> signs = np.where(rows > 0, 1.0, -1.0)
    >>> *_, explained = reconstruct_in_turn(rows, signs, 5, 1e-3, 0.0)
    >>> bool(np.all(np.diff(explained) >= 0))
    True
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
