"""KLSH, AGH, KSH and BRE from the papers' formulas, with whole matrices and without shortcuts."""

import numpy as np
from scipy import linalg


def klsh_weights(K, subsets):
    """sqrt((p - 1) / t) K^-1/2 e_S of the centred kernel matrix (Kulis & Grauman, eq. 10)."""
    p = len(K)
    H = np.eye(p) - np.ones((p, p)) / p
    values, vectors = np.linalg.eigh(H @ K @ H)
    inverse = np.diag([v**-0.5 if v > 1e-8 else 0.0 for v in values])
    root = vectors @ inverse @ vectors.T
    columns = []
    for subset in subsets:
        e = np.zeros(p)
        e[list(subset)] = 1
        columns.append(np.sqrt((p - 1) / len(subset)) * root @ e)
    return np.array(columns).T


def agh(Z, n_vectors):
    """Eigenvectors of Lambda^-1/2 Z^T Z Lambda^-1/2, and the thresholds of the second layer.

    Liu et al., "Hashing with graphs", eq. 8 and 12; Z has no column of zeros.
    """
    n = len(Z)
    sizes = Z.sum(axis=0)
    M = np.diag(sizes**-0.5) @ Z.T @ Z @ np.diag(sizes**-0.5)
    values, vectors = np.linalg.eigh(M)
    order = [i for i in np.argsort(-values) if 1e-10 < values[i] < 1 - 1e-3][:n_vectors]
    W = np.array([np.sqrt(n / values[i]) * np.diag(sizes**-0.5) @ vectors[:, i] for i in order]).T
    A = Z @ np.diag(1 / sizes) @ Z.T  # the adjacency of the rows
    thresholds = []
    for y in (Z @ W).T:
        positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
        # minimise the quadratic form of the Laplacian of f = y - b on either side, with sum zero
        L = np.eye(n) - A
        best = minimize_two_levels(L, y, positive, negative)
        thresholds.append(best)
    return values[order], W, np.array(thresholds).T


def minimize_two_levels(L, y, positive, negative):
    """(b+, b-) that minimise f^T L f, f = y - b+ or -y + b- on the two sides, with 1^T f = 0."""
    f0 = np.where(y > 0, y, -y)
    E = np.zeros((len(y), 2))
    E[positive, 0], E[negative, 1] = -1, 1
    ones = np.ones(len(y))
    # Lagrange: [E^T L E, E^T 1; 1^T E, 0] [b; m] = -[E^T L f0; 1^T f0]
    KKT = np.zeros((3, 3))
    KKT[:2, :2], KKT[:2, 2], KKT[2, :2] = E.T @ L @ E, E.T @ ones, ones @ E
    return np.linalg.solve(KKT, -np.concatenate([E.T @ L @ f0, [ones @ f0]]))[:2]


def ksh(K, S, n_bits, max_iter, tol):
    """Bits in turn: leading generalised eigenvector, then accelerated ascent (Liu et al.)."""
    n, _ = K.shape
    residual = n_bits * S.astype(float)
    A = []

    def phi(t):
        return np.tanh(t / 2)  # 2 / (1 + e^-t) - 1

    for _ in range(n_bits):
        _, vectors = linalg.eigh(K.T @ residual @ K, K.T @ K)
        a = vectors[:, -1] * np.sqrt(n) / np.linalg.norm(K @ vectors[:, -1])
        ascended = _ascend(K, residual, a, phi, max_iter, tol)
        candidates = [np.where(K @ w > 0, 1.0, -1.0) for w in (a, ascended)]
        if candidates[1] @ residual @ candidates[1] > candidates[0] @ residual @ candidates[0]:
            a, code = ascended, candidates[1]
        else:
            code = candidates[0]
        A.append(a)
        residual -= np.outer(code, code)
    return np.array(A).T


def _ascend(K, S, a, phi, max_iter, tol):
    def cost(w):
        return -phi(K @ w) @ S @ phi(K @ w)

    def gradient(w):  # of half the cost, with phi' = (1 - phi^2) / 2 twice
        return -K.T @ ((S @ phi(K @ w)) * (1 - phi(K @ w) ** 2))

    before, now = a, a
    deltas, beta, last = [0.0, 1.0], 1.0, cost(a)
    for t in range(max_iter):
        v = now + (deltas[t] - 1) / deltas[t + 1] * (now - before)
        for doubling in range(51):
            b = 2**doubling * beta
            z = v - gradient(v) / b
            bound = cost(v) + gradient(v) @ (z - v) + b * (z - v) @ (z - v) / 2
            if cost(z) <= bound:
                break
        else:
            return now
        beta, before, now = b, now, z
        deltas.append((1 + np.sqrt(1 + 4 * deltas[-1] ** 2)) / 2)
        change, last = abs(cost(z) - last), cost(z)
        if change / len(K) <= tol:
            break
    return now


def bre_loss(bits, pairs, targets):
    """Mean of half the squared errors; bits (n_bits, n_rows)."""
    distances = [np.mean(bits[:, i] != bits[:, j]) for i, j in pairs]
    return 0.5 * np.mean((np.array(distances) - targets) ** 2)


def bre_best_weight(K, basis, weights, bits, bit, place, pairs, targets):
    """Try the middle of every interval between critical values of one weight; full evaluation."""
    column = K[:, basis[bit][place]]
    rest = K[:, basis[bit]] @ weights[bit] - column * weights[bit][place]
    critical = np.sort(-rest / column)
    ends = [critical[0] - 1e-6], (critical[1:] + critical[:-1]) / 2, [critical[-1] + 1e-6]
    losses = []
    for weight in np.concatenate(ends):
        changed = bits.copy()
        changed[bit] = rest + weight * column > 0
        losses.append(bre_loss(changed, pairs, targets))
    return np.concatenate(ends)[np.argmin(losses)], min(losses)
