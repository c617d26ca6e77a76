"""Scorers: a fitted hasher and rows in, measures of its retrieval out."""

import pickle
import warnings
import weakref
from collections.abc import Mapping
from functools import partial
from typing import Any

import joblib
import numpy as np

from ..codes import pack_codes
from ..histogram import RetrievalHistogram, retrieval_histogram
from ..measures import (
    ConfiguredMeasure,
    Measure,
    configure_measure,
    get_measure,
    list_measures,
    mean_score,
)

# Fitted attributes of hashers that no code depends on, and that may be large.
_NOT_FOR_ENCODING = {"codes_", "y_", "affinity", "affinity_"}


def make_retrieval_scorer(
    metric: Any,
    *,
    database: Any = "self",
    affinity: Any = "auto",
    n_jobs: int | None = None,
    **options: Any,
) -> "RetrievalScorer":
    """Make a scorer that encodes rows once, retrieves, and measures the ranking.

    Unlike :func:`sklearn.metrics.make_scorer` it judges by the affinity that the hasher was fitted
    with, can retrieve from the training rows or from a database of its own, needs no `y` where
    the hasher had none, and gives several metrics from one encoding and one histogram.

    Parameters
    ----------
    metric : str, callable, list or dict
        A function of :mod:`sklearn_hashrank.metrics` whose values are averaged over queries, its
        short name (:func:`get_retrieval_scorer_names`), or a :func:`functools.partial` of it with
        options of its own. With a list of these the scorer returns a dict by their short
        names, with a dict one by its keys.
    database : "self", "fit" or tuple (X, y), default="self"
        What the scored rows retrieve. ``"self"``: each other. ``"fit"``: the rows that the hasher
        was trained on, which it keeps as `codes_` and `y_`. ``(X, y)``: these rows, encoded
        once for each fitted estimator; `y` may be None.
    affinity : "auto" or affinity object, default="auto"
        What is relevant. ``"auto"`` is what the hasher was fitted with, found through pipelines
        and searches; for other estimators it depends on the form of `y`. An unfitted object
        is fitted on the rows of the database.
    n_jobs : int, default=None
        Threads over queries.
    **options : dict
        Keywords of the metric, such as `k`, `ties` or `zero_division`. Each goes to every metric
        that knows it.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y=None)``, a float or a dict of floats. It can be pickled.

    See Also
    --------
    sklearn_hashrank.model_selection.cross_validate_retrieval : Queries of one fold against all
        other rows.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.metrics import make_retrieval_scorer, tie_aware_precision_score
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = LSHHasher(n_bits=32, random_state=0).fit(X[200:], y[200:])
    >>> make_retrieval_scorer("ap", database="fit")(hasher, X[:200], y[:200]) > 0.4
    True
    >>> scorer = make_retrieval_scorer(
    ...     {"AP": "ap", "P@10": partial(tie_aware_precision_score, k=10)}
    ... )
    >>> sorted(scorer(hasher, X[:200], y[:200]))
    ['AP', 'P@10']
    """
    return RetrievalScorer(metric, database, affinity, n_jobs, options)


def get_retrieval_scorer(name: str) -> "RetrievalScorer":
    """Scorer of one metric where every row retrieves all the others.

    Parameters
    ----------
    name : str
        One of :func:`get_retrieval_scorer_names`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y=None)``, a float.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import get_retrieval_scorer
    >>> get_retrieval_scorer("ap")
    make_retrieval_scorer('ap')
    """
    if not isinstance(name, str):
        raise ValueError(f"name must be one of {get_retrieval_scorer_names()}. Got {name!r}.")
    return make_retrieval_scorer(name)


def get_retrieval_scorer_names() -> list[str]:
    """Short names of all metrics that make a scorer.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> from sklearn_hashrank.metrics import get_retrieval_scorer_names
    >>> "ndcg" in get_retrieval_scorer_names()
    True
    """
    return sorted(measure.short_name for measure in list_measures())


