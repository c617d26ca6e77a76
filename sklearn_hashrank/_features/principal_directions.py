"""Find the directions in which rows vary most."""

import numpy as np
from numpy.random import RandomState
from scipy import linalg

from .centered_rows import CenteredRows

EXACT_FEATURES = 1024
"""Up to so many features, the covariance is formed."""
_OVERSAMPLES = 10  # directions beyond those wanted, as Halko et al. recommend
_SMALL = 128  # up to so many features, all eigenvectors are found faster than some


def leading_directions(
    rows: CenteredRows,
    n_directions: int,
    random_state: RandomState,
    *,
    n_iter: int = 7,
    exact_features: int = EXACT_FEATURES,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the directions of the largest variance.

    Returns variances (n_directions,), descending, and directions (n_features, n_directions). They
    are orthonormal, and the largest entry of each is positive. Up to `exact_features` features they
    are exact, from the covariance matrix, whose eigenvectors take cubic time, or from the rows
    where those are much fewer; beyond, they come from `n_iter` turns of randomized subspace
    iteration (Halko, Martinsson and Tropp 2011), which never forms the covariance matrix.
    """
    n_rows, n_features = rows.shape
    if n_features <= exact_features and n_directions <= n_rows < n_features / 2:
        rows.variances()  # refuses what squares cannot be taken of
        _, lengths, directions = linalg.svd(rows.to_dense(), full_matrices=False)
        return lengths[:n_directions] ** 2 / n_rows, fix_signs(directions[:n_directions].T)
    if n_features <= exact_features:
        return directions_of_covariance(rows.covariance(), n_directions)
    rows.variances()
    width = min(n_directions + _OVERSAMPLES, n_features)
    basis = random_state.standard_normal((n_features, width))
    for _ in range(n_iter):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    projections = rows @ basis
    variances, inner = leading_eigenpairs(projections.T @ projections / len(projections), width)
    directions = fix_signs(basis @ inner[:, :n_directions])
    return np.maximum(variances[:n_directions], 0), directions


def directions_of_covariance(
    covariance: np.ndarray, n_directions: int
) -> tuple[np.ndarray, np.ndarray]:
    """Find the directions of the largest variance from the covariance, as `leading_directions`."""
    few = n_directions < len(covariance) <= _SMALL
    driver = "evd" if few else "evr"
    variances, directions = leading_eigenpairs(covariance, n_directions, driver)
    return np.maximum(variances, 0), directions


def leading_eigenpairs(M: np.ndarray, n: int, driver: str = "evr") -> tuple[np.ndarray, np.ndarray]:
    """The `n` largest eigenvalues of a symmetric matrix, descending, and their eigenvectors.

    `driver` is that of :func:`scipy.linalg.eigh`; ``"evr"`` finds no others than those `n`.
    """
    size = len(M)
    if driver == "evr":
        values, vectors = linalg.eigh(M, subset_by_index=[size - n, size - 1])
    else:
        values, vectors = linalg.eigh(M, driver=driver)
        values, vectors = values[size - n :], vectors[:, size - n :]
    return values[::-1], fix_signs(vectors[:, ::-1])


def fix_signs(directions: np.ndarray) -> np.ndarray:
    """Columns turned so that the largest entry of each is positive."""
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    return directions * np.where(largest < 0, -1.0, 1.0)
