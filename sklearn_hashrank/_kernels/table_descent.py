"""Coordinate descent on the groups of bits of codes that reconstruct rows by tables."""

from ._jit import kernel


@kernel
def descend(fields, coupling, codes, max_sweeps):
    """Set every group in turn to the value that reconstructs its row best, until none changes.

    Parameters
    ----------
    fields : (n, n_groups * size) float64
        Products of the rows and the entries of all tables, less half of the squared length of the
        entry; -inf where no group may have the value. Written: the same for what is left of the
        row when the other groups are reconstructed, so that the largest of each group is its value
        where the sweeps have ended.
    coupling : (n_groups * size, n_groups * size) float64
        Products of the entries, zero within each table.
    codes : (n, n_groups) int64, the values to start from, written
    max_sweeps : int
    """
    n_groups = codes.shape[1]
    n_entries = fields.shape[1]
    size = n_entries // n_groups
    for i in range(codes.shape[0]):
        field, code = fields[i], codes[i]
        for m in range(n_groups):
            taken = coupling[m * size + code[m]]
            for k in range(n_entries):
                field[k] -= taken[k]
        for _ in range(max_sweeps):
            has_changed = False
            for m in range(n_groups):
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
