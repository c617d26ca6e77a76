"""Rotate projections so that their signs are near to them."""

import numpy as np
from scipy.stats import ortho_group


def random_rotation(n: int, random_state: np.random.RandomState) -> np.ndarray:
    """Sample a rotation or reflection of n dimensions from the uniform (Haar) distribution."""
    if n == 1:
        return random_state.choice([-1.0, 1.0], size=(1, 1))
    return ortho_group.rvs(n, random_state=random_state)


def itq_rotation(
    projections: np.ndarray, max_iter: int, random_state: np.random.RandomState
) -> tuple[np.ndarray, int]:
    """Rotate centered projections so that their signs are as near to them as can be.

    Iterative quantization (Gong and Lazebnik, CVPR 2011) alternates between the best codes of a
    rotation, the signs, and the best rotation to given codes, an orthogonal Procrustes problem,
    from a random start. The error ``|sign(V R) - V R|^2`` never rises. Returns R, which is
    (n_bits, n_bits), and the number of alternations.
    """
    start = random_rotation(projections.shape[1], random_state).astype(projections.dtype)
    return rotate_to_signs(projections, start, max_iter)


def rotate_to_signs(
    projections: np.ndarray, start: np.ndarray, max_iter: int
) -> tuple[np.ndarray, int]:
    """Alternate between signs and rotations, as :func:`itq_rotation` does, from a given start.

    `start` (n, n_bits), n <= n_bits, has orthonormal rows. Codes are the signs of
    ``projections @ rotation``; at most `max_iter` alternations end when they no longer change.
    """
    rotation, last = start, np.empty(0)
    one = projections.dtype.type(1)
    for n_iter in range(max_iter):
        positive = projections @ rotation > 0
        if np.array_equal(positive, last):
            return rotation, n_iter
        last = positive
        signs = np.where(positive, one, -one)
        rotation = _nearest_rotation(projections.T @ signs, rotation)
    return rotation, max_iter


def _nearest_rotation(products: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Matrix of orthonormal rows nearest to the products of projections and signs.

    Where two bits agree on all rows, some directions are free, and rounding would choose the sign
    of a bit. They then stay as near to the last rotation as they can.
    """
    left, lengths, right = np.linalg.svd(products, full_matrices=False)
    size, eps = lengths[0] or 1, np.finfo(products.dtype).eps
    if lengths[-1] <= max(products.shape) * eps * size:
        nudged = products + np.sqrt(eps) * size * last  # much more than rounding
        left, _, right = np.linalg.svd(nudged, full_matrices=False)
    return left @ right
