r"""Binary quadratic programs: minimize :math:`\sum_{i<j} a_{ij} z_i z_j + \sum_i l_i z_i`.

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

_RELAXED_ITERATIONS = 30  # of L-BFGS, whose result is rounded to signs


class Blocks(NamedTuple):
    """Disjoint blocks of variables.

    The variables of block k are `rows` from ``starts[k]`` to ``starts[k + 1]``, ascending.
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
    """Energy of z, numbers between -1 and 1.

    `matrix` is symmetric, with every :math:`a_{ij}` twice and nothing on the diagonal; `linear`
    holds the :math:`l_i`.
    """
    return float(signs @ (matrix @ signs) / 2 + linear @ signs)


def minimize_by_cuts(
    matrix: sparse.csr_array,
    linear: np.ndarray,
    blocks: Blocks,
    start: np.ndarray,
    n_rounds: int,
    random_state: RandomState,
) -> np.ndarray:
    """Cut each block `n_rounds` times, in random order, from a start of -1 and +1.

    The `matrix` is that of :func:`energy`, with ascending columns, and not positive inside of
    blocks. The energy of the result is at most that of `start`.
    """
    signs = start.astype(np.float64)
    n_blocks = len(blocks.starts) - 1
    order = np.concatenate([random_state.permutation(n_blocks) for _ in range(n_rounds)])
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    _kernels.cuts.cut_blocks(indptr, indices, matrix.data, linear, *blocks, order, signs)
    return signs


def minimize_spectrally(
    matrix: sparse.csr_array, linear: np.ndarray, random_state: RandomState
) -> np.ndarray:
    """Round the eigenvector of the smallest eigenvalue, then descend in the cube from there.

    The better one of both results is returned; `matrix` and `linear` are those of :func:`energy`.
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
