"""What methods share that rank by a distance of their own, not by the Hamming distance of codes."""

from abc import abstractmethod
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

from .._features.nearest_rows import METRICS
from ..affinity._auto import is_auto
from ..affinity._euclidean import EuclideanAffinity
from ..affinity._neighbors import NeighborAffinity


class OwnDistance(BaseEstimator):
    """A method of :func:`compare` that ranks by a distance of its own.

    `eval_affinity` says which rows are relevant; ``"auto"`` becomes the affinity of the comparison.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "metric": [StrOptions({"auto", *METRICS})],
    }
    eval_affinity: Any

    @abstractmethod
    def index(self, X: Any) -> Any:
        """Index the rows of a database.

        The index has `n_bits`, the length of codes or eight for each byte of an item; `item_bytes`;
        ``distances(queries)``, to every item and infinite for items that are not found; and
        ``nearest(queries, n_neighbors)``, row indices as a user would ask for them.
        """


def choose_metric(metric: str, affinity: Any, y: Any) -> str:
    """Return the distance between rows that relevance rests on; the cosine for labels."""
    if metric != "auto":
        return metric
    if isinstance(affinity, NeighborAffinity):
        return affinity.metric
    compares_rows = y is None and (is_auto(affinity) or isinstance(affinity, EuclideanAffinity))
    return "euclidean" if compares_rows else "cosine"
