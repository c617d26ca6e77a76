"""Average precision or NDCG, whichever the relevance asks for."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from .._base import BaseObjective
from ._average_precision import RELAXATIONS, AveragePrecision
from ._base import RankingObjective
from ._ndcg import NDCG


class AutoRanking(BaseObjective):
    """Average precision if there is one level of relevance, NDCG if there are several.

    It is what ``objective="auto"`` of hashers means, with parameters.

    Parameters
    ----------
    graded : bool or "auto", default="auto"
        True is NDCG, False average precision, for which every level above 0 is relevant. ``"auto"``
        is True if there are several levels above 0.
    relaxation : {"auto", "simplified", "arxiv", "cvpr", "exact"}, default="auto"
        How the measure is extended to soft counts. ``"auto"`` is the default of
        :class:`AveragePrecision`, ``"simplified"``, or of :class:`NDCG`, ``"exact"``.
    alpha : float, default=2.0
        Steepness of the relaxed codes ``tanh(alpha * scores)``, for scores of about unit variance.
        The arXiv version writes them as ``2 * sigmoid(a * scores) - 1``, with `a` twice this.
    alpha_end : float or None, default=None
        Steepness at the end of the training; it changes geometrically. None: it does not change.
    n_bins : int, "auto" or None, default="auto"
        Steps between the first and the last bin of the soft histogram. ``"auto"`` is the smaller
        of the number of bits and 16, or 64 when learning from nearest rows. None is one step per
        bit, as published.
    delta : float, default=1.0
        Half-width of the triangular bins, in bins.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import AutoRanking
    >>> AutoRanking(alpha=3.0).choose(np.array([0.0, 1.0]))
    AveragePrecision(alpha=3.0)
    >>> AutoRanking(alpha=3.0).choose(np.array([0.0, 1.0, 2.0]))
    NDCG(alpha=3.0)
    """

    _parameter_constraints: ClassVar[dict] = {
        **RankingObjective._parameter_constraints,
        "graded": [StrOptions({"auto"}), "boolean"],
        "relaxation": [StrOptions({"auto", *RELAXATIONS})],
    }

    def __init__(
        self,
        *,
        graded: bool | str = "auto",
        relaxation: str = "auto",
        alpha: float = 2.0,
        alpha_end: float | None = None,
        n_bins: int | str | None = "auto",
        delta: float = 1.0,
        n_jobs: int | None = None,
    ):
        self.graded = graded
        self.relaxation = relaxation
        self.alpha = alpha
        self.alpha_end = alpha_end
        self.n_bins = n_bins
        self.delta = delta
        self.n_jobs = n_jobs

    def choose(self, levels: np.ndarray) -> RankingObjective:
        """Return the objective for some levels of relevance.

        Parameters
        ----------
        levels : ndarray of shape (n_levels,)
            All affinity levels, 0 for irrelevant.

        Returns
        -------
        objective : AveragePrecision or NDCG
        """
        parameters: dict[str, Any] = self.get_params()
        graded = parameters.pop("graded")
        if graded == "auto":
            graded = np.count_nonzero(np.asarray(levels) > 0) > 1
        if self.relaxation == "auto":
            del parameters["relaxation"]
        return NDCG(**parameters) if graded else AveragePrecision(**parameters)

    def anneal(self, progress: float) -> None:
        """Change the steepness geometrically from `alpha` to `alpha_end`, if that is not None.

        Parameters
        ----------
        progress : float
            Share of the training that is done, from 0 to 1.
        """
        self._progress = progress

    def value_and_gradient(
        self, scores: np.ndarray, level: np.ndarray, levels: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Evaluate the objective of a batch and its gradient.

        Parameters
        ----------
        scores : ndarray of shape (M, n_bits)
            The real projections, float32 or float64.
        level : ndarray of shape (M, M), unsigned
            Index into `levels` for query q (row) and item i (column). The diagonal is ignored.
        levels : ndarray of shape (n_levels,)
            The affinity levels, ascending from 0, which decide between the two.

        Returns
        -------
        value : float
        gradient : ndarray of shape (M, n_bits)
            Its derivative by the scores.
        """
        chosen = self.choose(levels)
        if hasattr(self, "_progress"):
            chosen.anneal(self._progress)
        return chosen.value_and_gradient(scores, level, levels)
