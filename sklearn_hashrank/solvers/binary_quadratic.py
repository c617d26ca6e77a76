r"""Binary quadratic programs: minimise :math:`\sum_{i<j} a_{ij} z_i z_j + \sum_i l_i z_i`.

The :math:`z_i` are -1 or +1. Block graph cuts need blocks of variables inside of which no
:math:`a_{ij}` is positive; every step is then exact for its block, and never raises the energy.
The spectral start followed by a relaxation needs no blocks.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy import optimize, sparse
from scipy.sparse.linalg import eigsh

from .. import _kernels

__all__ = ["Blocks", "energy", "minimise_by_cuts", "minimise_spectrally"]

_RELAXED_ITERATIONS = 30


class Blocks(NamedTuple):
    """Disjoint blocks of variables.

    Attributes
    ----------
    starts : ndarray of shape (n_blocks + 1,), int64
        Where each block starts in `rows`.
    rows : ndarray of shape (n,), int64
        The variables of each block, ascending.
    """

    starts: np.ndarray
    rows: np.ndarray

    @classmethod
    def of(cls, block_of: np.ndarray) -> "Blocks":
        """Blocks of variables by the number of the block that each is in."""
        sizes = np.bincount(block_of)
        rows = np.argsort(block_of, kind="stable")
        return cls(np.concatenate([[0], np.cumsum(sizes)]), rows)


def energy(matrix: sparse.csr_array, linear: np.ndarray, signs: np.ndarray) -> float:
    """Energy of z.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
        Symmetric, with every :math:`a_{ij}` twice and nothing on the diagonal.
    linear : ndarray of shape (n,)
        The :math:`l_i`.
    signs : ndarray of shape (n,)
        The z; numbers between -1 and 1 as well.

    Returns
    -------
    energy : float
    """
    return float(signs @ (matrix @ signs) / 2 + linear @ signs)


def minimise_by_cuts(
    matrix: sparse.csr_array,
    linear: np.ndarray,
    blocks: Blocks,
    start: np.ndarray,
    n_rounds: int,
    random_state: RandomState,
) -> np.ndarray:
    """Cut one block after the other.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
        As for :func:`energy`, with ascending columns; not positive inside of blocks.
    linear : ndarray of shape (n,)
        The :math:`l_i`.
    blocks : Blocks
        Which variables are cut together.
    start : ndarray of shape (n,)
        The z to start from.
    n_rounds : int
        How often each block is cut, in random order.
    random_state : RandomState instance
        Controls the order.

    Returns
    -------
    signs : ndarray of shape (n,), float64 of -1 and +1
        The z, of an energy that is at most that of `start`.
    """
    signs = start.astype(np.float64)
    n_blocks = len(blocks.starts) - 1
    order = np.concatenate([random_state.permutation(n_blocks) for _ in range(n_rounds)])
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    _kernels.cuts.cut_blocks(indptr, indices, matrix.data, linear, *blocks, order, signs)
    return signs


def minimise_spectrally(
    matrix: sparse.csr_array, linear: np.ndarray, random_state: RandomState
) -> np.ndarray:
    """Round the eigenvector of the smallest eigenvalue, then descend in the cube from there.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
        As for :func:`energy`.
    linear : ndarray of shape (n,)
        The :math:`l_i`.
    random_state : RandomState instance
        Controls the start of the search for the eigenvector.

    Returns
    -------
    signs : ndarray of shape (n,), float64 of -1 and +1
        The better one of both results.
    """
    n = matrix.shape[0]
    if n > 2 and matrix.nnz:
        _, vectors = eigsh(matrix, 1, which="SA", v0=random_state.standard_normal(n), tol=1e-3)
        start = vectors[:, 0]
        if linear @ start > 0:
            start = -start
    else:
        start = -linear - matrix.sum(axis=0) / 2
    first = _signs_of(start)
    relaxed = optimize.minimize(
        lambda z: (energy(matrix, linear, z), matrix @ z + linear),
        first * 0.5,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-1, 1)] * n,
        options={"maxiter": _RELAXED_ITERATIONS},
    )
    second = _signs_of(relaxed.x)
    return min(first, second, key=lambda signs: energy(matrix, linear, signs))


def _signs_of(numbers):
    return np.where(numbers > 0, 1.0, -1.0)
