"""The spaces of features that hashers learn in.

How rows become features, and weights become hyperplanes::

    X --Moments--> mean, variance --FeatureSpace.of--> space
    X --space.transform--> rows inside --learner--> weights, offsets
    weights, offsets --space.fold--> components_, intercept_

How rows become features of anchors, which are some rows that all others are compared with::

    X --Anchors.random, Anchors.kmeans--> anchors
    X --anchors.squared_distances--> distances --KernelFeatures--> centred Gaussian kernels
                                               --AnchorWeights--> sparse weights of the nearest

Neither the scale nor the offset of the features matters to what is learned, and no square
overflows. Rows are compared with anchors block by block, so that the features of all rows are never
in memory at once.
"""

from ._anchor_weights import AnchorWeights
from ._anchors import Anchors
from ._blocks import block_slices, map_blocks
from ._centred_rows import CenteredRows, column_means, dense_if_small
from ._kernel_features import KernelFeatures, inverse_root
from ._moments import Moments, combine_means
from ._principal_directions import (
    EXACT_FEATURES,
    fix_signs,
    leading_directions,
    leading_eigenpairs,
)
from ._row_sums import RowSums, sum_rows
from ._settled import LinearScores, project, rounding_of_sums, settle, zero_tolerance
from ._space import Basis, FeatureSpace, Hyperplanes, check_n_directions, fit_into

__all__ = [
    "EXACT_FEATURES",
    "AnchorWeights",
    "Anchors",
    "Basis",
    "CenteredRows",
    "FeatureSpace",
    "Hyperplanes",
    "KernelFeatures",
    "LinearScores",
    "Moments",
    "RowSums",
    "block_slices",
    "check_n_directions",
    "column_means",
    "combine_means",
    "dense_if_small",
    "fit_into",
    "fix_signs",
    "inverse_root",
    "leading_directions",
    "leading_eigenpairs",
    "map_blocks",
    "project",
    "rounding_of_sums",
    "settle",
    "sum_rows",
    "zero_tolerance",
]
