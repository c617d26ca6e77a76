"""Linear support vector machines with squared hinges, one for each bit, all at once."""

from typing import Any

import numpy as np
from scipy import optimize


def fit_squared_hinges(
    rows: Any,
    signs: np.ndarray,
    alpha: float,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    *,
    max_iter: int = 50,
    tol: float = 1e-4,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Minimize :math:`\frac{\alpha}{2} |w|^2 + \frac{1}{n} \sum_i \max(0, 1 - z_i f_i)^2`.

    The problems of several bits do not depend on each other; they share their matrix products.
    `signs` (n, n_bits) holds the :math:`z_i` of each bit, and the f of a row x are ``x @ weights +
    offsets``. `start` is a pair of those, None for zeros. L-BFGS takes at most `max_iter` steps,
    and stops when no number of the gradient, a mean over rows, exceeds `tol`.
    """
    n, n_features = rows.shape
    n_bits = signs.shape[1]

    def split(flat):
        return flat[n_bits:].reshape(n_features, n_bits), flat[:n_bits]

    def value_and_gradient(flat):
        weights, offsets = split(flat)
        slack = np.maximum(0, 1 - signs * (rows @ weights + offsets))
        value = (slack**2).sum() / n + alpha / 2 * (weights**2).sum()
        slack *= signs
        slack *= -2 / n
        gradient = rows.T @ slack + alpha * weights
        return value, np.concatenate([slack.sum(axis=0), gradient.ravel()])

    if start is None:
        start = np.zeros((n_features, n_bits)), np.zeros(n_bits)
    found = optimize.minimize(
        value_and_gradient,
        np.concatenate([start[1], start[0].ravel()]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "gtol": tol},
    )
    return split(found.x)
