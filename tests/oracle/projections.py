"""Classical projection hashers, written out from the formulas of their papers."""

from fractions import Fraction

import numpy as np


def principal_directions(X, n):
    """Unit eigenvectors of the covariance, by descending variance, (n_features, n)."""
    centered = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.T @ centered / len(X))
    return vectors[:, np.argsort(-values, kind="stable")[:n]]


def spectral_codes(X, Z, n_bits):
    """Codes of rows Z of spectral hashing, fitted on X."""
    directions = principal_directions(X, min(n_bits, X.shape[1]))
    low, high = (X @ directions).min(axis=0), (X @ directions).max(axis=0)
    widths = high - low
    modes = []
    for i, width in enumerate(widths):
        n_modes = int(np.ceil((n_bits + 1) * width / widths.max()))
        modes += [(i, m) for m in range(1, n_modes)]
    modes.sort(key=lambda mode: (mode[1] * np.pi / widths[mode[0]]) ** 2)
    P = Z @ directions
    columns = [np.cos(m * np.pi * (P[:, i] - low[i]) / widths[i]) > 0 for i, m in modes[:n_bits]]
    return np.transpose(columns).astype(np.uint8)


def up_to_whole_bits(codes, other):
    """Share of bits that differ, where a bit may be flipped in all rows of both."""
    differ = np.mean(codes != other, axis=0)
    return np.minimum(differ, 1 - differ).mean()


def winner_codes(candidates, n_bits):
    """Codes of winner-take-all hashing, (n_rows, n_hashes, n_candidates) numbers."""
    n_digits = int(np.log2(candidates.shape[2]))
    codes = []
    for row in candidates:
        digits = "".join(
            np.binary_repr(hash_.tolist().index(max(hash_)), n_digits) for hash_ in row
        )
        codes.append([int(digit) for digit in digits[:n_bits]])
    return np.array(codes, dtype=np.uint8)


def distances(X, Z):
    """Euclidean distance of every pair of rows, (len(X), len(Z))."""
    return np.array([[np.sqrt(np.sum((x - z) ** 2)) for z in Z] for x in X])


def shift_invariant_codes(X, Z, normals, phases, thresholds, rows, neighbor):
    """Codes of rows Z of shift-invariant kernels; some rows of X measure distances."""
    nearest = np.sort(distances(X[rows], X), axis=1)[:, min(neighbor, len(X)) - 1]
    waves = np.sqrt(2) * np.cos(Z @ normals.T / nearest.mean() + phases)
    return (waves + np.sqrt(2) * thresholds > 0).astype(np.uint8)


def spheres(X, centers, max_iter=1000):
    """Centres and radii of spherical hashing, from given centres."""
    n, n_spheres = len(X), len(centers)
    centers = centers.copy()

    def statistics():
        D = np.linalg.norm(centers[:, None] - X, axis=2)
        radii = np.sort(D, axis=1)[:, int(n / 2 + 0.5) - 1]
        inside = (radii[:, None] >= D).astype(float)
        return radii, inside @ inside.T

    radii, shared = statistics()
    pairs = [(i, j) for i in range(n_spheres) for j in range(i + 1, n_spheres)]
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        forces = np.zeros_like(centers)
        for i, j in pairs:
            force = 0.5 * (shared[i, j] - n / 4) / (n / 4) * (centers[i] - centers[j])
            forces[i] += force / n_spheres
            forces[j] -= force / n_spheres
        centers += forces
        radii, shared = statistics()
        of_pairs = np.array([shared[pair] for pair in pairs])
        mean = np.mean(np.abs(of_pairs - n / 4))
        if mean <= 0.1 * n / 4 and np.std(of_pairs) <= 0.15 * n / 4:
            break
    return centers, radii, n_iter


def spherical_distance(a, b):
    """Spherical Hamming distance of two codes, as a fraction."""
    different, common = sum(a != b), sum(a & b)
    return Fraction(int(different)) / (int(common) + Fraction(1, 10))


def density_pairs(means, sizes, n, n_neighbors=3):
    """Pairs of clusters of density-sensitive hashing, the most even ones first."""
    D = distances(means, means)
    np.fill_diagonal(D, np.inf)
    candidates = {
        tuple(sorted((i, int(j))))
        for i in range(len(means))
        for j in np.argsort(D[i], kind="stable")[:n_neighbors]
    }
    scored = []
    for i, j in sorted(candidates, key=lambda pair: D[pair]):
        direction, middle = means[i] - means[j], (means[i] + means[j]) / 2
        above = sum(
            size for mean, size in zip(means, sizes) if mean @ direction > middle @ direction
        )
        below = sum(sizes) - above
        scored.append((min(above, below) / max(above, below), (i, j)))
    scored.sort(key=lambda pair: -pair[0])
    return [pair for _, pair in scored[:n]]


def sequential_directions(X, X_labelled, S, n, eta, step_size=1):
    """Directions of sequential semi-supervised hashing, (n_features, n); rows are centred."""
    X, S = X.copy(), S.copy()
    directions = []
    for _ in range(n):
        M = X.T @ X / len(X) + eta * X_labelled.T @ S @ X_labelled / len(X_labelled)
        w = np.linalg.eigh(M)[1][:, -1]
        products = np.outer(X_labelled @ w, X_labelled @ w)
        S -= step_size * products * (S * products < 0)
        X -= np.outer(X @ w, w)
        directions.append(w)
    return np.transpose(directions)
