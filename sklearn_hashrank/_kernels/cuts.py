"""Binary quadratic programs, one block of variables at a time, by the minimum cut of a graph.

The energy of z in {-1, +1} is the sum of a_ij z_i z_j over pairs and of l_i z_i. Inside of a block
no a_ij is positive, so that the best values of the block, with all others as they are, are the two
sides of a minimum cut: an edge of capacity -a_ij joins i and j, and one of capacity |u_i| joins i
to the source or to the sink, where u_i is l_i and the terms of the pairs that leave the block.

The flow is found by Dinic's algorithm: paths are short, for blocks are dense.
"""

import numpy as np

from ._jit import kernel


@kernel
def _find_levels(starts, ends, residual, terminal, level, queue):
    """Number nodes by their distance from the source; return whether the sink is reached."""
    tail, is_reached = 0, False
    for i in range(terminal.size):
        level[i] = -1
        if terminal[i] > 0:
            level[i] = 0
            queue[tail] = i
            tail += 1
    head = 0
    while head < tail:
        i = queue[head]
        head += 1
        if terminal[i] < 0:
            is_reached = True
        for edge in range(starts[i], starts[i + 1]):
            j = ends[edge]
            if residual[edge] > 0 and level[j] < 0:
                level[j] = level[i] + 1
                queue[tail] = j
                tail += 1
    return is_reached


@kernel
def _push_from(source, starts, ends, mates, residual, terminal, level, current, path):
    """Push flow from a node along shortest paths until there are none left."""
    depth, i = 0, source
    while terminal[source] > 0:
        if terminal[i] < 0:
            amount = min(terminal[source], -terminal[i])
            for step in range(depth):
                amount = min(amount, residual[path[step]])
            for step in range(depth):
                residual[path[step]] -= amount
                residual[mates[path[step]]] += amount
            terminal[source] -= amount
            terminal[i] += amount
            depth, i = 0, source
            continue
        is_stuck = True
        while current[i] < starts[i + 1]:
            edge = current[i]
            j = ends[edge]
            if residual[edge] > 0 and level[j] == level[i] + 1:
                path[depth] = edge
                depth += 1
                i = j
                is_stuck = False
                break
            current[i] += 1
        if is_stuck:
            if depth == 0:
                return
            depth -= 1
            i = ends[mates[path[depth]]]
            current[i] += 1


@kernel
def cut(starts, ends, mates, residual, terminal, level, queue, current):
    """Find a minimum cut; afterwards `level` is at least 0 on the side of the source.

    Parameters
    ----------
    starts : (n + 1,) int64, where the edges of each node start
    ends : (n_edges,) int64, the node that each edge leads to
    mates : (n_edges,) int64, the edge that leads back
    residual : (n_edges,) float64, capacities; overwritten
    terminal : (n,) float64, capacity from the source, or minus that to the sink; overwritten
    level, queue, current : (n,) int64, overwritten
    """
    path = np.empty(terminal.size, np.int64)
    while _find_levels(starts, ends, residual, terminal, level, queue):
        current[:] = starts[:-1]
        for i in range(terminal.size):
            if terminal[i] > 0:
                _push_from(i, starts, ends, mates, residual, terminal, level, current, path)


@kernel
def cut_blocks(indptr, indices, values, linear, block_starts, block_rows, order, signs):
    """Minimise the energy over one block after the other.

    Parameters
    ----------
    indptr : (n + 1,) int64, rows of the symmetric matrix of the a_ij
    indices : (n_stored,) int64, its columns, ascending in each row
    values : (n_stored,) float64, the a_ij; none is positive inside of a block
    linear : (n,) float64, the l_i
    block_starts : (n_blocks + 1,) int64
    block_rows : (n,) int64, the rows of each block, ascending
    order : (n_cuts,) int64, the blocks to cut, one after the other
    signs : (n,) float64 of -1 and +1, z; overwritten
    """
    n = linear.size
    place = np.full(n, -1)
    largest = 0
    for block in range(block_starts.size - 1):
        largest = max(largest, block_starts[block + 1] - block_starts[block])
    starts, terminal = np.zeros(largest + 1, np.int64), np.empty(largest)
    level, queue, current = (
        np.empty(largest, np.int64),
        np.empty(largest, np.int64),
        np.empty(largest, np.int64),
    )
    for block in order:
        rows = block_rows[block_starts[block] : block_starts[block + 1]]
        size, n_edges = rows.size, 0
        for k in range(size):
            place[rows[k]] = k
        for k in range(size):
            for a in range(indptr[rows[k]], indptr[rows[k] + 1]):
                n_edges += place[indices[a]] >= 0
        ends, mates = np.empty(n_edges, np.int64), np.empty(n_edges, np.int64)
        residual = np.empty(n_edges)
        edge = 0
        for k in range(size):
            starts[k] = edge
            u = linear[rows[k]]
            for a in range(indptr[rows[k]], indptr[rows[k] + 1]):
                other = place[indices[a]]
                if other < 0:
                    u += values[a] * signs[indices[a]]
                else:
                    ends[edge], residual[edge] = other, -values[a]
                    edge += 1
            terminal[k] = -u
        starts[size] = edge
        # Rows and columns ascend, so that the edges that lead to a node come in its own order.
        current[:size] = starts[:size]
        for k in range(size):
            for e in range(starts[k], starts[k + 1]):
                mates[e] = current[ends[e]]
                current[ends[e]] += 1
        cut(
            starts[: size + 1],
            ends,
            mates,
            residual,
            terminal[:size],
            level[:size],
            queue[:size],
            current[:size],
        )
        for k in range(size):
            signs[rows[k]] = 1.0 if level[k] >= 0 else -1.0
            place[rows[k]] = -1


@kernel
def add_products(indptr, indices, signs, sign, products):
    """Add the products of the signs of each stored pair to a number, or subtract them.

    Parameters
    ----------
    indptr : (n + 1,) int64
    indices : (n_stored,) int64
    signs : (n,) float64 of -1 and +1
    sign : 1.0 or -1.0
    products : (n_stored,) float64, changed
    """
    for i in range(signs.size):
        factor = sign * signs[i]
        for a in range(indptr[i], indptr[i + 1]):
            products[a] += factor * signs[indices[a]]
