"""Likelihoods of pairs: similar with the logistic probability of their inner product."""

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from ..._utils.threads import over_blocks
from .._base import BaseObjective
from .._products import inner_products, pull_back_products, quantization_error


class DPSH(BaseObjective):
    r"""Deep pairwise-supervised hashing: the likelihood of the pairs of a batch.

    The relaxed codes `u` are the scores themselves. A pair is relevant with probability
    :math:`1 / (1 + e^{-\theta})`, :math:`\theta = \langle u_i, u_j \rangle / 2` [1]_. The objective
    is the mean log likelihood of all ordered pairs of different rows, less `regularization` times
    the mean of :math:`(u - \operatorname{sign} u)^2` over rows and bits.

    Parameters
    ----------
    regularization : float, default=0.1
        Weight of the squared distance of the relaxed codes from -1 and +1, in the mean of a bit.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    References
    ----------
    .. [1] W.-J. Li, S. Wang, W.-C. Kang, "Feature learning based deep supervised hashing with
       pairwise labels", IJCAI 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import DPSH
    >>> scores = np.array([[1.0, 1.0], [1.0, 1.0], [-1.0, 1.0]])
    >>> level = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.uint8)
    >>> value, gradient = DPSH().value_and_gradient(scores, level, np.array([0.0, 1.0]))
    >>> round(value, 3)  # (log(1 / (1 + 1/e)) + 2 log(1/2)) / 3
    -0.567
    """

    _parameter_constraints: ClassVar[dict] = {
        "regularization": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [None, Integral],
    }

    learning_rates = {"sgd": 0.03}  # slopes of products grow with the scores

    def __init__(self, *, regularization: float = 0.1, n_jobs: int | None = None):
        self.regularization = regularization
        self.n_jobs = n_jobs

    def value_and_gradient(
        self, scores: np.ndarray, level: np.ndarray, levels: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Evaluate the objective of a batch and its gradient.

        Parameters
        ----------
        scores : ndarray of shape (M, n_bits)
            The real projections, float32 or float64.
        level : ndarray of shape (M, M), unsigned
            Index into `levels` of every ordered pair. The diagonal is ignored.
        levels : ndarray of shape (n_levels,)
            The affinity levels, ascending from 0. Relevant means level > 0.

        Returns
        -------
        value : float
        gradient : ndarray of shape (M, n_bits)
            Its derivative by the scores.
        """
        weights = np.full(len(levels), 1 / max(len(scores) * (len(scores) - 1), 1))
        value, gradient = _log_likelihood(scores, level, levels, 0.5, weights, self.n_jobs)
        error, error_gradient = quantization_error(scores)
        gradient -= scores.dtype.type(self.regularization) * error_gradient
        return value - self.regularization * error, gradient


class HashNet(BaseObjective):
    r"""The balanced likelihood of the pairs of a batch, for codes that approach signs.

    The relaxed codes are :math:`u = \tanh(\alpha s)` of the scores `s`. A pair is relevant with
    probability :math:`1 / (1 + e^{-\theta})`, :math:`\theta = c \langle u_i, u_j \rangle / b` with
    the `scale` `c` and `b` bits. The objective is the mean log likelihood of the relevant pairs
    plus that of the others, so that both weigh the same however rare relevant pairs are. The
    steepness grows during training, so that the relaxed codes become the codes themselves [1]_.

    Parameters
    ----------
    alpha : float, default=1.0
        Steepness of the relaxed codes at the start, for scores of about unit variance.
    alpha_end : float or None, default=3.0
        Steepness at the end of the training. Its square grows in proportion to the share of the
        training that is done. None: it does not change.
    scale : float, default=5.0
        What the mean product of the bits of two rows is multiplied by.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    Attributes
    ----------
    alpha_ : float
        Steepness of the relaxed codes now: `alpha`, or what :meth:`anneal` has made of it.

    References
    ----------
    .. [1] Z. Cao, M. Long, J. Wang, P. S. Yu, "HashNet: deep learning to hash by continuation",
       ICCV 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import HashNet
    >>> scores = np.array([[9.0, 9.0], [9.0, 9.0], [-9.0, 9.0]])
    >>> level = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.uint8)
    >>> objective = HashNet(scale=1.0)
    >>> value, gradient = objective.value_and_gradient(scores, level, np.array([0.0, 1.0]))
    >>> round(value, 3)  # log(1 / (1 + 1/e)) + log(1/2)
    -1.006
    """

    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "alpha_end": [None, Interval(Real, 0, None, closed="neither")],
        "scale": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        alpha_end: float | None = 3.0,
        scale: float = 5.0,
        n_jobs: int | None = None,
    ):
        self.alpha = alpha
        self.alpha_end = alpha_end
        self.scale = scale
        self.n_jobs = n_jobs

    @property
    def alpha_(self) -> float:
        """Steepness of the relaxed codes now."""
        return self.__dict__.get("_annealed_alpha", self.alpha)

    def anneal(self, progress: float) -> None:
        """Let the square of the steepness grow evenly from that of `alpha` to that of `alpha_end`.

        Parameters
        ----------
        progress : float
            Share of the training that is done, from 0 to 1.
        """
        self._annealed_alpha = self.alpha
        if self.alpha_end is not None:
            start, end = self.alpha**2, self.alpha_end**2
            self._annealed_alpha = float(np.sqrt(start + progress * (end - start)))

    def value_and_gradient(
        self, scores: np.ndarray, level: np.ndarray, levels: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Evaluate the objective of a batch and its gradient.

        Parameters
        ----------
        scores : ndarray of shape (M, n_bits)
            The real projections, float32 or float64.
        level : ndarray of shape (M, M), unsigned
            Index into `levels` of every ordered pair. The diagonal is ignored.
        levels : ndarray of shape (n_levels,)
            The affinity levels, ascending from 0. Relevant means level > 0.

        Returns
        -------
        value : float
        gradient : ndarray of shape (M, n_bits)
            Its derivative by the scores.
        """
        with np.errstate(over="ignore"):  # an infinite score is a saturated bit
            codes = np.tanh(scores * scores.dtype.type(self.alpha_))
        relevant = np.asarray(levels) > 0
        n_pairs = len(scores) * (len(scores) - 1)
        n_relevant = int(relevant[level].sum() - relevant[level.diagonal()].sum())
        weights = np.where(relevant, 1 / max(n_relevant, 1), 1 / max(n_pairs - n_relevant, 1))
        slope = self.scale / scores.shape[1]
        value, gradient = _log_likelihood(codes, level, levels, slope, weights, self.n_jobs)
        gradient *= 1 - codes * codes
        gradient *= scores.dtype.type(self.alpha_)
        return value, gradient


