"""The columns of a comparison: the measures, their titles and sentences, and their values."""

import math
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from ..metrics._configured import ConfiguredMeasure
from ..metrics._counting import retrieval_histogram
from ..metrics._evaluation import mean_over_queries, mean_value
from ..metrics._histogram import RetrievalHistogram
from ..metrics._measure import Measure, TieOrder
from ..metrics._retrieval import warn_if_all_is_relevant
from ..metrics._scorers import make_retrieval_scorer
from ..metrics._tie_tables import DenseTies
from ..metrics._usage import CodeUsage


@dataclass(frozen=True)
class Column:
    """A figure of every run, and how tables show it.

    Parameters
    ----------
    name : str
        Key of the figure in the scores of a run.
    title : str
        Heading that tables and pictures give it.
    meaning : str
        One sentence for the reader of a report.
    best : {"highest", "lowest"}
        Whether the highest or the lowest value is the best.
    ranged : bool
        Whether the scores hold its bounds over tie orders, too.
    is_time : bool
        Whether values are shown by significant digits, not by decimal places.
    """

    name: str
    title: str
    meaning: str
    best: str = "highest"
    ranged: bool = False
    is_time: bool = False


COLUMNS = (
    Column(
        "ap",
        "AP_T",
        "Tie-aware average precision: the exact mean over all orders of tied items.",
        ranged=True,
    ),
    Column(
        "ndcg",
        "NDCG_T",
        "Tie-aware normalised discounted cumulative gain, exponential gain.",
        ranged=True,
    ),
    Column(
        "ph2",
        "PH2",
        "Share of the relevant among the items within Hamming radius 2; 0 where there is none.",
    ),
    Column("acg", "ACG3", "Mean relevance level of the items within Hamming radius 3."),
    Column(
        "mlgap",
        "mLGAP",
        "Mean local group average precision within radius 2: precision, times how evenly the "
        "items use the codes of the ball.",
    ),
    Column(
        "fit_seconds", "Training, s", "Seconds of one thread to fit.", best="lowest", is_time=True
    ),
    Column(
        "encode_microseconds",
        "Encoding, µs per item",
        "Microseconds of one thread to encode an item: queries and database, fastest of three "
        "or of as many as a second has time for.",
        best="lowest",
        is_time=True,
    ),
)

SEARCHED = 10
"""Number of neighbours that searches find whose time is measured."""

SEARCH_COLUMNS = (
    Column(
        "item_bytes",
        "Bytes per item",
        "Memory of an item of the database, as the ranking of the method needs it.",
        best="lowest",
        is_time=True,
    ),
    Column(
        "search_microseconds",
        "Search, µs per query",
        f"Microseconds of one thread to find the {SEARCHED} nearest items, the encoding of the "
        "query included, fastest of three.",
        best="lowest",
        is_time=True,
    ),
)
"""The columns of a comparison in which a method ranks by a distance of its own."""

MEASURED = ("ap", "ndcg", "ph2", "acg", "mlgap")
"""Short names of the measures of a comparison, unless others are asked for."""

_FIGURES = tuple(column for column in COLUMNS if column.name not in MEASURED)
"""The columns that are no measures, which every comparison has."""

_TIE_RANGE: dict[str, TieOrder] = {
    "_pessimistic": "pessimistic",
    "_optimistic": "optimistic",
}
_CURVES = ("k", "precision", "recall", "items_per_code", "codes_with_so_many_items")
OF_QUERIES = "of_queries"
"""Key of the values of each query among the curves of a run, by the names of the measures."""

HISTORY = "history"
"""Key of the values of the objective after each pass among the curves of a run; often empty."""

_LARGEST = 1 << 53  # integer that is a float
_MOST_CODES = 1 << 32
_OF_RUN = ("method", "n_bits", "seed", "error")
_COUNTED = ("n_train", "n_queries", "n_database", "distinct_codes", "code_entropy")


def name_measures(measures: Any) -> dict[str, ConfiguredMeasure]:
    """Return the measures that :func:`compare` was asked for, by the name of their column."""
    named = make_retrieval_scorer(measures).measures
    others = {column.name for column in (*_FIGURES, *SEARCH_COLUMNS)} | set(_COUNTED) | set(_OF_RUN)
    for name in named:
        if not name:
            raise ValueError("measures must have names that can head a column. Got ''.")
        if name in others or name.endswith(("_pessimistic", "_optimistic")):
            raise ValueError(f"measures must not be called {name!r}, which another column is.")
    return named


