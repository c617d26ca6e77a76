"""Compare the methods that suit some data on a sample of it: :func:`suggest`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._utils.parameters import is_int
from ..affinity._auto import affinity_of_all, affinity_to_learn_from, fit_affinity, is_auto
from ..affinity._learnable import check_can_learn
from ..affinity._neighbors import NeighborAffinity
from ..affinity._protocol import BaseAffinity
from ..model_selection._splits import RetrievalSplit
from ..model_selection._unseen import UnseenClassesSplit
from ._columns import name_measures
from ._compare import check_data, compare
from ._comparison import Comparison
from ._execution import Progress
from ._method_table import METHODS, SITUATIONS

_NEIGHBORS = 10
_SHARE_OF_QUERIES, _MOST_QUERIES, _FEWEST_ROWS = 0.2, 1000, 10
# The best by .02 on one of seven sets of two or three classes, and behind on five of the others.
_FEW_CLASSES, _OF_FEW_CLASSES = 3, ("lwh",)
# Rankings of the same bytes by queries that are not encoded, beside the Hamming ranking of codes.
_OF_NO_LABELS = ("talr-ndcg:distance=asymmetric", "autoencoder:distance=decoded")
_FEWEST_OF_A_NEW_CLASS = 3  # a query, and two that it can find


def suggest(
    X: Any,
    y: Any = None,
    *,
    n_bits: int = 32,
    new_classes: bool = False,
    methods: str | Iterable[str] | None = None,
    affinity: Any = "auto",
    measure: Any = None,
    max_rows: int = 3000,
    n_splits: int = 3,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare the methods that suit the data on a sample with held-out queries.

    :meth:`Comparison.best` says which one to take. The choice depends on the numbers of rows,
    methods and splits, and not on how busy the machine is.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        All rows. Training rows, database and queries are sampled from them.
    y : array-like with n_samples rows, default=None
        What relevance is computed from. None: hashers learn without it, and the ten nearest rows of
        `X` are relevant.
    n_bits : int, default=32
        Length of the codes.
    new_classes : bool, default=False
        Whether queries and database will be of classes that are not among the training rows. A
        third of the classes is then held out.
    methods : str or iterable of str, default=None
        The candidates, as for :func:`compare`. None: about five that suit the form of `y`.
        Candidates that do not support the data are skipped with a warning.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant.
    measure : str, default=None
        What decides, as for :func:`compare`. None: AP if relevance is yes or no, NDCG if it is
        graded, and ``"recall@10"`` without `y`.
    max_rows : int, default=3000
        Maximum number of training rows. The database holds as many others besides, if there are so
        many. With more training rows, the order of the methods may be another.
    n_splits : int, default=3
        How many times rows are sampled. Each split has a seed of its own, for the hashers, too.
    random_state : int, default=0
        Seed of the first split; the others follow.
    n_jobs : int, default=None
        Runs at a time, as for :func:`compare`.
    progress : callable, default=None
        Called as ``progress(result, n_done, n_runs)`` after each run; ``str(result)`` is a line.

    Returns
    -------
    comparison : Comparison
        Results of all runs; ``comparison.best()`` is the choice with its reason.

    See Also
    --------
    compare : Any methods at several code lengths, with a report.

    Notes
    -----
    :ref:`choose_a_method` says which method to start with, before anything is measured.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank.comparison import suggest
    >>> X, y = load_digits(return_X_y=True)
    >>> found = suggest(X, y, n_bits=16, max_rows=400, methods=["itq", "rsh"])
    >>> method, reason = found.best()
    >>> method
    'rsh'
    >>> hasher = found.hashers[method].set_params(n_bits=16).fit(X, y)
    """
    for name, value, least in (
        ("n_bits", n_bits, 1),
        ("max_rows", max_rows, 2),
        ("n_splits", n_splits, 1),
        ("random_state", random_state, 0),
    ):
        if not is_int(value, least):
            raise ValueError(f"{name} must be an int >= {least}. Got {value!r}.")
    if new_classes and y is None:
        raise ValueError("new_classes=True needs class labels or label paths. Got y=None.")
    X, y = check_data(X, y)
    if X.shape[0] < _FEWEST_ROWS:
        raise ValueError(
            f"suggest holds rows out as queries and needs at least {_FEWEST_ROWS} rows. "
            f"Got n_samples = {X.shape[0]}."
        )
    evaluated = _affinity(affinity, X, y)
    fitted = fit_affinity(evaluated, X if y is None else y)
    groups = None
    if y is not None:
        check_can_learn("suggest", fitted, y)
        groups = fitted.group(fitted.validate(y))[1]
    is_graded = y is not None and int(np.count_nonzero(fitted.levels_ > 0)) > 1
    if measure is None:
        measure = f"recall@{_NEIGHBORS}" if y is None else "ndcg" if is_graded else "ap"
    named = name_measures(measure)
    if len(named) != 1:
        raise ValueError(f"measure must be one measure. Got {', '.join(named)}.")
    situation = "no labels" if y is None else "grades" if is_graded else "classes"
    situation = "new classes" if new_classes else situation
    names = _candidates(situation, groups) if methods is None else methods
    comparison = compare(
        X,
        y,
        methods=names,
        n_bits=[n_bits],
        seeds=range(random_state, random_state + n_splits),
        protocol=SampledRows(max_rows, new_classes, groups),
        affinity=affinity if y is not None else evaluated,
        measures=named,
        skip_unsupported=True,
        n_jobs=n_jobs,
        progress=progress,
    )
    comparison.about["situation"] = SITUATIONS[situation]
    return comparison


