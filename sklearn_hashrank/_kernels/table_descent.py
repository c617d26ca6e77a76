"""Coordinate descent on codes that reconstruct rows by the sum of one entry of each table."""

from ._jit import kernel


@kernel
def descend(fields, coupling, codes, max_sweeps):
    """Set every part in turn to the entry that reconstructs its row best, until none changes.

    Parameters
    ----------
    fields : (n, n_tables * size) float32
        Products of the rows and the entries of all tables, less half of the squared length of the
        entry. Written: the same for what is left of the row when the other tables are subtracted,
        so the largest of each table is its value once the sweeps have ended.
    coupling : (n_tables * size, n_tables * size) float32
        Products of the entries, zero within each table.
    codes : (n, n_tables) int64, the values to start from, written
    max_sweeps : int
    """
    n_tables = codes.shape[1]
    n_entries = fields.shape[1]
    size = n_entries // n_tables
    for i in range(codes.shape[0]):
        field, code = fields[i], codes[i]
        for m in range(n_tables):
            taken = coupling[m * size + code[m]]
            for k in range(n_entries):
                field[k] -= taken[k]
        for _ in range(max_sweeps):
            has_changed = False
            for m in range(n_tables):
                own = field[m * size : (m + 1) * size]
                best = code[m]
                for v in range(size):
                    if own[v] > own[best]:
                        best = v
                if best != code[m]:
                    taken, given = coupling[m * size + best], coupling[m * size + code[m]]
                    for k in range(n_entries):
                        field[k] -= taken[k] - given[k]
                    code[m] = best
                    has_changed = True
            if not has_changed:
                break
