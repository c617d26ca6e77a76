"""The likelihood of triplets: the relevant row is nearer than the irrelevant one."""

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from ... import _kernels
from ..._utils.threads import over_blocks
from .._base import BaseObjective
from .._products import inner_products, pull_back_products, quantization_error


class DTSH(BaseObjective):
    r"""Deep hashing with triplet labels: the likelihood of the triplets of a batch.

    The relaxed codes `u` are the scores themselves, and
    :math:`\theta_{qi} = \langle u_q, u_i \rangle / 2`. Every row `q` is a query. With a relevant
    row `p` and an irrelevant row `n` it makes a triplet, of log likelihood
    :math:`-\log(1 + e^{\theta_{qn} + m b - \theta_{qp}})` with the margin `m` and `b` bits [1]_.
    The objective is the mean over the queries of the mean over their triplets, less
    `regularization` times the mean of :math:`(u - \operatorname{sign} u)^2` over rows and bits.
    All triplets count. Queries that have none do not.

    Parameters
    ----------
    margin : float, default=0.25
        Wanted difference of the two :math:`\theta`, per bit.
    graded : bool, default=False
        Whether `p` is any row of a higher level than `n`, as where grades are to be ranked. False:
        only level > 0 counts, and `n` is of level 0.
    regularization : float, default=1.0
        Weight of the squared distance of the relaxed codes from -1 and +1, in the mean of a bit.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    References
    ----------
    .. [1] X. Wang, Y. Shi, K. M. Kitani, "Deep supervised hashing with triplet labels", ACCV 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import DTSH
    >>> scores = np.array([[1.0, 1.0], [1.0, 1.0], [-1.0, 1.0]])
    >>> level = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.uint8)
    >>> value, gradient = DTSH().value_and_gradient(scores, level, np.array([0.0, 1.0]))
    >>> round(value, 3)  # two queries with one triplet each: 1 - 0 is twice the margin
    -0.474
    """

    _parameter_constraints: ClassVar[dict] = {
        "margin": [Interval(Real, 0, None, closed="left")],
        "graded": ["boolean"],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [None, Integral],
    }

    learning_rates = {"sgd": 0.03}  # slopes of products grow with the scores

    def __init__(
        self,
        *,
        margin: float = 0.25,
        graded: bool = False,
        regularization: float = 1.0,
        n_jobs: int | None = None,
    ):
        self.margin = margin
        self.graded = graded
        self.regularization = regularization
        self.n_jobs = n_jobs

    def value_and_gradient(
        self, scores: np.ndarray, level: np.ndarray, levels: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Evaluate the objective of a batch and its gradient.

        Parameters
        ----------
        scores : ndarray of shape (M, n_bits)
            The real projections, float32 or float64, which are the relaxed codes.
        level : ndarray of shape (M, M), unsigned
            Index into `levels` for query q (row) and item i (column). The diagonal is ignored.
        levels : ndarray of shape (n_levels,)
            The affinity levels, ascending from 0. Relevant means level > 0, unless `graded`.

        Returns
        -------
        value : float
        gradient : ndarray of shape (M, n_bits)
            Its derivative by the scores.
        """
        n_rows, n_bits = scores.shape
        is_relevant = np.asarray(levels) > 0
        grades = np.cumsum(is_relevant) if self.graded else is_relevant.astype(np.intp)
        slope, losses = inner_products(scores, self.n_jobs), np.empty(n_rows)
        slope *= scores.dtype.type(0.5)

        def compare(rows):
            margin = float(self.margin * n_bits)
            _kernels.triplets.separate(slope, level, grades, margin, losses, rows.start, rows.stop)

        over_blocks(compare, n_rows, self.n_jobs)
        losses = losses[~np.isnan(losses)]
        n_queries = max(len(losses), 1)
        gradient = pull_back_products(scores, slope, self.n_jobs)
        gradient *= 0.5 / n_queries

        error, error_gradient = quantization_error(scores)
        gradient -= scores.dtype.type(self.regularization) * error_gradient
        return -float(losses.sum()) / n_queries - self.regularization * error, gradient
