"""Compare methods at several code lengths and seeds: :func:`compare` and what it returns."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import compress, product
from pathlib import Path
from threading import Lock
from typing import Any

import joblib
import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array, check_consistent_length

from .._features.tensors import as_host_array
from .._files.atomic import write_file
from .._utils.callbacks import watch_iterations
from .._utils.parameters import as_names, is_int
from .._utils.threads import check_n_jobs
from ..affinity._auto import affinity_for, auto_affinity, fit_affinity, is_auto
from ..affinity._coercion import as_array
from ..affinity._learnable import warn_if_alike
from ..affinity._neighbors import NeighborAffinity
from ..metrics._configured import ConfiguredMeasure
from ..metrics._settings import has_setting, with_settings
from ..model_selection._splits import RetrievalSplit
from ._chance import CHANCE, columns_above_chance, measure_chance, with_above_chance
from ._columns import COLUMNS, MEASURED, SEARCH_COLUMNS, Column, columns_of, name_measures
from ._data_checks import describe_refusals, find_refusals
from ._explore_page import Explored, best_runs, check_options, fit_runs
from ._figures import Figure, draw_figures
from ._given_codes import GivenCodes
from ._method_table import METHODS, check_method, in_groups
from ._protocols import check_protocol, describe_protocol, draw_split
from ._provenance import describe_data, describe_machine, run_key, versions
from ._rescored import Rescoring
from ._result_tables import LEVEL, Notation, Table, summarize, to_csv, to_latex, to_markdown
from ._run_store import RunStore, load_result, save_result
from ._runner import Run, RunResult, execute, interrupts_ignored
from ._search_methods import OwnDistance, method_of_comparison
from ._worker_progress import FitsAtWork, note_iterations

Progress = Callable[[RunResult, int, int], None]

WRITTEN_FILES = {
    "report": "report.html",
    "csv": "runs.csv",
    "markdown": "tables.md",
    "latex": "tables.tex",
    "explore": "explore.html",
}
"""Names of the files that :meth:`Comparison.write` writes."""

FIGURES = "figures"
"""Name of the folder that it writes figures into."""


@dataclass(frozen=True)
class Comparison:
    """Results of :func:`compare`, and a description of what was compared.

    Parameters
    ----------
    results : list of RunResult
        One for each seed, code length and method, in this order.
    about : dict
        What was compared, on what, how and by which versions, for people to read.
    columns : tuple of Column
        The scores that tables show.
    chance : list of RunResult
        What constant codes score, for each seed and code length: the last row of every table.
    explored : object, default=None
        The two best methods, fitted, and the rows of the page that shows what they retrieve.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.comparison import compare
    >>> from sklearn_hashrank.model_selection import RandomRetrievalSplit
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> protocol = RandomRetrievalSplit(n_queries=10)
    >>> comparison = compare(X, methods=["lsh"], n_bits=[8, 16], seeds=1, protocol=protocol)
    >>> print(comparison.to_csv().splitlines()[0][:46])
    method,n_bits,seed,ap,ap_pessimistic,ap_optimi
    >>> len(comparison.results), comparison.failures
    (2, [])
    """

    results: list[RunResult]
    about: dict[str, Any]
    columns: tuple[Column, ...] = COLUMNS
    chance: list[RunResult] = field(default_factory=list)
    explored: Explored | None = None

    @property
    def failures(self) -> list[RunResult]:
        """The runs whose method raised an error."""
        return [result for result in self.results if result.error]

    def tables(self, names: str | Iterable[str] | None = None) -> list[Table]:
        """Means and standard deviations over seeds.

        Parameters
        ----------
        names : str or iterable of str, default=None
            Scores such as ``"ap"`` that are wanted; None: all that have a table.

        Returns
        -------
        tables : list of Table
            One for each score, methods by code lengths.
        """
        tables = summarize(self.results, self.columns, self.about["groups"], self.chance)
        if names is None:
            return tables
        wanted = set(as_names(names, "names"))
        known = [column.name for column in self.columns]
        for name in wanted - set(known):
            raise ValueError(f"names must be among {', '.join(known)}. Got {name!r}.")
        return [table for table in tables if table.column.name in wanted]

    def to_csv(self) -> str:
        """Text of a CSV file with one row for each run.

        Returns
        -------
        text : str
            Every score of every run, in full precision.
        """
        return to_csv(self.results)

    def to_markdown(
        self,
        names: str | Iterable[str] | None = None,
        *,
        digits: int | None = None,
        ranges: bool = True,
    ) -> str:
        """Tables as Markdown.

        Parameters
        ----------
        names : str or iterable of str, default=None
            Scores that are wanted; None: all that have a table.
        digits : int, default=None
            Decimal places of shares. None: as many as show the spread, three to five.
        ranges : bool, default=True
            Whether cells show the worst and the best order of ties.

        Returns
        -------
        text : str
            A heading and a pipe table for each score.
        """
        return to_markdown(self.tables(names), Notation(digits, ranges))

    def to_latex(
        self,
        names: str | Iterable[str] | None = None,
        *,
        combined: bool = False,
        digits: int | None = None,
        ranges: bool = True,
    ) -> str:
        """Tables as LaTeX, for the package booktabs.

        Parameters
        ----------
        names : str or iterable of str, default=None
            Scores that are wanted; None: all that have a table, without times where `combined`.
        combined : bool, default=False
            Whether one table has all scores side by side.
        digits : int, default=None
            Decimal places of shares. None: as many as show the spread, three to five.
        ranges : bool, default=True
            Whether cells show the worst and the best order of ties.

        Returns
        -------
        text : str
            A ``table`` environment for each score, or one for all. Captions say which protocol,
            seeds and test the numbers come from.
        """
        tables = self.tables(names)
        if combined and names is None:
            tables = [table for table in tables if not table.column.is_time] or tables
        return to_latex(tables, Notation(digits, ranges), self._caption(), combined)

    def _caption(self) -> str:
        """What the caption of a paper says of protocol, seeds and test."""
        about, seeds = self.about, len(self.about["seeds"])
        texts = [
            f"Data: {about['data']['name']}; {about['protocol']['sizes']}",
            f"{seeds} seed{'s' * (seeds != 1)}",
        ]
        if self.chance:
            texts.append("chance: constant codes")
        if seeds > 1:
            texts.append(
                "bold: ahead of every other method by paired t-tests over queries and over seeds, "
                f"p <= {LEVEL} after Holm's correction"
            )
        return "; ".join(texts) + "."

    def to_html(self) -> str:
        """Make the report: one page, which loads no other file.

        Returns
        -------
        page : str
            HTML with its style sheet, its script and all pictures inside.
        """
        return self._html(self.figures())

    def figures(self) -> list[Figure]:
        """Draw the figures of the report.

        Returns
        -------
        figures : list of Figure
            Empty without matplotlib. Each has a `name`, a `caption` and the `canvas`, a matplotlib
            figure.
        """
        groups = in_groups(self.about["methods"], self.about["groups"])
        return draw_figures(self.results, self.columns, groups, self.chance)

    def _html(self, figures: list[Figure]) -> str:
        from ._report import to_html

        return to_html(self, figures)

    def write(
        self,
        folder: str | Path,
        *,
        combined: bool = False,
        digits: int | None = None,
        ranges: bool = True,
    ) -> dict[str, Path]:
        """Write the report, the tables and the figures into a folder.

        Parameters
        ----------
        folder : str or Path
            The folder, which is made where it does not exist.
        combined : bool, default=False
            Whether one table has all scores side by side.
        digits : int, default=None
            Decimal places of shares. None: as many as show the spread, three to five.
        ranges : bool, default=True
            Whether cells show the worst and the best order of ties.

        Returns
        -------
        paths : dict of str to Path
            Paths of the files ``"report"``, ``"csv"``, ``"markdown"`` and ``"latex"``, of a folder
            ``"figures"``, which has each figure as PDF and as SVG where matplotlib is installed,
            and after ``compare(explore=...)`` of ``"explore"``.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        figures = self.figures()
        paths = {kind: folder / name for kind, name in WRITTEN_FILES.items()}
        texts = {
            "report": self._html(figures),
            "csv": self.to_csv(),
            "markdown": self.to_markdown(digits=digits, ranges=ranges),
            "latex": self.to_latex(combined=combined, digits=digits, ranges=ranges),
        }
        for kind, text in texts.items():
            with write_file(paths[kind], "w", encoding="utf-8") as file:
                file.write(text)
        if figures:
            paths["figures"] = folder / FIGURES
            paths["figures"].mkdir(exist_ok=True)
        for figure in figures:
            for kind in ("pdf", "svg"):
                with write_file(paths["figures"] / f"{figure.name}.{kind}", "wb") as file:
                    file.write(figure.saved_as(kind))
        if self.explored is None:
            del paths["explore"]
        else:
            self.explored.write(paths["explore"])
        return paths


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
    learn_from: Any = "auto",
    measures: Any = MEASURED,
    columns: str | Iterable[str] | None = None,
    rescoring: Rescoring | None = None,
    skip_refused: bool = False,
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
    methods : str, iterable of str, or mapping of str to estimator
        Names such as ``"itq"``, ``"talr-ap:alpha=3"``, ``"autoencoder:distance=decoded"`` or
        ``"faiss:OPQ32_96,PQ32"``, see :func:`method_of_comparison`; or
        estimators by the name that tables should give them: hashers, pipelines and searches that
        end in one, and any other estimator whose ``transform``, or else ``predict``, gives codes.
        ``n_bits`` and ``random_state`` are set wherever an estimator or one inside of it has them,
        and ``output`` of the last step; ``affinity="auto"`` becomes `learn_from`.
    codes : mapping of str to array-like, default=None
        Codes that something else made, by the name that tables should give them: one for each row
        of `X`, as bits or signs, or what :func:`~sklearn_hashrank.codes.read_codes` returned. They
        are methods at their own length, and are not timed. Whether they learned from rows that are
        queries here is not known; pass the protocol that they were made by as a `RetrievalSplit`.
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
        How `y` says what is relevant, to judge by. Fitted on the training rows of each split.
    learn_from : "auto" or affinity object, default="auto"
        What hashers learn from. ``"auto"`` is `affinity` where there is `y`. Without `y` every
        hasher chooses, as in its `fit`: what is best to learn from, such as several levels of near
        rows, is not what is best to judge by, such as the ten nearest.
    measures : str, callable, Measure, list or dict, default=("ap", "ndcg", "ph2", "acg", "mlgap")
        What is measured, as for :func:`~sklearn_hashrank.metrics.make_retrieval_scorer`: short
        names, such names with options as in ``"ap@5000:normalize=retrieved"``, functions, partial
        functions, or measures of your own, each a column of the tables.
    columns : str or iterable of str, default=None
        Names of the columns that tables and report show, in this order: those of `measures`,
        ``"fit_seconds"``, ``"encode_microseconds"``, those of `rescoring`; ``"item_bytes"`` and
        ``"search_microseconds"`` where a method ranks by a distance of its own; and for each
        measure its name with ``"_above_chance"``, which is the score less that of constant codes.
        None: all but the last.
    rescoring : Rescoring, default=None
        Adds columns for what is found when the nearest codes are put in order of asymmetric
        distances or of distances between floats, and for what it costs. `X` must be dense.
    skip_refused : bool, default=False
        What is done with methods that cannot take the data, such as ``"itq"`` with more bits than
        features, or ``"classifier"`` without class labels. True: they are left out, with a warning.
        False: all of them are named in an error. Both happen before the first run. Estimators of
        your own are asked by ``check_data(X, y)`` where they have it.
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
        Called as ``progress(result, n_done, n_runs)`` after each run. Where it has a method
        ``iteration(method, n_bits, seed, n_done, max_iter)``, that is called after each iteration
        of a fit that counts them; with several runs at a time once a second, from another thread.
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
    named, hashers = name_measures(measures), _check_methods(methods)
    X, y = check_data(X, y)
    hashers |= _check_codes(codes, hashers, X)
    given, affinity = affinity, _decided(affinity, y)
    _check_rescoring(rescoring, X)
    is_searched = any(isinstance(hasher, OwnDistance) for hasher in hashers.values())
    further = () if rescoring is None else rescoring.columns_by(affinity)
    further = (*further, *(SEARCH_COLUMNS if is_searched else ()))
    shown, above_chance = _chosen_columns(columns, named, further)
    page_options = check_options(explore)
    compared = X if y is None else y
    lengths = _check_integers(n_bits, "n_bits", 1)
    seeds = _check_integers(range(seeds) if is_int(seeds) else seeds, "seeds", 0)
    protocol, reason = check_protocol(protocol, X, y)
    splits = {seed: draw_split(protocol, X, compared, seed) for seed in seeds}
    to_learn_from = learn_from
    if is_auto(learn_from):
        to_learn_from = affinity_of_hashers(given, affinity, y, splits.values())
    hashers = {method: with_affinity(hasher, to_learn_from) for method, hasher in hashers.items()}
    for hasher in hashers.values():
        if isinstance(hasher, OwnDistance) and is_auto(hasher.judged_by):
            hasher.set_params(judged_by=affinity)
    fitted = {seed: fit_affinity(affinity, compared[splits[seed].train]) for seed in seeds}
    affinities = {seed: each.without_database() for seed, each in fitted.items()}
    if y is not None:
        warn_if_alike(fitted[seeds[0]], y)  # checks all rows of it, before the first run
    _warn_if_all_are_near(affinity, splits.values())
    data = joblib.hash((X, y), coerce_mmap=True)
    runs = []
    for seed, bits, (method, hasher) in product(seeds, lengths, hashers.items()):
        if not has_setting(hasher, "n_bits"):  # it runs once, at its own width
            if bits != lengths[0]:
                continue
            bits = 0
        hasher = with_settings(hasher, n_bits=bits, random_state=seed, output="packed")
        split = tuple(splits[seed])
        settings = {
            "data": data,
            "split": split,
            "rescoring": rescoring,
            "is_searched": is_searched,
        }
        key = run_key(affinity=affinity, hasher=hasher, measures=named, **settings)
        runs.append(Run(method, hasher, bits, seed, key))
    runs, left_out = _without_refused(runs, X, y, splits, skip_refused)
    results = _run_all(
        runs,
        RunStore(None if store is None else Path(store)),
        named,
        further,
        lambda run: (X, y, splits[run.seed], affinities[run.seed], named, rescoring, is_searched),
        n_jobs,
        progress,
    )
    found = {(result.n_bits, result.seed) for result in results if result.scores}
    chance = [
        measure_chance(bits, seed, compared, splits[seed], affinities[seed], named, n_jobs)
        for bits, seed in sorted(found)
    ]
    results = with_above_chance(results, chance, above_chance)
    hashers = {method: hashers[method] for method in dict.fromkeys(run.method for run in runs)}
    about = {
        "data": describe_data(name, X, compared, fitted[seeds[0]]) | {"digest": data},
        "protocol": describe_protocol(protocol, reason, splits),
        "methods": {method: repr(hasher) for method, hasher in hashers.items()},
        "left_out": left_out,
        "groups": {} if isinstance(methods, Mapping) else _groups(hashers, codes or ()),
        "seeds": seeds,
        "command": command,
        "versions": versions(),
        "times": "; ".join(sorted({r.measured_on for r in results if r.measured_on})),
    }
    if page_options is None:
        return Comparison(results, about, shown, chance)
    fitted_here = [not isinstance(run.hasher, (GivenCodes, OwnDistance)) for run in runs]
    best = best_runs(
        list(compress(runs, fitted_here)), list(compress(results, fitted_here)), shown[0]
    )
    if not best:
        return Comparison(results, about, shown, chance)
    seed = best[0].seed
    models = fit_runs(best, X, y, splits[seed].train)
    options = {"title": name, "n_jobs": n_jobs} | page_options
    explored = Explored(models, X, compared, splits[seed], affinities[seed], options)
    return Comparison(results, about, shown, chance, explored)