def columns_of(measures: Mapping[str, ConfiguredMeasure]) -> tuple[Column, ...]:
    """The columns of a comparison by these measures: theirs, then the other figures."""
    known = {column.name: column for column in COLUMNS}
    columns = []
    for name, configured in measures.items():
        measure, given = configured.measure, configured.given
        if name in known and name == measure.short_name and not given:
            columns.append(known[name])
            continue
        options = ", ".join(f"{option} = {value}" for option, value in given.items())
        title = measure.label if name == measure.short_name else _title(name, measure)
        meaning = f"{measure.meaning} Here {options}." if options else measure.meaning
        columns.append(Column(name, title, meaning, ranged=_is_ranged(configured)))
    return (*columns, *_FIGURES)


def _title(name: str, measure: Measure) -> str:
    """Head a column: ``"ndcg@10:gain=linear"`` becomes ``"NDCG@10, gain=linear"``."""
    written = re.match(r"(\w+)(?=[@:])", name)
    if written is None or written[0] not in measure.names:
        return name
    return measure.label + ", ".join(part.strip() for part in name[written.end() :].split(":"))


def _is_ranged(configured: ConfiguredMeasure) -> bool:
    """Whether there are bounds over tie orders: not within a radius, nor of one order."""
    return configured.measure.radius is None and "ties" not in configured.given


def measure_codes(
    query_codes: Any,
    database_codes: Any,
    query_y: Any,
    database_y: Any,
    *,
    n_bits: int,
    affinity: Any = "auto",
    exclude_self: bool = False,
    measures: Any = MEASURED,
    n_jobs: int | None = None,
) -> tuple[dict[str, float], dict[str, Any]]:
    """Compute every score of a comparison, and the curves of its pictures.

    Parameters
    ----------
    query_codes, database_codes : array-like
        Codes of the queries and of the items, in any format.
    query_y, database_y : array-like
        Labels, or whatever else `affinity` compares, one row for each code.
    n_bits : int
        Number of bits of each code.
    affinity : "auto" or affinity object, default="auto"
        How relevant an item is.
    exclude_self : bool, default=False
        Whether the queries are the database, and no row retrieves itself.
    measures : str, callable, Measure, list or dict, default=("ap", "ndcg", "ph2", "acg", "mlgap")
        Measures of the ranking and of the lookup, as for
        :func:`~sklearn_hashrank.metrics.make_retrieval_scorer`.
    n_jobs : int, default=None
        Number of threads, which share the queries. None means 1 unless in a
        :obj:`joblib.parallel_config` context.

    Returns
    -------
    scores : dict of str to float
        Means over the queries by the names of the measures; of rankings with their bounds.
    curves : dict
        Plain lists and numbers, fit for JSON: points of the curves of a report, and as
        ``"of_queries"`` the values of each query by the names of the measures.

    Examples
    --------
    >>> from sklearn_hashrank.comparison import measure_codes
    >>> y, codes = [0, 0, 1, 1], [[0, 0], [0, 1], [1, 1], [1, 1]]
    >>> scores, curves = measure_codes(codes, codes, y, y, n_bits=2, exclude_self=True)
    >>> {name: round(float(scores[name]), 3) for name in ("ap_pessimistic", "ap", "ap_optimistic")}
    {'ap_pessimistic': 0.833, 'ap': 0.903, 'ap_optimistic': 1.0}
    """
    named = name_measures(measures)
    histogram = retrieval_histogram(
        query_codes,
        database_codes,
        query_y,
        database_y,
        affinity=affinity,
        n_bits=n_bits,
        exclude_self=exclude_self,
        keep_codes=True,
        n_jobs=n_jobs,
    )
    warn_if_all_is_relevant(histogram)
    scores, of_queries = measure_histogram(histogram, named)
    usage = histogram.code_usage()
    scores |= {"distinct_codes": usage.n_distinct, "code_entropy": usage.entropy}
    curves = _curves(histogram) | _counts_of_codes(usage)
    return scores, curves | {OF_QUERIES: of_queries, HISTORY: []}


