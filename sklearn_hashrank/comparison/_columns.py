"""The columns of a comparison: the measures, their titles and sentences, and their values."""

import math
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from ..metrics._configured import ConfiguredMeasure
from ..metrics._evaluation import mean_over_queries, mean_value
from ..metrics._histogram import RetrievalHistogram
from ..metrics._measure import Measure, TieOrder
from ..metrics._retrieval import warn_if_all_is_relevant
from ..metrics._scorers import make_retrieval_scorer
from ..metrics._tie_tables import DenseTies


@dataclass(frozen=True)
class Column:
    """A number of every run, and how tables show it.

    Parameters
    ----------
    name : str
        Key of the number in the scores of a run.
    title : str
        Heading that tables and figures give it.
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
        "Tie-aware normalized discounted cumulative gain, exponential gain.",
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
"""Number of neighbors that searches find whose time is measured."""

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

_NO_MEASURES = tuple(column for column in COLUMNS if column.name not in MEASURED)
"""The columns that are not measures, which every comparison has."""

_TIE_RANGE: dict[str, TieOrder] = {
    "_pessimistic": "pessimistic",
    "_optimistic": "optimistic",
}
OF_QUERIES = "of_queries"
"""Key of the values of each query among the curves of a run, by the names of the measures."""

_OF_RUN = ("method", "n_bits", "seed", "error")
_COUNTED = ("n_train", "n_queries", "n_database", "distinct_codes", "code_entropy")


def name_measures(measures: Any) -> dict[str, ConfiguredMeasure]:
    """Return the measures that :func:`compare` was asked for, by the name of their column."""
    named = make_retrieval_scorer(measures).measures
    others = (
        {column.name for column in (*_NO_MEASURES, *SEARCH_COLUMNS)} | set(_COUNTED) | set(_OF_RUN)
    )
    for name in named:
        if not name:
            raise ValueError("measures must have names that can head a column. Got ''.")
        if name in others or name.endswith(("_pessimistic", "_optimistic")):
            raise ValueError(f"measures must not be called {name!r}, which another column is.")
    return named


def columns_of(measures: Mapping[str, ConfiguredMeasure]) -> tuple[Column, ...]:
    """The columns of a comparison by these measures: theirs, then the others."""
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
    return (*columns, *_NO_MEASURES)


def _title(name: str, measure: Measure) -> str:
    """Head a column: ``"ndcg@10:gain=linear"`` becomes ``"NDCG@10, gain=linear"``."""
    written = re.match(r"(\w+)(?=[@:])", name)
    if written is None or written[0] not in measure.names:
        return name
    return measure.label + ", ".join(part.strip() for part in name[written.end() :].split(":"))


def _is_ranged(configured: ConfiguredMeasure) -> bool:
    """Whether there are bounds over tie orders: not within a radius, nor of one order."""
    return configured.measure.radius is None and "ties" not in configured.given


def evaluate_histogram(
    histogram: RetrievalHistogram, measures: Mapping[str, ConfiguredMeasure]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Compute every score of a comparison, and the curves of its figures.

    Scores are means over the queries, with their bounds. Curves are plain lists and numbers, fit
    for JSON. Under ``"of_queries"`` they hold the values of each query by the names of the
    measures. Of a ranking without codes, measures within a Hamming radius and the numbers of codes
    are NaN.
    """
    is_of_codes = isinstance(histogram.table, DenseTies)
    if is_of_codes:
        warn_if_all_is_relevant(histogram)
    scores, of_each = {}, {}
    for name, configured in measures.items():
        if configured.measure.radius is not None and not is_of_codes:
            scores[name] = math.nan
            of_each[name] = [math.nan] * histogram.table.n_queries
            continue
        values = histogram.measure(configured)
        scores[name], of_each[name] = mean_value(values), values.tolist()
        for suffix, ties in _TIE_RANGE.items() if _is_ranged(configured) else ():
            scores[name + suffix] = mean_value(histogram.measure(configured.with_ties(ties)))
    curves = _curves(histogram)
    if is_of_codes:
        usage = histogram.code_usage()
        scores |= {"distinct_codes": usage.n_distinct, "code_entropy": usage.entropy}
        items, codes = (each.tolist() for each in np.unique(usage.counts, return_counts=True))
    else:
        scores |= {"distinct_codes": math.nan, "code_entropy": math.nan}
        items, codes = [], []
    curves |= {"items_per_code": items, "codes_with_so_many_items": codes, OF_QUERIES: of_each}
    return scores, curves


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