def _run_all(
    runs: list[Run],
    store: RunStore,
    measures: Mapping[str, ConfiguredMeasure],
    further: tuple[Column, ...],
    arguments: Callable[[Run], tuple],
    n_jobs: int | None,
    progress: Progress | None,
) -> list[RunResult]:
    """Do the runs that are not in the store, and return the results of all, in order."""
    results: dict[int, RunResult] = {}

    def finish(index: int, result: RunResult) -> None:
        results[index] = result
        if progress is not None:
            progress(result, len(results), len(runs))

    n_at_a_time = effective_n_jobs(n_jobs)
    measured_on = (
        f"{describe_machine()}, {n_at_a_time} run{'s' if n_at_a_time > 1 else ''} at a time"
    )
    for index, run in enumerate(runs):
        if (kept := load_result(run, store, measures, further)) is not None:
            finish(index, kept)
    pending = [index for index in range(len(runs)) if index not in results]
    tell: Any = getattr(progress, "iteration", None)
    lock = Lock()

    def report(index: int, n_done: int, max_iter: int) -> None:
        run = runs[index]
        with lock:
            if index not in results:
                tell(run.method, run.n_bits, run.seed, n_done, max_iter)

    def report_first(n_done: int, max_iter: int) -> None:  # in one process, runs come in order
        report(next(index for index in pending if index not in results), n_done, max_iter)

    folder = None
    with ExitStack() as stack:
        if tell is not None and n_at_a_time == 1:
            stack.enter_context(watch_iterations(report_first))
        elif tell is not None:
            folder = stack.enter_context(FitsAtWork(report)).folder
        with interrupts_ignored():  # by the workers, which inherit it: one traceback is enough
            executed = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
                delayed(_execute)(index, folder, runs[index], *arguments(runs[index]))
                for index in pending
            )
        try:
            for index, result in executed:
                result = replace(result, measured_on=measured_on)
                save_result(runs[index], result, store)
                with lock:
                    finish(index, result)
        except BaseException:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that joblib cancels what is still running
                executed.close()
            raise
    return [results[index] for index in range(len(runs))]


