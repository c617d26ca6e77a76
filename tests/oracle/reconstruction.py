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


def decoded_by_tables(tables, codes):
    """The sum of the entries that each code names."""
    return np.array([sum(table[value] for table, value in zip(tables, code)) for code in codes])


def descend_by_tables(row, code, tables):
    """Set each part to the value of least error, the first of them, until none changes."""
    code = list(code)
    while True:
        before = list(code)
        for part, table in enumerate(tables):
            errors = []
            for value in range(len(table)):
                tried = [*code[:part], value, *code[part + 1 :]]
                errors.append(np.sum((row - decoded_by_tables(tables, [tried])[0]) ** 2))
            if min(errors) < errors[code[part]] - 1e-12:
                code[part] = int(np.argmin(errors))
        if code == before:
            return code


def penalized_error(rows, codes, tables, base, ridge):
    """Mean squared error, and the penalty of the difference from other tables."""
    left = rows - decoded_by_tables(tables, codes)
    return (np.sum(left**2) + ridge * np.sum((tables - base) ** 2)) / len(rows)
