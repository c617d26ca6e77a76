"""Kernels with anchors and weights of anchor graphs, row by row, from the papers' formulas."""

import numpy as np


def squared_distance(a, b):
    return float(((np.asarray(a, float) - np.asarray(b, float)) ** 2).sum())


def mean_squared_distance(X, anchors):
    return np.mean([[squared_distance(x, a) for a in anchors] for x in X])


def kernels(X, training, anchors, gamma):
    """exp(-gamma d^2 / mean of d^2), minus their means over the training rows."""
    width = mean_squared_distance(training, anchors)

    def plain(rows):
        return np.array(
            [[np.exp(-gamma * squared_distance(x, a) / width) for a in anchors] for x in rows]
        )

    return plain(X) - plain(training).mean(axis=0)


def anchor_weights(X, training, anchors, n_nearest):
    """Weights of the nearest anchors, Liu et al., "Hashing with graphs", eq. 2."""

    def nearest(x):
        distances = [squared_distance(x, a) for a in anchors]
        return sorted(range(len(anchors)), key=lambda j: (distances[j], j))[:n_nearest], distances

    widths = []
    for x in training:
        near, distances = nearest(x)
        widths.append(np.sqrt(distances[near[-1]]))
    sigma = np.mean(widths)
    Z = np.zeros((len(X), len(anchors)))
    for i, x in enumerate(X):
        near, distances = nearest(x)
        for j in near:
            Z[i, j] = np.exp(-distances[j] / sigma**2)
        Z[i] /= Z[i].sum()
    return Z