def _execute(index: int, folder: str | None, *arguments: Any) -> tuple[int, RunResult]:
    if folder is None:
        return index, execute(*arguments)
    with watch_iterations(note_iterations(folder, index)):
        return index, execute(*arguments)


def _without_refused(
    runs: list[Run], X: Any, y: Any, splits: Mapping[int, RetrievalSplit], skip: bool
) -> tuple[list[Run], list[str]]:
    """Runs whose hashers take the training rows of the first seed, and why others do not."""
    seed, split = next(iter(splits.items()))
    refusals = find_refusals(
        [run for run in runs if run.seed == seed],
        X[split.train],
        None if y is None else y[split.train],
    )
    texts = describe_refusals(refusals)
    kept = [run for run in runs if (run.method, run.n_bits) not in refusals]
    if texts and not (skip and kept):
        number = "1 method" if len(texts) == 1 else f"{len(texts)} methods"
        advice = " Leave them out, or compare the others by skip_refused=True."
        raise ValueError(
            f"{number} cannot take these data. {' '.join(texts)}{advice if kept else ''}"
        )
    for text in texts:
        warnings.warn(f"left out: {text}", UserWarning, stacklevel=3)
    return kept, texts


def _warn_if_all_are_near(affinity: Any, splits: Iterable[RetrievalSplit]) -> None:
    """Warn where a database has no more rows than neighbours are relevant."""
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