class RetrievalScorer:
    """What :func:`make_retrieval_scorer` returns; its parameters are described there."""

    def __init__(
        self, metric: Any, database: Any, affinity: Any, n_jobs: int | None, options: dict
    ):
        self._metrics = _named_metrics(metric, options)
        self.is_single = not isinstance(metric, (list, tuple, Mapping))
        is_pair = isinstance(database, (tuple, list)) and len(database) == 2
        if not is_pair and not (isinstance(database, str) and database in ("self", "fit")):
            raise ValueError(
                f"database must be 'self', 'fit' or a tuple (X, y). Got {database!r} instead."
            )
        self.database, self.affinity, self.n_jobs = database, affinity, n_jobs
        self._encoded: Any = weakref.WeakKeyDictionary()

    @property
    def names(self) -> list[str]:
        """Names of the metrics."""
        return list(self._metrics)

    def with_database(self, database: Any) -> "RetrievalScorer":
        """Return a scorer of the same metrics that retrieves from another database."""
        other = object.__new__(type(self))
        other.__setstate__({**self.__getstate__(), "database": database})
        return other

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float | dict[str, float]:
        """Score a fitted estimator.

        Parameters
        ----------
        estimator : object
            A fitted hasher, or a pipeline or a search that ends in one. Any estimator whose
            ``predict`` gives codes will do.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Queries.
        y : array-like with n_samples rows, default=None
            What the affinity compares. None: the rows as the hasher sees them.

        Returns
        -------
        score : float or dict of float
        """
        histogram = self._histogram(estimator, X, y)
        warn_if_all_is_relevant(histogram, stacklevel=3)
        scores = {
            name: mean_score(histogram.measure(measure), stacklevel=3)
            for name, measure in self._metrics.items()
        }
        return next(iter(scores.values())) if self.is_single else scores

    def _histogram(self, estimator: Any, X: Any, y: Any) -> RetrievalHistogram:
        before, hasher = take_apart(estimator)
        codes, n_bits, rows = encode(before, hasher, X)
        is_auto = isinstance(self.affinity, str) and self.affinity == "auto"
        affinity, y = ground_truth(None if is_auto else self.affinity, hasher, rows, y)
        exclude_self = isinstance(self.database, str) and self.database == "self"
        if isinstance(affinity, str) and getattr(hasher, "_fitted_without_y", False):
            self._check_labelled(hasher)
        if exclude_self:
            database = codes, y
        elif isinstance(self.database, str):
            database = training_codes(hasher)
        else:
            database = self._encoded_database(estimator, before, hasher)
        needs_codes = any(each.measure.needs_codes for each in self._metrics.values())
        return retrieval_histogram(
            codes,
            database[0],
            y,
            database[1],
            affinity=affinity,
            n_bits=n_bits,
            exclude_self=exclude_self,
            n_jobs=self.n_jobs,
            **({"keep_codes": True} if needs_codes else {}),
        )

    def _check_labelled(self, hasher: Any) -> None:
        """Labels of the queries can only be compared with labels of the database."""
        if isinstance(self.database, str):
            missing = self.database == "fit"
        else:
            missing = self.database[1] is None
        if missing:
            raise ValueError(
                "the queries come with labels, and the database without: this "
                f"{type(hasher).__name__} was fitted without y. Pass database=(X, y), or fit "
                "with y."
            )

    def _encoded_database(self, estimator: Any, before: list, hasher: Any) -> tuple:
        """Codes and `y` of the database, encoded anew only when the estimator has changed."""
        state = _fingerprint(estimator, before, hasher)
        if state is not None and self._encoded.get(estimator, (None,))[0] == state:
            return self._encoded[estimator][1]
        X, y = self.database
        codes, _, rows = encode(before, hasher, X)
        database = codes, rows if y is None else y
        if state is not None:
            self._encoded[estimator] = state, database
        return database

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_encoded"}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._encoded = weakref.WeakKeyDictionary()

    def __deepcopy__(self, memo):
        return self  # it does not change, and a clone of a search need not copy the database

    def __repr__(self) -> str:
        calls = {
            name: (each.measure.short_name, [f"{k}={v!r}" for k, v in each.given.items()])
            for name, each in self._metrics.items()
        }
        if self.is_single:
            [(short_name, arguments)] = calls.values()
            arguments = [repr(short_name), *arguments]
        else:
            metrics = (f"{n!r}: {short}({', '.join(o)})" for n, (short, o) in calls.items())
            arguments = ["{" + ", ".join(metrics) + "}"]
        if self.database != "self":
            named = isinstance(self.database, str)
            arguments.append("database=" + (repr(self.database) if named else "(X, y)"))
        if self.affinity != "auto":
            arguments.append(f"affinity={self.affinity!r}")
        if self.n_jobs is not None:
            arguments.append(f"n_jobs={self.n_jobs!r}")
        return f"make_retrieval_scorer({', '.join(arguments)})"


