"""Rotations of projections before they are cut into bits."""

import numpy as np
from numpy.random import RandomState
from scipy import linalg


def random_rotation(n: int, random_state: RandomState) -> np.ndarray:
    """Orthogonal matrix of shape (n, n), uniformly distributed."""
    Q, R = np.linalg.qr(random_state.standard_normal((n, n)))
    return Q * np.copysign(1.0, np.diag(R))


def itq_rotation(
    projections: np.ndarray, start: np.ndarray, *, max_iter: int = 50
) -> tuple[np.ndarray, np.ndarray]:
    """Rotation that brings projections close to the corners of a cube.

    Iterative quantization: the nearest corners of the rotated rows, then the rotation that comes
    nearest to them (orthogonal Procrustes), in turns. The scale of the projections does not
    matter.

    Parameters
    ----------
    projections : ndarray of shape (n_samples, n_bits)
        Centred projections.
    start : ndarray of shape (n_bits, n_bits)
        Where to start, see :func:`random_rotation`.
    max_iter : int, default=50
        Most turns; it ends before when no bit changes.

    Returns
    -------
    rotation : ndarray of shape (n_bits, n_bits)
        The bits are the signs of ``projections @ rotation``.
    alignment : ndarray of shape (n_iter,)
        Mean of ``|projections @ rotation|`` before every turn. It never decreases.

    References
    ----------
    Y. Gong, S. Lazebnik, "Iterative quantization: a Procrustean approach to learning binary codes",
    CVPR 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.solvers.rotation import itq_rotation
    >>> corners = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> rotation, alignment = itq_rotation(corners, np.array([[0.8, 0.6], [-0.6, 0.8]]))
    >>> np.abs(corners @ rotation).round(3)[0]
    array([0.707, 0.707])
    """
    rotation, previous, alignment = start, None, []
    for _ in range(max_iter):
        rotated = projections @ rotation
        positive = rotated > 0
        if previous is not None and np.array_equal(positive, previous):
            break
        alignment.append(float(np.abs(rotated).mean()))
        corners = np.where(positive, 1.0, -1.0).astype(projections.dtype, copy=False)
        left, _, right = linalg.svd(projections.T @ corners, check_finite=False)
        rotation, previous = left @ right, positive
    return rotation, np.array(alignment)