def measure_ranking(
    histogram: RetrievalHistogram, measures: Mapping[str, ConfiguredMeasure]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Compute the scores and curves of a ranking that is not one of codes.

    Measures within a Hamming radius, and the numbers of codes, are NaN.

    Parameters
    ----------
    histogram : RetrievalHistogram
        Made from distances.
    measures : dict of str to ConfiguredMeasure
        By the names of their columns.

    Returns
    -------
    scores, curves : dict
        As of :func:`measure_codes`.
    """
    scores, of_queries = measure_histogram(histogram, measures)
    scores |= {"distinct_codes": math.nan, "code_entropy": math.nan}
    curves = {**_curves(histogram), "items_per_code": [], "codes_with_so_many_items": []}
    return scores, curves | {OF_QUERIES: of_queries, HISTORY: []}


def measure_histogram(
    histogram: RetrievalHistogram, measures: Mapping[str, ConfiguredMeasure]
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Means over the queries with their bounds, and the values of each query.

    Parameters
    ----------
    histogram : RetrievalHistogram
        Of codes, or of distances of another kind.
    measures : dict of str to ConfiguredMeasure
        By the names of their columns.

    Returns
    -------
    scores : dict of str to float
    of_queries : dict of str to list of float
    """
    scores, of_queries = {}, {}
    for name, configured in measures.items():
        if configured.measure.radius is not None and not isinstance(histogram.table, DenseTies):
            scores[name] = math.nan
            of_queries[name] = [math.nan] * histogram.table.n_queries
            continue
        values = histogram.measure(configured)
        scores[name], of_queries[name] = mean_value(values), values.tolist()
        for suffix, ties in _TIE_RANGE.items() if _is_ranged(configured) else ():
            scores[name + suffix] = mean_value(histogram.measure(configured.with_ties(ties)))
    return scores, of_queries


def are_scores(
    scores: Any, measures: Mapping[str, ConfiguredMeasure], further: Iterable[Column] = ()
) -> bool:
    """Whether these are scores of a run by such measures: every name is there, and a number."""
    names = set(_COUNTED) | {column.name for column in (*_FIGURES, *further)}
    for name, configured in measures.items():
        names |= {name + suffix for suffix in ("", *(_TIE_RANGE if _is_ranged(configured) else ()))}
    return isinstance(scores, dict) and names <= set(scores) and _are_numbers(scores.values())


def are_curves(curves: Any) -> bool:
    """Whether these are curves as :func:`measure_codes` gives them, each as long as its partner."""
    if not isinstance(curves, dict) or set(curves) != {*_CURVES, OF_QUERIES, HISTORY}:
        return False
    of_queries = curves[OF_QUERIES]
    if not isinstance(of_queries, dict) or not all(
        isinstance(values, list) and _are_numbers(values) for values in of_queries.values()
    ):
        return False
    if not all(isinstance(curves[name], list) for name in (*_CURVES, HISTORY)):
        return False
    if not all(_are_numbers(curves[name]) for name in (*_CURVES, HISTORY)):
        return False
    k, precision, recall, items, codes = (curves[name] for name in _CURVES)
    counts = [*k, *items, *codes]
    return (
        len(k) == len(precision) == len(recall)
        and len(items) == len(codes)
        and all(type(count) is int and count >= 0 for count in counts)
        and sum(codes) <= _MOST_CODES
    )


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(type(v) is float or (type(v) is int and abs(v) <= _LARGEST) for v in values)


def _curves(histogram: RetrievalHistogram) -> dict[str, Any]:
    precision, recall, k = histogram.precision_recall_curve()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # the scores have said it
        precision, recall = mean_over_queries(np.stack([precision, recall], axis=1))
    return {
        "k": k.tolist(),
        "precision": precision.tolist(),
        "recall": recall.tolist(),
    }


def _counts_of_codes(usage: CodeUsage) -> dict[str, list[int]]:
    items, codes = np.unique(usage.counts, return_counts=True)
    return {"items_per_code": items.tolist(), "codes_with_so_many_items": codes.tolist()}
