"""Additive quantizers, one row, one table and one whole vector at a time."""

import numpy as np


def decoded(tables, codes):
    """The sum of the entries that each code names."""
    return np.array([sum(table[value] for table, value in zip(tables, code)) for code in codes])


def error(row, code, tables):
    """Squared distance of a row from the entries that the beginning of a code names."""
    return np.sum((row - sum(table[value] for table, value in zip(tables, code))) ** 2)


def beam_search(row, tables, width):
    """Extend the beginnings of least error by all entries of the next table."""
    beginnings = [()]
    for table in tables:
        extended = [(*code, value) for code in beginnings for value in range(len(table))]
        beginnings = sorted(extended, key=lambda code: error(row, code, tables))[:width]
    return beginnings[0]


def descend(row, code, tables):
    """Set each part to the entry of least error, the first of them, until none changes."""
    code = list(code)
    while True:
        before = list(code)
        for part, table in enumerate(tables):
            errors = [
                error(row, [*code[:part], value, *code[part + 1 :]], tables)
                for value in range(len(table))
            ]
            if min(errors) < errors[code[part]] - 1e-12:
                code[part] = int(np.argmin(errors))
        if code == before:
            return code


def penalized_error(rows, codes, tables, ridge):
    """Squared error, and that of the rows of zeros that each entry counts as."""
    return np.sum((rows - decoded(tables, codes)) ** 2) + ridge * np.sum(tables**2)