def warn_if_all_is_relevant(histogram: RetrievalHistogram, stacklevel: int = 2) -> None:
    """Warn when every item is relevant to every query, so that any code is perfect."""
    if histogram.counts.any() and not histogram.counts[:, histogram.levels == 0].any():
        warnings.warn(
            "Every pair of rows is relevant, so that any code has a perfect score. Score rows "
            "of several classes; with cross-validation, shuffle rows that are sorted by class.",
            UserWarning,
            stacklevel=stacklevel,
        )


def _named_metrics(metric: Any, shared: Mapping[str, Any]) -> dict[str, ConfiguredMeasure]:
    """Map the name of each metric to its measure and options."""
    if isinstance(metric, Mapping):
        found = {name: _find(one) for name, one in metric.items()}
    else:
        pairs = list(map(_find, metric if isinstance(metric, (list, tuple)) else [metric]))
        found = {measure.short_name: (measure, own) for measure, own in pairs}
        if len(found) < len(pairs):
            raise ValueError(
                "metric holds one metric twice. Name them with a dict, such as "
                "{'P@1': ..., 'P@10': ...}."
            )
    if not found or not all(isinstance(name, str) for name in found):
        raise ValueError(f"metric must hold at least one metric, named by a str. Got {metric!r}.")
    known = {option for measure, _ in found.values() for option in measure.parameters}
    configured = {}
    for name, (measure, own) in found.items():
        # What no metric knows goes to all, so that the error names it.
        accepted = {
            option: value
            for option, value in shared.items()
            if option in measure.parameters or option not in known
        }
        configured[name] = configure_measure(measure, **accepted | own)
    return configured


def _find(metric: Any) -> tuple[Measure, dict[str, Any]]:
    """Return the measure of a metric, and the options that come with it."""
    if isinstance(metric, partial) and not metric.args:
        return get_measure(metric.func), metric.keywords
    return get_measure(metric), {}


def take_apart(estimator: Any) -> tuple[list, Any]:
    """Return what comes before the hasher inside of searches and pipelines, and the hasher."""
    before = []
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            if len(estimator.steps) > 1:
                before.append(estimator[:-1])
            estimator = estimator[-1]
        else:
            return before, estimator


def encode(before: list, hasher: Any, X: Any) -> tuple[np.ndarray, int, Any]:
    """Return packed codes of rows, their number of bits, and the rows as the hasher sees them."""
    if not hasattr(hasher, "predict"):
        raise TypeError(
            "a retrieval scorer needs a hasher, or another estimator whose predict gives codes. "
            f"Got {hasher!r}."
        )
    for transformer in before:
        X = transformer.transform(X)
    codes = np.asarray(hasher.predict(X))
    return pack_codes(codes), codes.shape[1], X


def ground_truth(affinity: Any, hasher: Any, rows: Any, y: Any) -> tuple[Any, Any]:
    """Return the affinity, None being the hasher's own, and what it compares of the queries."""
    if affinity is not None:
        return affinity, rows if y is None else y
    if hasattr(hasher, "_ground_truth"):
        return hasher._ground_truth(rows, y)
    return getattr(hasher, "affinity_", "auto"), rows if y is None else y


def training_codes(hasher: Any) -> tuple[np.ndarray, Any]:
    if not hasattr(hasher, "codes_"):
        raise ValueError(
            "database='fit' needs the codes of the training rows, which this "
            f"{type(hasher).__name__} does not hold: hashers keep them as `codes_` after fit, but "
            "not after partial_fit. Pass database=(X, y)."
        )
    return hasher.codes_, hasher.y_


def _fingerprint(estimator: Any, before: list, hasher: Any) -> str | None:
    """Digest of all that codes depend on; None where it cannot be told, or not be remembered."""
    try:
        hash(weakref.ref(estimator))
        state = {name: v for name, v in vars(hasher).items() if name not in _NOT_FOR_ENCODING}
        return joblib.hash([before, type(hasher), state])
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
