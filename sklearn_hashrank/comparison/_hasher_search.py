"""A hasher whose codes are compared with rows, not with codes."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions

from .. import _kernels
from .._features.nearest_rows import half_squares, of_unit_length, products
from .._utils.documentation import HasPage
from ..codes._formats import bytes_to_words, unpack_codes
from ..metrics._retrieval import encode, unwrap
from ..neighbors._decoded_neighbors import DecodedNeighbors
from ..neighbors._hamming_neighbors import HammingNeighbors
from ._own_distance import OwnDistance, choose_metric

NEEDED = {"asymmetric": "decision_function", "decoded": "decoder_"}
"""Distances of codes from rows, and what a fitted hasher needs for them."""


class HasherSearch(HasPage, OwnDistance):
    """A hasher whose codes are compared with rows, not with codes, as a method of :func:`compare`.

    All items are ranked. Codes take the same bytes as those that Hamming distance ranks.

    Parameters
    ----------
    estimator : estimator
        A hasher, or a pipeline or search that ends in one.
    distance : {"asymmetric", "decoded"}, default="asymmetric"
        ``"asymmetric"``: the projections of the query on the bits of the codes, as in
        :class:`~sklearn_hashrank.HammingNeighbors`. ``"decoded"``: the query and what the
        codes decode to, as in :class:`~sklearn_hashrank.neighbors.DecodedNeighbors`, of a
        :class:`~sklearn_hashrank.BinaryAutoencoderHasher`.
    metric : {"auto", "cosine", "euclidean", "inner_product"}, default="auto"
        Distance to decoded rows. ``"auto"``: the distance by which `eval_affinity` finds what is
        relevant, if it compares rows; else the cosine.
    eval_affinity : "auto" or affinity object, default="auto"
        Relevance rule of the evaluation. ``"auto"``: the affinity of :func:`compare`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.
    metric_ : str
        The distance to decoded rows.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import BinaryAutoencoderHasher, NeighborAffinity
    >>> from sklearn_hashrank.comparison import HasherSearch, compare
    >>> X, _ = load_digits(return_X_y=True)
    >>> ba = BinaryAutoencoderHasher()
    >>> found = compare(
    ...     X[:600],
    ...     methods={"codes": ba, "decoded": HasherSearch(ba, "decoded")},
    ...     n_bits=[32],
    ...     seeds=1,
    ...     affinity=NeighborAffinity(10),
    ...     measures="recall@10",
    ... )
    >>> by_codes, by_decoder = (result.scores["recall@10"] for result in found.results)
    >>> bool(by_decoder > by_codes)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OwnDistance._parameter_constraints,
        "distance": [StrOptions(set(NEEDED))],
    }

    def __init__(
        self,
        estimator: Any,
        distance: str = "asymmetric",
        *,
        metric: str = "auto",
        eval_affinity: Any = "auto",
    ):
        self.estimator = estimator
        self.distance = distance
        self.metric = metric
        self.eval_affinity = eval_affinity

    def check_data(self, X: Any, y: Any = None) -> None:
        """Raise an error if the hasher does not support these rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like, default=None
            What the hasher learns from.
        """
        self._validate_params()
        if self.distance == "asymmetric" and self.metric != "auto":
            raise ValueError(
                "metric is the distance to decoded rows, and distance='asymmetric' decodes none. "
                f"Got metric={self.metric!r}."
            )
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            raise ValueError(
                "estimator must be a hasher, or a pipeline or search that ends in one. "
                f"Got {self.estimator!r}."
            )
        if sparse.issparse(X):
            raise ValueError(f"distance={self.distance!r} needs dense rows. Got a sparse X.")
        check = getattr(self.estimator, "check_data", None)
        if callable(check):
            check(X, y)

    def fit(self, X: Any, y: Any = None) -> "HasherSearch":
        """Fit a clone of the hasher.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like, default=None
            What the hasher learns from.

        Returns
        -------
        self : HasherSearch
        """
        self.check_data(X, y)
        self.metric_ = choose_metric(self.metric, self.eval_affinity, y)
        self.estimator_ = clone(self.estimator).fit(X, y)
        hasher = unwrap(self.estimator_)[1]
        if not hasattr(hasher, NEEDED[self.distance]):
            raise ValueError(
                f"distance={self.distance!r} needs a hasher with {NEEDED[self.distance]}. "
                f"{type(hasher).__name__} has none."
            )
        return self

    def index(self, X: Any) -> Any:
        """Index the codes of rows of a database.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Rows.

        Returns
        -------
        index : object
            With ``distances(queries)`` and ``nearest(queries, n_neighbors)``.
        """
        if self.distance == "decoded":
            return _DecodedCodes(self.estimator_, self.metric_, X)
        return _SignsOfProjections(self.estimator_, X)


