"""Anchors: some rows that all others are compared with.

How rows become features of anchors::

    X --Anchors.random, Anchors.kmeans--> anchors
    X --anchors.squared_distances--> distances --KernelFeatures--> centred Gaussian kernels
                                               --AnchorWeights--> sparse weights of the nearest

``anchors``
    `Anchors`: rows or means of clusters, and the squared distances of dense or sparse rows from
    them, in a unit that belongs to the training rows. So nothing depends on the scale or the offset
    of the features, and no square overflows.
``kernels``
    `KernelFeatures`: Gaussian kernels with the anchors, of a width that follows the distances.
``weights``
    `AnchorWeights`: the weights of anchor graphs.
``blocks``
    Rows are compared block by block, so that features of all rows never stand in memory at once.
"""

from .anchors import Anchors
from .blocks import block_slices, map_blocks
from .kernels import KernelFeatures, inverse_root
from .weights import AnchorWeights

__all__ = [
    "AnchorWeights",
    "Anchors",
    "KernelFeatures",
    "block_slices",
    "inverse_root",
    "map_blocks",
]
