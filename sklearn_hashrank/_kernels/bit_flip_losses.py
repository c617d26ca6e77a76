"""The loss of pairs of rows while one row after the other changes a bit."""

from ._jit import lean_kernel


@lean_kernel
def walk_flips(order, bits, distances, targets, neighbors, pairs, starts, scale, losses):
    """Loss after each of the flips of one bit of the rows in `order`, added to what `losses` holds.

    ``losses[k]`` becomes the change of ``0.5 * sum (scale * distance - target)^2`` over the pairs
    after the first k flips, ``losses[0] = 0``. The other rows of the pairs of row i, and the
    numbers of these pairs, stand in `neighbors` and `pairs` from ``starts[i]`` to
    ``starts[i + 1]``. `bits` and `distances` (of the pairs), int64, are changed in place.
    """
    change = 0.0
    losses[0] = 0.0
    for k in range(order.shape[0]):
        i = order[k]
        for place in range(starts[i], starts[i + 1]):
            pair = pairs[place]
            step = 1 - 2 * (bits[i] ^ bits[neighbors[place]])
            error = scale * distances[pair] - targets[pair]
            move = scale * step
            change += move * (error + 0.5 * move)
            distances[pair] += step
        bits[i] = 1 - bits[i]
        losses[k + 1] = change
