"""Scorers: evaluate a fitted hasher on rows, for cross-validation and searches."""

import copy
from collections.abc import Mapping
from typing import Any

from .._utils.types import MatrixLike, Target
from ._configured import ConfiguredMeasure, configure_measure, parse_measure
from ._evaluation import mean_value
from ._measure import COMMON_PARAMETERS, Measure
from ._retrieval import EncodedDatabase, check_database, retrieve, warn_if_all_is_relevant


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
        short name (:func:`list_measures`), or one of these with options of its own: a
        :func:`functools.partial`, or a short name followed by ``@`` and `k` or `radius` and by
        ``:option=value``, as in ``"ndcg@100:gain=linear"``. With a list of these the scorer
        returns a dict by their short names, of strings by the strings; with a dict one by its keys.
    database : "self", "fit" or tuple (X, y), default="self"
        What the scored rows retrieve. ``"self"``: each other. ``"fit"``: the rows that the hasher
        was trained on, which it keeps as `codes_` and `y_` where it was fitted with `y`.
        ``(X, y)``: these rows, encoded once for each fitted estimator, so that they must not change
        in place; `y` is None where the scored rows come without.
    affinity : "auto" or affinity object, default="auto"
        What is relevant. ``"auto"`` is what the hasher was fitted with, found through pipelines
        and searches; for other estimators, and for hashers fitted without `y`, it depends on the
        form of `y`. An unfitted object is fitted on the rows of the database.
    n_jobs : int, default=None
        Threads over queries.
    **options : dict
        Keywords of the metric, such as `k`, `ties` or `zero_division`. Of several metrics, each
        keyword goes to the only one that knows it. `ties` and `zero_division`, which every metric
        has, go to all; any other that several know is refused, as in ``(["ap", "ndcg"], k=20)``:
        write ``["ap@20", "ndcg@20"]``.

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


class RetrievalScorer:
    """What :func:`make_retrieval_scorer` returns; its parameters are described there."""

    def __init__(
        self, metric: Any, database: Any, affinity: Any, n_jobs: int | None, options: dict
    ):
        self.measures = _named_metrics(metric, options)
        self.is_single = not isinstance(metric, (list, tuple, Mapping))
        self.affinity, self.n_jobs = affinity, n_jobs
        self._set_database(database)

    def _set_database(self, database: Any) -> None:
        check_database(database)
        self.database = database
        self._source = database if isinstance(database, str) else EncodedDatabase(*database)

    def with_database(self, database: Any) -> "RetrievalScorer":
        """Return a scorer of the same metrics that retrieves from another database."""
        other = copy.copy(self)
        other._set_database(database)
        return other

    def __call__(
        self, estimator: Any, X: MatrixLike, y: Target | None = None
    ) -> float | dict[str, float]:
        """Score a fitted estimator.

        Parameters
        ----------
        estimator : object
            A fitted hasher, or a pipeline or a search that ends in one. Any estimator whose
            ``transform``, or else ``predict``, gives codes will do.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Queries.
        y : array-like with n_samples rows, default=None
            What the affinity compares. None: the rows as the hasher sees them.

        Returns
        -------
        score : float or dict of float
        """
        histogram = retrieve(
            estimator,
            X,
            y,
            database=self._source,
            affinity=self.affinity,
            keep_codes=any(each.measure.needs_codes for each in self.measures.values()),
            n_jobs=self.n_jobs,
        )
        warn_if_all_is_relevant(histogram, stacklevel=3)
        scores = {
            name: mean_value(histogram.measure(measure), stacklevel=3)
            for name, measure in self.measures.items()
        }
        return next(iter(scores.values())) if self.is_single else scores

    def __deepcopy__(self, memo):
        return self  # it does not change, and a clone of a search need not copy the database

    def __repr__(self) -> str:
        calls = {
            name: (each.measure.short_name, [f"{k}={v!r}" for k, v in each.given.items()])
            for name, each in self.measures.items()
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


def _named_metrics(metric: Any, shared: Mapping[str, Any]) -> dict[str, ConfiguredMeasure]:
    """Name the metrics of a scorer, and give each the shared options that it knows."""
    if isinstance(metric, Mapping):
        found = {name: parse_measure(one) for name, one in metric.items()}
    else:
        several = metric if isinstance(metric, (list, tuple)) else [metric]
        found = {}
        for one in several:
            measure, own = parse_measure(one)
            found[one if isinstance(one, str) and own else measure.short_name] = measure, own
        if len(found) < len(several):
            raise ValueError(
                "metric holds one metric twice. Name them with a dict, such as "
                "{'P@1': ..., 'P@10': ...}."
            )
    if not found or not all(isinstance(name, str) for name in found):
        raise ValueError(f"metric must hold at least one metric, named by a str. Got {metric!r}.")
    _check_shared(found, shared)
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


def _check_shared(
    found: Mapping[str, tuple[Measure, Mapping[str, Any]]], shared: Mapping[str, Any]
) -> None:
    """Refuse an option that changes several metrics, whose names would not say so."""
    for option, value in shared.items():
        reached = {
            name: measure
            for name, (measure, own) in found.items()
            if option in measure.parameters and option not in own
        }
        if len(reached) > 1 and option not in COMMON_PARAMETERS:
            first = next(iter(reached.values()))
            way = f"@{value}" if option == first.cut else f":{option}={value}"
            raise ValueError(
                f"{option}={value!r} would change several metrics: {', '.join(map(repr, reached))}."
                f" Give it to each that it is meant for, as in {first.short_name + way!r} or "
                f"functools.partial(..., {option}={value!r})."
            )
