"""Grow boosted classification trees on features in bins, and sum their votes for rows.

Trees are flat arrays, one entry for each node: the feature it looks at, the threshold up to which
rows go left, its left child (the right one comes next; 0 for a leaf), and its value. A child is
numbered from the root of its tree.
"""

import numpy as np

from ._jit import kernel

_LARGEST_ODDS = 1e8  # of a tree without errors
_KEPT_MASS = 0.99  # of the weights; lighter rows are left out of a tree
_MOST_DRAWS = 3  # trees no better than chance in a row, then no more are tried


@kernel
def _next_random(state):
    """Advance a xorshift generator, an array of one uint64, and return a number below 2 ** 31."""
    x = state[0]
    # The shifts are those of Marsaglia's xorshift64, which has the full period.
    x = x ^ (x << np.uint64(13))
    x = x ^ (x >> np.uint64(7))
    x = x ^ (x << np.uint64(17))
    state[0] = x
    return np.int64(x >> np.uint64(33))


@kernel
def _best_split(columns, n_bins, rows, signed, weights, tried, n_tried, state, histogram):
    """Return the feature and the bin that tell targets apart best, and the gain; -1 for none."""
    n_features = columns.shape[0]
    total, mass = 0.0, 0.0
    for row in rows:
        total += signed[row]
        mass += weights[row]
    # Gains and masses up to this share are the rounding of sums of some thousand weights.
    best_feature, best_bin, best_gain = -1, -1, 1e-12 * mass
    for t in range(n_tried):
        other = t + _next_random(state) % (n_features - t)
        feature = tried[other]
        tried[other] = tried[t]
        tried[t] = feature
        bins, column = n_bins[feature], columns[feature]
        if bins < 2:
            continue
        for b in range(bins):
            histogram[b, 0] = 0.0
            histogram[b, 1] = 0.0
        for row in rows:
            b = column[row]
            histogram[b, 0] += signed[row]
            histogram[b, 1] += weights[row]
        left, left_mass = 0.0, 0.0
        for b in range(bins - 1):
            left += histogram[b, 0]
            left_mass += histogram[b, 1]
            right, right_mass = total - left, mass - left_mass
            if left_mass > 1e-12 * mass and right_mass > 1e-12 * mass:
                gain = left * left / left_mass + right * right / right_mass - total * total / mass
                if gain > best_gain:
                    best_feature, best_bin, best_gain = feature, b, gain
    return best_feature, best_bin


@kernel
def _partition(column, threshold, rows):
    """Put rows of bins up to a threshold in front, in place; return how many there are."""
    low, high = 0, rows.size - 1
    while low <= high:
        if column[rows[low]] <= threshold:
            low += 1
        else:
            rows[low], rows[high] = rows[high], rows[low]
            high -= 1
    return low


@kernel
def _grow(columns, n_bins, rows, signed, weights, depth, n_tried, few, tried, state, buffers, tree):
    """Grow a tree on some rows; return its number of nodes."""
    histogram, starts, stops, depths = buffers
    feature, cut, child, value = tree
    starts[0], stops[0], depths[0] = 0, rows.size, 0
    n_nodes, node = 1, 0
    while node < n_nodes:
        inside = rows[starts[node] : stops[node]]
        total, n_positive = 0.0, 0
        for row in inside:
            total += signed[row]
            n_positive += signed[row] > 0
        value[node] = 1.0 if total > 0 else -1.0
        feature[node], cut[node], child[node] = 0, 0, 0
        if depths[node] < depth and n_positive > few and inside.size - n_positive > few:
            found, threshold = _best_split(
                columns, n_bins, inside, signed, weights, tried, n_tried, state, histogram
            )
            if found >= 0:
                middle = starts[node] + _partition(columns[found], threshold, inside)
                feature[node], cut[node], child[node] = found, threshold, n_nodes
                starts[n_nodes], stops[n_nodes] = starts[node], middle
                starts[n_nodes + 1], stops[n_nodes + 1] = middle, stops[node]
                depths[n_nodes] = depths[n_nodes + 1] = depths[node] + 1
                n_nodes += 2
        node += 1
    return n_nodes