def _log_likelihood(codes, level, levels, scale, weights, n_jobs):
    """Return the weighted log likelihood of the pairs, and its gradient to the codes.

    A pair of level v has the weight ``weights[v]``, and ``scale`` times its inner product is the
    logarithm of the odds of its being relevant. Nobody is paired with itself.
    """
    number = codes.dtype.type
    slope = inner_products(codes, n_jobs)
    relevant = (np.asarray(levels) > 0).astype(codes.dtype)
    weights = np.asarray(weights, codes.dtype)
    values = np.empty(len(codes))

    def likelihood(rows):
        theta = slope[rows]
        theta *= number(scale)
        is_relevant, weight = relevant[level[rows]], weights[level[rows]]
        weight[np.arange(len(theta)), np.arange(rows.start, rows.stop)] = 0
        rest = np.exp(-np.abs(theta))
        values[rows] = np.einsum(
            "ij,ij->i", weight, is_relevant * theta - np.maximum(theta, 0) - np.log1p(rest)
        )
        probability = np.where(theta >= 0, number(1), rest) / (1 + rest)
        np.multiply(is_relevant - probability, weight, out=theta)

    over_blocks(likelihood, len(codes), n_jobs)
    gradient = pull_back_products(codes, slope, n_jobs)
    gradient *= number(scale)
    return float(values.sum()), gradient
