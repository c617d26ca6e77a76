"""Cross-validate a hasher: the queries of one fold retrieve all other rows."""

import time
import traceback
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from .._utils.parameters import is_int, is_real
from .._utils.processes import for_workers
from .._utils.threads import check_n_jobs
from ..metrics._scorers import RetrievalScorer, make_retrieval_scorer
from ._folds import RetrievalKFold
from ._splits import RetrievalSplit


def cross_validate_retrieval(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    scoring: Any = "ap",
    cv: Any = 5,
    groups: Any = None,
    n_jobs: int | None = None,
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = np.nan,
) -> dict[str, Any]:
    """Fit on the training rows of each split, and let its queries retrieve the database.

    :func:`sklearn.model_selection.cross_validate` shows a scorer nothing but the test fold. Here
    the queries of a fold retrieve all the other rows, as a search engine would, and the
    protocols of :mod:`sklearn_hashrank.model_selection` work as `cv`.

    Parameters
    ----------
    estimator : estimator object
        A hasher, or a pipeline or a search that ends in one. Clones of it are fitted.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        All rows: the training rows, queries and database of every split.
    y : array-like with n_samples rows, default=None
        What the affinity compares; None: the rows themselves.
    scoring : str, callable, list or dict, default="ap"
        Metrics, as for :func:`~sklearn_hashrank.metrics.make_retrieval_scorer`, or such a scorer,
        whose `database` has no say here.
    cv : int, splitter, iterable or None, default=5
        An int (None: 5) is the number of folds of :class:`RetrievalKFold` with
        ``random_state=0``. A protocol or an iterable may give :class:`RetrievalSplit`; of pairs
        (train, test) the test rows are the queries and all other rows the database.
    groups : array-like of shape (n_samples,), default=None
        Groups of the rows, which are passed to the splitter.
    n_jobs : int, default=None
        Splits to work on at a time. None means 1 unless in a :obj:`joblib.parallel_config`
        context, -1 means all processors.
    return_train_score : bool, default=False
        Whether to score the training rows too; each retrieves all the others.
    return_estimator : bool, default=False
        Whether to return the fitted estimators.
    return_indices : bool, default=False
        Whether to return the row numbers of each split.
    error_score : "raise" or float, default=nan
        The score where fitting or scoring fails.

    Returns
    -------
    scores : dict
        Arrays of shape (n_splits,): ``fit_time``, ``score_time``, ``test_score`` and maybe
        ``train_score``, or for several metrics ``test_<name>`` and ``train_<name>``; maybe
        ``estimator``, a list, and ``indices``, a dict of the lists ``train``, ``query`` and
        ``database``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import ITQHasher
    >>> from sklearn_hashrank.model_selection import cross_validate_retrieval
    >>> X, y = load_digits(return_X_y=True)
    >>> scores = cross_validate_retrieval(
    ...     ITQHasher(n_bits=16, random_state=0), X, y, scoring=["ap", "ndcg"]
    ... )
    >>> sorted(scores)
    ['fit_time', 'score_time', 'test_ap', 'test_ndcg']
    >>> bool(scores["test_ap"].min() > 0.5)
    True
    """
    check_n_jobs(n_jobs)
    if error_score != "raise" and not is_real(error_score):
        raise ValueError(f"error_score must be 'raise' or a number. Got {error_score!r} instead.")
    scorer = scoring if isinstance(scoring, RetrievalScorer) else make_retrieval_scorer(scoring)
    X, y, groups = indexable(X, y, groups)
    splits = _read_splits(cv, X, y, groups)
    results = Parallel(n_jobs=n_jobs)(
        delayed(for_workers(_fit_and_score))(
            clone(estimator), X, y, split, scorer, return_train_score, error_score == "raise"
        )
        for split in splits
    )
    _report_failures([result["failure"] for result in results], error_score)
    scores: dict[str, Any] = {
        name: np.array([result[name] for result in results]) for name in ("fit_time", "score_time")
    }
    for part in ("test", "train") if return_train_score else ("test",):
        for name in ["score"] if scorer.is_single else scorer.measures:
            values = [result.get(part, {}).get(name, error_score) for result in results]
            scores[f"{part}_{name}"] = np.array(values, dtype=float)
    if return_estimator:
        scores["estimator"] = [result["estimator"] for result in results]
    if return_indices:
        names = ("train", "query", "database")
        scores["indices"] = {name: [getattr(split, name) for split in splits] for name in names}
    return scores


def _read_splits(cv: Any, X: Any, y: Any, groups: Any) -> list[RetrievalSplit]:
    if cv is None or is_int(cv):
        cv = RetrievalKFold(5 if cv is None else cv, random_state=0)
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ValueError(f"cv must be an int, a splitter or an iterable of splits. Got {cv!r}.")
    n_rows = _num_samples(X)
    splits = []
    for parts in cv.split(X, y, groups) if hasattr(cv, "split") else cv:
        rows = list(parts)
        if len(rows) == 2:
            rows.append(np.setdiff1d(np.arange(n_rows), rows[1]))
        if len(rows) != 3:
            raise ValueError(
                f"a split must be (train, test) or (train, query, database). Got {len(rows)} parts."
            )
        split = RetrievalSplit(*rows)
        highest = max(part.max() for part in split)
        if highest >= n_rows:
            raise ValueError(f"a split names row {highest}. Got n_samples = {n_rows}.")
        splits.append(split)
    if not splits:
        raise ValueError("cv must give at least one split. Got none.")
    return splits


def _fit_and_score(estimator, X, y, split, scorer, return_train_score, raise_errors):
    def part(rows):
        return _safe_indexing(X, rows), None if y is None else _safe_indexing(y, rows)

    result: dict[str, Any] = {"estimator": estimator, "failure": None, "score_time": 0.0}
    start = time.perf_counter()
    try:
        training_rows = part(split.train)
        estimator.fit(*(training_rows if y is not None else training_rows[:1]))
        result["fit_time"] = time.perf_counter() - start
        retrieve = scorer.with_database(part(split.database))
        result["test"] = _as_dict(retrieve(estimator, *part(split.query)))
        if return_train_score:
            result["train"] = _as_dict(scorer.with_database("self")(estimator, *training_rows))
        result["score_time"] = time.perf_counter() - start - result["fit_time"]
    except Exception:
        if raise_errors:
            raise
        result["failure"] = traceback.format_exc()
        result.setdefault("fit_time", time.perf_counter() - start)
    return result


def _as_dict(scores: float | dict[str, float]) -> dict[str, float]:
    return scores if isinstance(scores, dict) else {"score": scores}


def _report_failures(failures: list[str | None], error_score: Any) -> None:
    traces = [failure for failure in failures if failure is not None]
    if not traces:
        return
    shown = "\n".join(dict.fromkeys(traces))
    if len(traces) == len(failures):
        raise ValueError(f"All the {len(failures)} splits failed to fit or to score.\n{shown}")
    warnings.warn(
        f"{len(traces)} of {len(failures)} splits failed to fit or to score, and take the score "
        f"{error_score}. With error_score='raise' the error is raised.\n{shown}",
        FitFailedWarning,
        stacklevel=3,
    )
