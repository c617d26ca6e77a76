"""Binary autoencoders, one row, one bit and one whole vector at a time."""

import itertools

import numpy as np


def ridge_decoder(rows, signs, ridge):
    """Decoder and offset of least penalised error, the offset not penalised, by least squares."""
    n, n_bits = signs.shape
    ones = np.column_stack([signs, np.ones(n)])
    penalty = np.column_stack([np.sqrt(n * ridge) * np.eye(n_bits), np.zeros(n_bits)])
    targets = np.vstack([rows, np.zeros((n_bits, rows.shape[1]))])
    solution = np.linalg.lstsq(np.vstack([ones, penalty]), targets, rcond=None)[0]
    return solution[:n_bits], solution[n_bits]


def error(row, signs, decoder, offset):
    """Squared distance of a row from what its code decodes to."""
    return np.sum((row - signs @ decoder - offset) ** 2)


def descend(row, signs, decoder, offset):
    """Code of a row once no single bit lowers the error, and all errors on the way."""
    signs, errors = np.array(signs, dtype=float), [error(row, signs, decoder, offset)]
    while True:
        before = signs.copy()
        for bit in range(len(signs)):
            trials = []
            for value in (-1.0, 1.0):
                trial = signs.copy()
                trial[bit] = value
                trials.append((error(row, trial, decoder, offset), trial))
            signs = min(trials, key=lambda pair: pair[0])[1]
            errors.append(error(row, signs, decoder, offset))
        if np.array_equal(before, signs):
            return signs, errors


def best_code(row, decoder, offset):
    """The code of least error among all codes."""
    codes = itertools.product((-1.0, 1.0), repeat=len(decoder))
    return min(map(np.array, codes), key=lambda signs: error(row, signs, decoder, offset))
