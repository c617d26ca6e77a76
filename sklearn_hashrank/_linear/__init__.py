"""The space of features that linear hashers learn in.

How rows become features, and weights become hyperplanes::

    X --Moments--> mean, variance --FeatureSpace.of--> space
    X --space.transform--> rows inside --learner--> weights, offsets
    weights, offsets --space.fold--> components_, intercept_

``rows``
    The centred and scaled rows as a matrix, in blocks; sparse rows stay sparse. Their means and
    variances, which add up over blocks, and their principal directions. Refuses values whose
    variance cannot be represented.
``space``
    `FeatureSpace`: the rule by which features are scaled, whitening, and the way back.
"""

from .rows import (
    CenteredRows,
    Moments,
    column_means,
    combine_means,
    dense_if_small,
    fix_signs,
    leading_directions,
    leading_eigenpairs,
)
from .space import Basis, FeatureSpace, Hyperplanes, fit_into

__all__ = [
    "Basis",
    "CenteredRows",
    "FeatureSpace",
    "Hyperplanes",
    "Moments",
    "column_means",
    "combine_means",
    "dense_if_small",
    "fit_into",
    "fix_signs",
    "leading_directions",
    "leading_eigenpairs",
]
