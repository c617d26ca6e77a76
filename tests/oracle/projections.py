"""Classical projection hashers, written out from the formulas of their papers."""

import numpy as np


def principal_directions(X, n):
    """Unit eigenvectors of the covariance, by descending variance, (n_features, n)."""
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(X))
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
