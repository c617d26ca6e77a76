"""What hashers have in common that learn from the relevance of rows to each other."""

from collections.abc import Callable
from typing import Any

from .._learning.relevance import check_two_rows
from ..affinity._auto import is_auto
from ..affinity._learnable import check_can_learn
from ..affinity._protocol import BaseAffinity


class LearnsFromRelevance:
    """Refuses rows whose relevance teaches nothing, and fits the affinity once.

    A subclass for which relevant means level > 0 says so (`_is_graded`).
    """

    _is_graded = True
    _sampled_by: str | None = None  # the parameter that says how many rows are compared
    affinity_: BaseAffinity
    _fit_affinity: Callable[..., BaseAffinity]

    def _check_training_data(self, X: Any, y: Any) -> None:
        check_two_rows(self, X)
        # Without y "auto" makes levels that differ, and all distances would take long to look at.
        if y is not None or not is_auto(getattr(self, "affinity", "auto")):
            self._fit_affinity_once(X, y)
            rows = X if y is None else y
            check_can_learn(type(self).__name__, self.affinity_, rows, self._is_graded)

    def _most_compared(self) -> int | None:
        return None if self._sampled_by is None else getattr(self, self._sampled_by)

    def _fit_affinity_once(self, X: Any, y: Any) -> None:
        """Set `affinity_`, unless the check of the training data has done so."""
        if not hasattr(self, "affinity_"):
            self.affinity_ = self._fit_affinity(X, y)
