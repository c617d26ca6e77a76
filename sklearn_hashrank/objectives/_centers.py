"""An objective of classes: each has a center, a code that its rows are pulled to."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse, special
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from ..affinity._labels import LabelAffinity, SharedLabelAffinity
from ..codes._class_codes import hadamard_codes
from ._base import BaseObjective


class Centers(BaseObjective):
    r"""Nearness of the scores to the centers of their classes: central similarity.

    Each class has a center, a code of a Hadamard matrix: any two differ in about half of the bits.
    Rows are compared with centers and not with each other, so that a batch of M rows costs M times
    the number of classes.

    With ``form="softmax"`` [1]_ it is the mean of the logarithm of a softmax of the cosines,

    .. math::
        \log \frac{e^{s (\cos(z, c_y) - m)}}
        {e^{s (\cos(z, c_y) - m)} + \sum_{k \neq y} e^{s \cos(z, c_k)}},

    where a row of several labels has the mean over these, and the margin m with each of them. With
    ``form="bits"`` [2]_ it is the mean over the bits of the logarithm of the probability
    :math:`1 / (1 + e^{-s z_j t_j})` that bit j is that of the center :math:`t`, less the weight of
    a quantization loss, :math:`\log\cosh(|2p_j - 1| - 1)`, times the number of bits. The center of
    several labels has the bits that most of their centers have, and those of one sampled code
    where as many have either. A row without labels gains nothing.

    Parameters
    ----------
    form : {"softmax", "bits"}, default="softmax"
        How scores are compared with centers.
    scale : float, default=8.0
        What cosines, or scores, are multiplied by.
    margin : float, default=0.2
        By how much the cosine with the own center must be larger; of ``"softmax"``.
    quantization : float, default=1e-4
        Weight of the quantization loss; of ``"bits"``.
    random_state : int, default=0
        Samples the order of the columns of the Hadamard matrix.

    References
    ----------
    .. [1] J. T. Hoe, K. W. Ng, T. Zhang, C. S. Chan, Y.-Z. Song, T. Xiang, "One loss for all: deep
       hashing with a single cosine similarity based learning objective", NeurIPS 2021.
    .. [2] L. Yuan, T. Wang, X. Zhang, F. E. H. Tay, Z. Jie, W. Liu, J. Feng, "Central similarity
       quantization for efficient image and video retrieval", CVPR 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import TALRLinear
    >>> from sklearn_hashrank.objectives import Centers
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = TALRLinear(16, objective=Centers(), max_iter=20, random_state=0)
    >>> bool(hasher.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.7)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "form": [StrOptions({"softmax", "bits"})],
        "scale": [Interval(Real, 0, None, closed="neither")],
        "margin": [Interval(Real, 0, None, closed="left")],
        "quantization": [Interval(Real, 0, None, closed="left")],
        "random_state": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        form: str = "softmax",
        *,
        scale: float = 8.0,
        margin: float = 0.2,
        quantization: float = 1e-4,
        random_state: int = 0,
    ):
        self.form = form
        self.scale = scale
        self.margin = margin
        self.quantization = quantization
        self.random_state = random_state

    def value_and_gradient(
        self, scores: np.ndarray, level: np.ndarray, levels: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Refuse levels of pairs, which do not tell which classes the rows have.

        Parameters
        ----------
        scores : ndarray of shape (M, n_bits)
            The real projections.
        level : ndarray of shape (M, M), unsigned
            Index into `levels` of every ordered pair.
        levels : ndarray of shape (n_levels,)
            The affinity levels.

        Returns
        -------
        value, gradient
            Never.
        """
        raise ValueError(
            "Centers learns from the classes of rows, which levels of pairs do not tell. Hashers "
            "give it the classes: TALRLinear(objective=Centers()).fit(X, y)."
        )

    def check_affinity(self, affinity: Any, guessed: bool) -> None:
        """Raise a ValueError unless relevance comes from class labels or label sets.

        Parameters
        ----------
        affinity : affinity object
            Fitted on the training rows.
        guessed : bool
            Whether it was chosen by the form of `y`.
        """
        if not isinstance(affinity, LabelAffinity | SharedLabelAffinity):
            raise ValueError(
                "Centers learns from class labels or label sets, which have centers. "
                f"Got {affinity!r}."
            )

    def bind(
        self, affinity: Any, y: Any
    ) -> Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray]]:
        """Return the objective of rows by their numbers.

        Parameters
        ----------
        affinity : LabelAffinity or SharedLabelAffinity
            Fitted.
        y : array-like with n_rows rows
            Class labels or label sets.

        Returns
        -------
        evaluate : callable ``(scores, rows) -> (value, gradient)``
        """
        self.check_affinity(affinity, False)
        classes = _Classes(affinity, y)
        by_cosines = self.form == "softmax"
        centers: dict[int, np.ndarray] = {}

        def evaluate(scores: np.ndarray, rows: np.ndarray) -> tuple[float, np.ndarray]:
            n_bits = scores.shape[1]
            if n_bits not in centers:
                centers[n_bits] = hadamard_codes(classes.n_classes, n_bits, self.random_state)
            of_classes = centers[n_bits].astype(scores.dtype)
            if by_cosines:
                return self._of_cosines(scores, of_classes, classes, rows)
            targets = self._targets(of_classes, classes, rows)
            known = classes.are_known(rows)
            value, gradient = self._of_bits(scores[known], targets[known])
            share = known.mean()
            found = np.zeros_like(scores)
            found[known] = gradient * scores.dtype.type(share)
            return value * float(share), found

        return evaluate

    def _of_cosines(self, scores, centers, classes, rows):
        number = scores.dtype.type
        n_rows, n_bits = scores.shape
        lengths = np.linalg.norm(scores, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        unit = scores / lengths
        cosines = unit @ centers.T / number(np.sqrt(n_bits))
        logits = cosines * number(self.scale)
        classes.add(logits, rows, -self.scale * self.margin)
        logits -= special.logsumexp(logits, axis=1, keepdims=True)
        value = classes.mean_of(logits, rows).mean()
        slopes = np.exp(logits, out=logits)
        slopes *= -classes.are_known(rows)[:, None].astype(scores.dtype)
        classes.add(slopes, rows, 1.0, is_mean=True)
        slopes *= number(self.scale / n_rows)
        along = np.einsum("ij,ij->i", slopes, cosines)[:, None]
        gradient = slopes @ centers / number(np.sqrt(n_bits)) - along * unit
        return float(value), gradient / lengths

    def _of_bits(self, scores, targets):
        if not len(scores):
            return 0.0, scores
        number = scores.dtype.type
        z = scores * number(self.scale)
        value = -np.logaddexp(0, -z * targets).mean()
        gradient = targets * special.expit(-z * targets) * number(self.scale / scores.size)
        if self.quantization:
            # 2p - 1 is the tanh of half of z; its distance from the nearest sign, softened.
            soft = np.tanh(z / 2)
            short = np.abs(soft) - 1
            weight = self.quantization / len(scores)
            value -= weight * np.log(np.cosh(short)).sum()
            slope = np.tanh(short) * np.sign(soft) * (1 - soft * soft)
            gradient -= number(weight * self.scale / 2) * slope
        return float(value), gradient

    def _targets(self, centers, classes, rows):
        votes = classes.sum_of(centers, rows)
        ties = votes == 0
        if ties.any():
            random_state = check_random_state(self.random_state)
            of_ties = 2.0 * random_state.randint(2, size=centers.shape[1]) - 1
            votes = np.where(ties, of_ties.astype(centers.dtype), votes)
        return np.sign(votes)


class _Classes:
    """The classes of all rows: their numbers, or an indicator of label sets."""

    def __init__(self, affinity: Any, y: Any):
        self._sets = None
        if isinstance(affinity, SharedLabelAffinity):
            self._sets = sparse.csr_array(y, dtype=np.float64, copy=True)
            self._sets.eliminate_zeros()
            self._sizes = np.diff(self._sets.indptr)
            self.n_classes = self._sets.shape[1]
        else:
            labels = affinity.validate(y)[:, 0]
            distinct, self._numbers = np.unique(labels, return_inverse=True)
            self.n_classes = len(distinct)

    def add(self, table: np.ndarray, rows: np.ndarray, value: float, is_mean: bool = False) -> None:
        """Add a number to the entries (M, n_classes) of the classes of each row."""
        at, classes = self._entries(rows)
        shares: Any = value
        if is_mean and self._sets is not None:
            shares = value / self._sizes[rows][at]
        table[at, classes] += shares

    def mean_of(self, table: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Mean of the entries of the classes of each row; 0 of a row that has none."""
        at, classes = self._entries(rows)
        sums = np.bincount(at, table[at, classes], minlength=len(rows))
        return sums if self._sets is None else sums / np.maximum(self._sizes[rows], 1)

    def sum_of(self, centers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        if self._sets is None:
            return centers[self._numbers[rows]]
        return np.asarray(self._sets[rows] @ centers, dtype=centers.dtype)

    def are_known(self, rows: np.ndarray) -> np.ndarray:
        return np.ones(len(rows), dtype=bool) if self._sets is None else self._sizes[rows] > 0

    def _entries(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self._sets is None:
            return np.arange(len(rows)), self._numbers[rows]
        some = self._sets[rows].tocoo()
        return some.coords
