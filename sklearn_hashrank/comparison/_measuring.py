"""What is measured of a set of codes."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from ..histogram import RetrievalHistogram, retrieval_histogram
from ..measures import CodeUsage, mean_over_queries, mean_score
from ..metrics import warn_if_all_is_relevant


@dataclass(frozen=True)
class Column:
    """A figure of every run, and how tables show it.

    Parameters
    ----------
    name : str
        Its key in the scores.
    title : str
        Its heading.
    meaning : str
        One sentence for the reader of a report.
    best : {"highest", "lowest"}
        Which value is best.
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
        "Microseconds of one thread to encode an item: queries and database, fastest of three.",
        best="lowest",
        is_time=True,
    ),
)

_RANKING = {"ap": "average_precision", "ndcg": "ndcg"}
_LOOKUP = {
    "ph2": "lookup_precision",
    "acg": "average_cumulative_gain",
    "mlgap": "local_group_average_precision",
}
_TIE_RANGE = {"": "expected", "_pessimistic": "pessimistic", "_optimistic": "optimistic"}


def measure_codes(
    query_codes: Any,
    database_codes: Any,
    query_y: Any,
    database_y: Any,
    *,
    n_bits: int,
    affinity: Any = "auto",
    exclude_self: bool = False,
    n_jobs: int | None = None,
) -> tuple[dict[str, float], dict[str, Any]]:
    """Every score of a comparison, and the curves that its displays draw.

    Parameters
    ----------
    query_codes, database_codes : array-like
        Codes in any format.
    query_y, database_y : array-like
        What `affinity` compares.
    n_bits : int
        Length of a code.
    affinity : "auto" or affinity object, default="auto"
        How relevant an item is.
    exclude_self : bool, default=False
        Whether the queries are the database, and no row retrieves itself.
    n_jobs : int, default=None
        Threads over queries.

    Returns
    -------
    scores : dict of str to float
        Means over the queries.
    curves : dict of str to list
        Plain lists and numbers, fit for JSON.

    Examples
    --------
    >>> from sklearn_hashrank.comparison import measure_codes
    >>> y, codes = [0, 0, 1, 1], [[0, 0], [0, 1], [1, 1], [1, 1]]
    >>> scores, curves = measure_codes(codes, codes, y, y, n_bits=2, exclude_self=True)
    >>> {name: round(float(scores[name]), 3) for name in ("ap_pessimistic", "ap", "ap_optimistic")}
    {'ap_pessimistic': 0.833, 'ap': 0.903, 'ap_optimistic': 1.0}
    """
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
    scores = {}
    for name, measure in _RANKING.items():
        for suffix, ties in _TIE_RANGE.items():
            scores[name + suffix] = mean_score(histogram.measure(measure, ties=ties))
    for name, measure in _LOOKUP.items():
        scores[name] = mean_score(histogram.measure(measure))
    usage = histogram.code_usage()
    scores |= {"distinct_codes": usage.n_distinct, "code_entropy": usage.entropy}
    return scores, _curves(histogram, usage)


def _curves(histogram: RetrievalHistogram, usage: CodeUsage) -> dict[str, Any]:
    precision, recall, k = histogram.precision_recall_curve()
    items, codes = np.unique(usage.counts, return_counts=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # the scores have said it
        precision, recall = mean_over_queries(np.stack([precision, recall], axis=1))
    return {
        "k": k.tolist(),
        "precision": precision.tolist(),
        "recall": recall.tolist(),
        "items_per_code": items.tolist(),
        "codes_with_so_many_items": codes.tolist(),
    }