def _decided(affinity: Any, y: Any) -> Any:
    """Return the affinity that "auto" means for all rows of a comparison."""
    return auto_affinity(y) if y is not None and is_auto(affinity) else affinity_for(affinity, y)


def affinity_of_hashers(given: Any, decided: Any, y: Any, splits: Iterable[RetrievalSplit]) -> Any:
    """Let hashers decide what "auto" means, unless the training rows of a split look otherwise.

    A hasher that decides itself knows that the affinity is a guess, and may refuse it. Without y
    it decides what to learn from, whatever codes are judged by.
    """
    if y is None:
        return "auto"
    if all(type(_decided(given, y[s.train])) is type(decided) for s in splits):
        return given
    return decided


def _check_rescoring(rescoring: Any, X: Any) -> None:
    if rescoring is None:
        return
    if not isinstance(rescoring, Rescoring):
        raise ValueError(f"rescoring must be a Rescoring or None. Got {rescoring!r} instead.")
    if sparse.issparse(X):
        raise ValueError("rescoring reads rows of floats: X must be dense. Got a sparse X.")


def _chosen_columns(
    names: str | Iterable[str] | None,
    measures: Mapping[str, ConfiguredMeasure],
    further: tuple[Column, ...],
) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """Return the columns that are shown, and those of them that are above chance."""
    columns = (*columns_of(measures), *further)
    if names is None:
        return columns, ()
    chances = {column.name: column for column in columns_above_chance(columns, measures)}
    known = {column.name: column for column in columns} | chances
    names = as_names(names, "columns")
    for name in names:
        if name not in known:
            raise ValueError(f"columns must be among {', '.join(known)}. Got {name!r}.")
    chosen = tuple(known[name] for name in dict.fromkeys(names))
    if not chosen:
        raise ValueError("columns must name at least one column.")
    return chosen, tuple(column for column in chosen if column.name in chances)


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


