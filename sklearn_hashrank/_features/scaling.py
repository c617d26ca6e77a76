"""Choose the factor by which each feature is scaled before learning."""

import numpy as np

from .moments import Moments

# Log of the largest ratio of a deviation to the median one. 10 and 30 do equally well on pixels,
# GIST, network features and their principal components.
_LARGEST_RATIO = np.log(10)
# Features in another unit: their variance relative to that of all others, and their share.
_HIDING, _SHARE_OF_HIDING = 100, 0.1


def in_one_unit(deviations: np.ndarray) -> np.ndarray:
    """Deviations, all above zero, that the features would have if all were of one unit.

    A few features hide the others where each of them has more than 100 times the variance of all
    others together. They are then taken to be in another unit, and get the median deviation of the
    others. A few are one, or at most a tenth of the features. All other deviations are kept
    exactly: principal components, or many features beside noise, may differ as much as they like.
    """
    falling = np.argsort(-deviations, kind="stable")
    variances = (deviations[falling] / deviations[falling[0]]) ** 2
    of_smaller = variances[::-1].cumsum()[::-1][1:]
    most = max(1, int(_SHARE_OF_HIDING * len(deviations)))
    hides = variances[:-1][:most] > _HIDING * of_smaller[:most]
    if not hides.any():
        return deviations
    n_hiding = int(np.flatnonzero(hides)[-1]) + 1
    alike = deviations.copy()
    alike[falling[:n_hiding]] = np.median(deviations[falling[n_hiding:]])
    return alike


def feature_scales(moments: Moments) -> np.ndarray:
    """Scale of every centered feature. All linear learners take their scales from here.

    The deviations are brought to one unit by :func:`in_one_unit`. Then the deviation of a feature
    relative to the median deviation, r, becomes ``exp(L tanh(log(r) / L))`` with L = log(10). Near
    the median, deviations keep their ratios, as principal components need it, whose small ones are
    noise. Far from it they are held within a factor of 10. One common factor makes the mean
    variance 1. Features that vary by no more than rounding get the scale 0.
    """
    varies = moments.varies
    scales = np.zeros_like(moments.variance)
    if varies.any():
        deviations = np.sqrt(moments.variance[varies])
        alike = in_one_unit(deviations)
        relative = np.log(alike) - np.log(np.median(alike))
        kept = np.exp(_LARGEST_RATIO * np.tanh(relative / _LARGEST_RATIO))
        scales[varies] = kept / np.sqrt(np.mean(kept**2)) / deviations
    return scales


def distance_scales(moments: Moments, mixed_units: bool) -> np.ndarray:
    """Scale of every centered feature where distances or inner products of rows count.

    One scale for all makes their mean variance 1, so that distances keep their proportions;
    features that vary by no more than rounding get the scale 0. `mixed_units` says whether features
    may be of several units, which :func:`in_one_unit` tells from their deviations. Where they are
    not, the scales are those of False, to the last bit.
    """
    varies = moments.varies
    scales = np.zeros_like(moments.variance)
    if varies.any():
        deviations = np.sqrt(moments.variance[varies])
        alike = in_one_unit(deviations) if mixed_units else deviations
        largest = alike.max()
        size = largest * np.sqrt(np.mean((alike / largest) ** 2))
        scales[varies] = alike / deviations / size
    return scales