@dataclass
class SampledRows:
    """Training rows, queries, and a database of both training rows and others."""

    max_rows: int
    new_classes: bool
    groups: Any
    random_state: Any = None

    def split(self, X: Any, y: Any) -> Iterator[RetrievalSplit]:
        sample = _sample_new_classes if self.new_classes else _sample
        yield sample(X, y, self.groups, self.max_rows, self.random_state)

    def __repr__(self) -> str:
        held_out = ", new classes" if self.new_classes else ""
        return f"at most {self.max_rows:,} training rows{held_out}, seed {self.random_state}"


def _affinity(affinity: Any, X: Any, y: Any) -> BaseAffinity:
    """Return the affinity to evaluate; without y the ten nearest rows, unless another is given."""
    if not is_auto(affinity):
        return affinity
    if y is not None:
        return affinity_of_all(affinity, y)
    learned = affinity_to_learn_from(affinity, X, None)  # knows which distance suits the rows
    return NeighborAffinity(min(_NEIGHBORS, X.shape[0] // 5), metric=learned.metric)


def _candidates(situation: str, groups: Any) -> list[str]:
    suited = {name: method.suits for name, method in METHODS.items()}
    names = [name + suits[situation] for name, suits in suited.items() if situation in suits]
    has_few = situation == "classes" and groups is not None and groups.max() < _FEW_CLASSES
    further = _OF_NO_LABELS if situation == "no labels" else _OF_FEW_CLASSES if has_few else ()
    return [*names, *further]


def _spaced(
    order: np.ndarray, n: int, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """`n` evenly spaced elements, and the others: of sorted rows a fair share of each class."""
    n = min(n, len(order))
    places = ((np.arange(n) + random_state.uniform()) * (len(order) / max(n, 1))).astype(int)
    is_taken = np.zeros(len(order), dtype=bool)
    is_taken[places] = True
    return order[is_taken], order[~is_taken]


def _sample(X: Any, y: Any, groups: Any, max_rows: int, seed: int) -> RetrievalSplit:
    """Queries, training rows, and a database of these and others, in proportion to the classes."""
    random_state = check_random_state(seed)
    order = random_state.permutation(X.shape[0])
    if groups is not None:
        order = order[np.argsort(groups[order], kind="stable")]
    n_queries = min(_MOST_QUERIES, max(1, round(_SHARE_OF_QUERIES * len(order))))
    query, others = _spaced(order, n_queries, random_state)
    train, others = _spaced(others, max_rows, random_state)
    more, _ = _spaced(others, max_rows, random_state)
    database = random_state.permutation(np.concatenate([train, more]))
    return RetrievalSplit(random_state.permutation(train), query, database)


def _sample_new_classes(X: Any, y: Any, groups: Any, max_rows: int, seed: int) -> RetrievalSplit:
    """Training rows of two thirds of the classes; queries and database of the others."""
    rows = np.arange(X.shape[0])
    if groups is not None:
        sizes = np.bincount(groups)
        rows = np.flatnonzero(sizes[groups] >= _FEWEST_OF_A_NEW_CLASS)
    if not rows.size:
        raise ValueError(
            f"new_classes=True needs classes of at least {_FEWEST_OF_A_NEW_CLASS} rows. "
            "Got none of so many."
        )
    sizes = np.bincount(np.unique(groups[rows], return_inverse=True)[1])
    n_queries = max(1, min(sizes.min() // 3, 3 * _MOST_QUERIES // len(sizes)))
    protocol = UnseenClassesSplit(n_queries=int(n_queries), random_state=seed)
    train, query, database = next(protocol.split(X, y[rows]))
    return RetrievalSplit(rows[train[:max_rows]], rows[query], rows[database[:max_rows]])