def _check_methods(methods: Any) -> dict[str, Any]:
    if not isinstance(methods, Mapping):
        names = as_names(methods, "methods")
        _check_names(names)
        methods = {name: method_of_comparison(name) for name in names}
        if len(methods) < len(names):
            raise ValueError(f"each method must be named once. Got {', '.join(names)}.")
    if not methods:
        raise ValueError("at least one method is needed.")
    _check_names(methods)
    return {name: check_method(hasher, name) for name, hasher in methods.items()}


def with_affinity(estimator: Any, affinity: Any) -> Any:
    """Clone an estimator that learns from `affinity` wherever it would choose one itself."""
    estimator = clone(estimator)
    chosen = {
        path: affinity
        for path, value in estimator.get_params().items()
        if path.rpartition("__")[2] == "affinity" and is_auto(value)
    }
    return estimator.set_params(**chosen)


def _groups(methods: Iterable[str], given: Iterable[str]) -> dict[str, str]:
    """Group of each method that was named; given codes have none."""
    named = set(methods) - set(given)
    first = {each: each.partition(":")[0].strip() for each in methods if each in named}
    return {each: METHODS[name].group for each, name in first.items() if name in METHODS}


def _check_codes(
    codes: Mapping[str, Any] | None, methods: Iterable[str], X: Any
) -> dict[str, GivenCodes]:
    """Return given codes as methods, after a look at their form and number."""
    if codes is not None and not isinstance(codes, Mapping):
        raise ValueError(f"codes must map names to codes. Got {type(codes).__name__}.")
    found = {name: GivenCodes(each) for name, each in (codes or {}).items()}
    _check_names(found)
    for name, each in found.items():
        if name in methods:
            raise ValueError(f"each method must be named once. Got {name!r} with codes as well.")
        each.check_rows(name, X.shape[0])
    return found


def _check_names(names: Iterable[Any]) -> None:
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"methods must be named by str. Got {name!r}.")
        if name == CHANCE:
            raise ValueError(f"no method can be named {CHANCE!r}: constant codes have this name.")


def _check_integers(values: Any, name: str, least: int) -> list[int]:
    values = list(values) if isinstance(values, Iterable) else [values]
    if not values:
        raise ValueError(f"{name} must hold at least one int.")
    for value in values:
        if not is_int(value, least):
            raise ValueError(f"{name} must be ints >= {least}. Got {value!r}.")
    return list(dict.fromkeys(map(int, values)))
