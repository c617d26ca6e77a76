"""Compare methods at several code lengths and seeds: :func:`compare`."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length

from .._features.tensors import as_host_array
from .._utils.parameters import as_names, is_int
from .._utils.threads import check_n_jobs
from ..affinity._auto import affinity_of_all, fit_affinity, is_auto
from ..affinity._coercion import as_array
from ..affinity._learnable import warn_if_alike
from ..affinity._neighbors import NeighborAffinity
from ..model_selection._chosen_split import choose_retrieval_split
from ..model_selection._splits import RetrievalSplit
from ._columns import MEASURED, SEARCH_COLUMNS, Column, columns_of, name_measures
from ._comparison import Comparison
from ._execution import Progress, execute_all
from ._explore_page import check_options, explore_best
from ._method_names import (
    check_codes,
    check_methods,
    groups_of,
    supported_runs,
    with_affinity,
)
from ._own_distance import OwnDistance
from ._protocol import describe_protocol, draw_split
from ._provenance import describe_data, versions
from ._rescoring import read_rescoring
from ._run_store import run_key
from ._runner import Evaluation, Run, measure_chance
from ._settings import has_setting, with_settings


def compare(
    X: Any,
    y: Any = None,
    *,
    methods: str | Iterable[str] | Mapping[str, Any] = ("lsh", "itq", "talr-ap"),
    codes: Mapping[str, Any] | None = None,
    n_bits: Iterable[int] = (12, 24, 32, 48),
    seeds: int | Iterable[int] = 3,
    protocol: Any = None,
    affinity: Any = "auto",
    train_affinity: Any = "auto",
    measures: Any = MEASURED,
    columns: str | Iterable[str] | None = None,
    rescore: int | Mapping[str, Any] | None = None,
    skip_unsupported: bool = False,
    explore: bool | Mapping[str, Any] = False,
    name: str = "data",
    store: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> Comparison:
    """Fit, encode and evaluate methods at several code lengths and seeds, under one protocol.

    A seed gives the split and whatever a hasher samples, so that methods are compared on the same
    splits. Each run uses one thread, and `n_jobs` processes do several at a time: the numbers do
    not depend on it.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        All rows: training rows, database and queries are sampled from them.
    y : array-like with n_samples rows, default=None
        What relevance is computed from. None: hashers learn without it, those that need it are
        refused, and codes are judged by distances between rows of `X`.
    methods : str, iterable of str, or mapping of str to str or estimator
        Names such as ``"itq"``, ``"talr-ap:alpha=3"``, ``"additive:distance=decoded"`` or
        ``"faiss:OPQ32_96,PQ32"`` (:ref:`cli`). A mapping has such names, or estimators, by the name
        that tables should give them. Estimators are hashers, pipelines and searches that end in
        one, and any other estimator whose ``transform``, or else ``predict``, gives codes.
        ``n_bits`` and ``random_state`` are set wherever an estimator or one inside of it has them,
        and ``output`` of the last step;
        ``affinity="auto"`` becomes `train_affinity`.
    codes : mapping of str to array-like, default=None
        Precomputed codes by the name of their method: one code for each row of `X`, as bits or
        signs, or the result of :func:`~sklearn_hashrank.codes.read_codes`. They are evaluated at
        their own length and are not timed. To keep rows that they were trained on out of the
        queries, pass the split of their training as a `RetrievalSplit` in `protocol`.
    n_bits : iterable of int, default=(12, 24, 32, 48)
        Code lengths. An estimator without ``n_bits`` runs once, at its own width.
    seeds : int or iterable of int, default=3
        The seeds, or how many: 0, 1, ...
    protocol : split object or RetrievalSplit, default=None
        How rows are sampled, see :mod:`sklearn_hashrank.model_selection`; its `random_state`
        becomes the seed. An object of your own has a method ``split(X, y)`` that gives the numbers
        of training rows, queries and database rows. A `RetrievalSplit` is the same for every seed.
        None: what :func:`~sklearn_hashrank.model_selection.choose_retrieval_split` finds that the
        rows suffice for: 100 queries and 500 training rows of each class where there are so many.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant, in the evaluation. Fitted on the training rows of each split.
    train_affinity : "auto" or affinity object, default="auto"
        What hashers learn from. ``"auto"`` is `affinity` where there is `y`. Without `y` every
        hasher chooses, as in its `fit`: what is best to learn from, such as several levels of near
        rows, is not what is best to evaluate against, such as the ten nearest.
    measures : str, callable, Measure, list or dict, default=("ap", "ndcg", "ph2", "acg", "mlgap")
        What is measured, as for :func:`~sklearn_hashrank.metrics.make_retrieval_scorer`: short
        names, such names with options as in ``"ap@5000:normalize=retrieved"``, functions, partial
        functions, or measures of your own, each a column of the tables.
    columns : str or iterable of str, default=None
        Names of the columns that tables and report show, in this order: those of `measures`,
        ``"fit_seconds"``, ``"encode_microseconds"``, those of `rescore`; and ``"item_bytes"`` and
        ``"search_microseconds"`` if a method ranks by a distance of its own. None: all.
    rescore : int or dict, default=None
        Adds columns for what is found when the nearest codes are sorted by asymmetric distances or
        by distances between original vectors, and for what it costs. An int is the number of
        neighbors; a dict has ``"n_neighbors"`` (10), ``"oversampling"`` (10 candidates for each
        neighbor) and ``"metric"`` (``"cosine"``, ``"euclidean"`` or ``"inner_product"``). `X` must
        be dense.
    skip_unsupported : bool, default=False
        Whether to skip methods that do not support the data, with a warning, such as ``"itq"`` with
        more bits than features, or ``"classifier"`` without class labels. False: an error names all
        of them. Both happen before the first run. Estimators of your own are asked by
        ``check_data(X, y)`` if they have it.
    explore : bool or dict, default=False
        Whether the report comes with a page that shows what the two best methods retrieve: by the
        first measure, with the longest codes, on the first split. They are fitted once more for
        it. A dict says how the page shows rows, as ``{"image_shape": (8, 8)}`` does; it holds
        arguments of :func:`~sklearn_hashrank.explore.write_page`.
    name : str, default="data"
        What the report calls the data.
    store : str or Path, default=None
        Folder that keeps every finished run. A run is read from there where data, split, method,
        parameters, code length, seed, the package's code and all versions are the same.
    n_jobs : int, default=None
        Runs at a time. None means 1 unless in a :obj:`joblib.parallel_config` context.
    progress : callable, default=None
        Called as ``progress(result, n_done, n_runs)`` after each run; ``str(result)`` is a line.
    command : str, default=""
        Command line to be named in the report.

    Returns
    -------
    comparison : Comparison
        Results of all runs, which writes the report and the tables.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank.comparison import compare
    >>> from sklearn_hashrank.model_selection import PerClassRetrievalSplit
    >>> X, y = load_digits(return_X_y=True)
    >>> protocol = PerClassRetrievalSplit(n_queries=20, n_train=100)
    >>> comparison = compare(
    ...     X, y, methods=["lsh", "itq"], n_bits=[12], seeds=2, protocol=protocol
    ... )
    >>> [result.method for result in comparison.results]
    ['lsh', 'itq', 'lsh', 'itq']
    """
    check_n_jobs(n_jobs)
    named = name_measures(measures)
    hashers = check_methods(methods)
    X, y = check_data(X, y)
    compared = X if y is None else y
    hashers |= check_codes(codes, hashers, X.shape[0])
    page_options = check_options(explore)
    lengths = _check_integers(n_bits, "n_bits", 1)
    seeds = _check_integers(range(seeds) if is_int(seeds) else seeds, "seeds", 0)
    reason = ""
    if protocol is None:
        protocol, reason = choose_retrieval_split(X, y)
    splits = {seed: draw_split(protocol, X, compared, seed) for seed in seeds}
    first = splits[seeds[0]]

    decided = affinity_of_all(affinity, y)
    if is_auto(train_affinity):
        train_affinity = _affinity_of_hashers(affinity, decided, y, splits.values())
    hashers = {
        method: with_affinity(hasher, train_affinity, decided) for method, hasher in hashers.items()
    }
    fitted = {seed: fit_affinity(decided, compared[splits[seed].train]) for seed in seeds}
    if y is not None:
        warn_if_alike(fitted[seeds[0]], y)  # checks all rows of it, before the first run
    _warn_if_all_are_near(decided, splits.values())

    with_search = any(isinstance(hasher, OwnDistance) for hasher in hashers.values())
    evaluation = Evaluation(named, read_rescoring(rescore, X), with_search)
    shown = _choose_columns(columns, evaluation, decided)
    runs = []
    for seed, bits, (method, hasher) in product(seeds, lengths, hashers.items()):
        if not has_setting(hasher, "n_bits"):  # it runs once, at its own width
            if bits != lengths[0]:
                continue
            bits = 0
        hasher = with_settings(hasher, n_bits=bits, random_state=seed, output="packed")
        relevance = fitted[seed].without_database()
        runs.append(Run(method, hasher, bits, seed, splits[seed], relevance))
    y_train = None if y is None else y[first.train]
    runs, skipped = supported_runs(runs, X[first.train], y_train, skip_unsupported)

    digest = joblib.hash((X, y), coerce_mmap=True)
    runs = [replace(run, key=run_key(digest, run, decided, evaluation)) for run in runs]
    results = execute_all(runs, X, y, evaluation, store, n_jobs, progress)
    done = [(run, result.n_bits) for run, result in zip(runs, results) if result.scores]
    chance = []
    for run in {run.seed: run for run, _ in done}.values():
        of_seed = sorted({bits for other, bits in done if other.seed == run.seed})
        chance += measure_chance(of_seed, run, compared, evaluation, n_jobs)
    chance.sort(key=lambda result: (result.n_bits, result.seed))
    kept = {method: hashers[method] for method in dict.fromkeys(run.method for run in runs)}
    about = {
        "data": describe_data(name, X, compared, fitted[seeds[0]]) | {"digest": digest},
        "protocol": describe_protocol(protocol, reason, splits),
        "methods": {method: repr(hasher) for method, hasher in kept.items()},
        "skipped": skipped,
        "groups": groups_of(methods, kept),
        "seeds": seeds,
        "command": command,
        "versions": versions(),
        "times": "; ".join(sorted({r.machine for r in results if r.machine})),
    }
    page = None
    if page_options is not None:
        page_options = {"title": name, "n_jobs": n_jobs} | page_options
        page = explore_best(runs, results, next(iter(named)), X, y, page_options)
    return Comparison(results, about, shown, chance, kept, page)


def _warn_if_all_are_near(affinity: Any, splits: Iterable[RetrievalSplit]) -> None:
    """Warn where a database has no more rows than neighbors are relevant."""
    if not isinstance(affinity, NeighborAffinity):
        return
    n_nearest = int(np.min(affinity.n_neighbors))
    n_items = min(len(split.database) for split in splits)
    if n_nearest >= n_items:
        warnings.warn(
            f"the {n_nearest:,} nearest rows are relevant, and the database has {n_items:,} rows, "
            "so that any code has a perfect score.",
            UserWarning,
            stacklevel=3,
        )


def _affinity_of_hashers(given: Any, decided: Any, y: Any, splits: Iterable[RetrievalSplit]) -> Any:
    """Let hashers decide what "auto" means, unless the training rows of a split look otherwise.

    A hasher that decides itself knows that the affinity is a guess, and may refuse it. Without y
    it decides what to learn from, whatever codes are judged by.
    """
    if y is None:
        return "auto"
    if all(type(affinity_of_all(given, y[s.train])) is type(decided) for s in splits):
        return given
    return decided


def _choose_columns(
    names: str | Iterable[str] | None, evaluation: Evaluation, affinity: Any
) -> tuple[Column, ...]:
    columns = columns_of(evaluation.measures)
    if evaluation.rescoring is not None:
        columns += evaluation.rescoring.columns(affinity)
    if evaluation.with_search:
        columns += SEARCH_COLUMNS
    if names is None:
        return columns
    known = {column.name: column for column in columns}
    names = as_names(names, "columns")
    for name in names:
        if name not in known:
            raise ValueError(f"columns must be among {', '.join(known)}. Got {name!r}.")
    if not names:
        raise ValueError("columns must name at least one column.")
    return tuple(known[name] for name in dict.fromkeys(names))


def check_data(X: Any, y: Any) -> tuple[Any, Any]:
    try:
        X = as_host_array(X, "X")
        rows = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    except ValueError as error:
        raise ValueError(f"{error}{_wrong_columns(X)}") from error
    X = rows
    if y is None:
        return X, None
    y = y.tocsr() if sparse.issparse(y) else as_array(y)
    check_consistent_length(X, y)
    return X, y


def _wrong_columns(X: Any) -> str:
    """Name the columns of a table that are not finite numbers."""
    if not hasattr(X, "columns") or not hasattr(X, "items"):
        return ""
    wrong = []
    for name, column in X.items():
        try:
            is_finite = bool(np.isfinite(np.asarray(column, dtype=np.float64)).all())
        except (TypeError, ValueError):
            is_finite = False
        if not is_finite:
            wrong.append(repr(name))
    named = ", ".join(wrong[:5]) + (", ..." if len(wrong) > 5 else "")
    return f" Columns that are not finite numbers: {named}." if wrong else ""


def _check_integers(values: Any, name: str, least: int) -> list[int]:
    values = list(values) if isinstance(values, Iterable) else [values]
    if not values:
        raise ValueError(f"{name} must hold at least one int.")
    for value in values:
        if not is_int(value, least):
            raise ValueError(f"{name} must be ints >= {least}. Got {value!r}.")
    return list(dict.fromkeys(map(int, values)))
