"""What hashers have in common that learn from the relevance of rows to each other."""

from collections.abc import Callable
from typing import Any

from ..affinity import BaseAffinity
from ..learning import check_two_rows


class LearnsFromRelevance:
    """Refuses rows whose relevance teaches nothing, and fits the affinity once.

    A subclass for which relevant means level > 0 says so (`_is_graded`).
    """

    _is_graded = True
    affinity_: BaseAffinity
    _check_can_learn: Callable[..., None]
    _fit_affinity: Callable[..., BaseAffinity]

    def _check_training_data(self, X: Any, y: Any) -> None:
        check_two_rows(self, X)
        if y is not None:  # distances between rows always differ, and take longer to look at
            self._fit_affinity_once(X, y)
            self._check_can_learn(y, graded=self._is_graded)

    def _fit_affinity_once(self, X: Any, y: Any) -> None:
        """Set `affinity_`, unless the check of the training data has done so."""
        if not hasattr(self, "affinity_"):
            self.affinity_ = self._fit_affinity(X, y)