class _CodesOfHasher:
    """Distances are computed once for equal codes, so that these tie whatever rounding does."""

    def __init__(self, estimator: Any, X: Any):
        self._before, self._hasher = unwrap(estimator)
        self._items = encode(estimator, X)
        self.item_bytes = float(self._items.codes.shape[1])
        self.n_bits = self._items.n_bits
        words = bytes_to_words(self._items.codes)
        firsts, _, self._number = _kernels.hamming.find_equal_rows(
            words, np.zeros(len(words), np.int32), len(words)
        )
        self._distinct = self._items.codes[firsts]

    def distances(self, X: Any) -> np.ndarray:
        return self._to_codes(self._rows(X), self._distinct)[:, self._number]

    def _rows(self, X: Any) -> Any:
        for transformer in self._before:
            X = transformer.transform(X)
        return X

    @abstractmethod
    def _to_codes(self, X: Any, codes: np.ndarray) -> np.ndarray:
        """Distance of every query to every code."""


class _SignsOfProjections(_CodesOfHasher):
    def __init__(self, estimator: Any, X: Any):
        super().__init__(estimator, X)
        n_items = len(self._items.codes)
        self._neighbors = HammingNeighbors(
            n_bits=self.n_bits, distance="asymmetric", n_candidates=n_items, n_jobs=1
        ).fit(self._items.codes)

    def _to_codes(self, X, codes):
        signs = unpack_codes(codes, self.n_bits, "signs").astype(np.float32)
        return -np.asarray(self._hasher.decision_function(X), dtype=np.float32) @ signs.T

    def nearest(self, X: Any, n_neighbors: int) -> np.ndarray:
        projections = self._hasher.decision_function(self._rows(X))
        found: np.ndarray = self._neighbors.kneighbors(projections, n_neighbors)[1]
        return found


class _DecodedCodes(_CodesOfHasher):
    def __init__(self, estimator: Any, metric: str, X: Any):
        super().__init__(estimator, X)
        self._neighbors = DecodedNeighbors(self._hasher, metric=metric, n_jobs=1)
        self._neighbors.fit(self._items.codes)
        if metric != "inner_product":
            self.item_bytes += self._neighbors.norms_.itemsize

    def _to_codes(self, X, codes):
        decoded = self._hasher.inverse_transform(codes)
        return _pairwise(self._neighbors.metric, X, decoded)

    def nearest(self, X: Any, n_neighbors: int) -> np.ndarray:
        found: np.ndarray = self._neighbors.kneighbors(
            self._rows(X), n_neighbors, return_distance=False
        )
        return found


def _pairwise(metric: str, queries: Any, rows: np.ndarray) -> np.ndarray:
    """What orders rows as a distance does: nearness with the sign turned."""
    queries = np.asarray(queries, dtype=np.float64)
    rows = np.asarray(rows, dtype=np.float64)
    if metric == "cosine":
        rows = of_unit_length(rows)
    return (half_squares(rows) if metric == "euclidean" else 0) - products(queries, rows)