@kernel
def boost(columns, n_bins, targets, weights, n_trees, depth, n_tried, few, seed, arrays, scores):
    """Boost trees that vote: discrete AdaBoost.

    Parameters
    ----------
    columns : (n_features, n) uint8, the bin of each value
    n_bins : (n_features,) int64
    targets : (n,) float64 of -1 and +1
    weights : (n,) float64, not negative; overwritten
    n_trees : most trees
    depth : of a tree, at most
    n_tried : features that a node looks at, chosen at random
    few : a node with at most so many rows of either target is a leaf
    seed : positive
    arrays : written, one entry for each node: feature, bin and child int32, value float64
    scores : (n,) float64, written: the sum of the votes

    Returns
    -------
    sizes : (n_grown,) int64, nodes of each tree
    """
    features, cuts, children, values = arrays
    n = targets.size
    largest = features.size // n_trees
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(seed)
    for _ in range(8):
        _next_random(state)
    tried = np.arange(columns.shape[0])
    buffers = (
        np.empty((256, 2)),
        np.empty(largest, np.int64),
        np.empty(largest, np.int64),
        np.empty(largest, np.int64),
    )
    sizes = np.zeros(n_trees, np.int64)
    signed, votes = np.empty(n), np.empty(n)
    all_rows, is_kept = np.empty(n, np.int64), np.empty(n, np.bool_)
    scores[:] = 0.0
    weights /= weights.sum()
    n_grown, start, n_failed = 0, 0, 0
    while n_grown < n_trees and n_failed < _MOST_DRAWS:
        ascending = np.argsort(weights)
        for i in range(n):
            is_kept[i] = True
        n_kept, mass = n, weights[ascending[0]]
        while mass < 1 - _KEPT_MASS and n_kept > 1:
            is_kept[ascending[n - n_kept]] = False
            n_kept -= 1
            mass += weights[ascending[n - n_kept]]
        rows = all_rows[:n_kept]
        n_kept = 0
        for i in range(n):
            signed[i] = weights[i] * targets[i]
            if is_kept[i]:
                rows[n_kept] = i
                n_kept += 1
        stop = start + largest
        tree = features[start:stop], cuts[start:stop], children[start:stop], values[start:stop]
        n_nodes = _grow(
            columns, n_bins, rows, signed, weights, depth, n_tried, few, tried, state, buffers, tree
        )
        feature, cut, child, value = tree
        wrong = 0.0
        for i in range(n):
            node = 0
            while child[node]:
                node = child[node] + (columns[feature[node], i] > cut[node])
            votes[i] = value[node]
            if votes[i] != targets[i]:
                wrong += weights[i]
        if wrong >= 0.5 - 1e-9:
            n_failed += 1
            continue
        n_failed = 0
        vote = 0.5 * np.log((1 - wrong) / max(wrong, 1 / _LARGEST_ODDS))
        total = 0.0
        for i in range(n):
            scores[i] += vote * votes[i]
            weights[i] *= np.exp(-vote * targets[i] * votes[i])
            total += weights[i]
        weights /= total
        value[:n_nodes] *= vote
        sizes[n_grown] = n_nodes
        n_grown += 1
        start += n_nodes
    return sizes[:n_grown]


@kernel
def sum_votes(X, feature, threshold, child, value, tree_starts, bit_starts, scores):
    """Sum what the trees of each bit say of rows.

    Parameters
    ----------
    X : (n, n_features)
    feature, threshold, child, value : arrays of all nodes
    tree_starts : (n_trees,) int64, the root of each tree
    bit_starts : (n_bits + 1,) int64, the first tree of each bit
    scores : (n, n_bits) float64, written
    """
    few = 64  # rows that stay in the cache while all trees look at them
    for low in range(0, X.shape[0], few):
        high = min(X.shape[0], low + few)
        for bit in range(bit_starts.size - 1):
            for row in range(low, high):
                scores[row, bit] = 0.0
            for tree in range(bit_starts[bit], bit_starts[bit + 1]):
                root = tree_starts[tree]
                for row in range(low, high):
                    node = root
                    while child[node]:
                        is_right = not X[row, feature[node]] <= threshold[node]
                        node = root + child[node] + is_right
                    scores[row, bit] += value[node]
