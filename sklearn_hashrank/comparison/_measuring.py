"""What is measured of a set of codes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._measures import mean_score
from ..histogram import RetrievalHistogram


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

_TIE_RANGE = {"": "expected", "_pessimistic": "pessimistic", "_optimistic": "optimistic"}


def measure_histogram(
    histogram: RetrievalHistogram, database_codes: np.ndarray
) -> tuple[dict[str, float], dict[str, Any]]:
    """Every score of a comparison, and the curves that its displays draw.

    Parameters
    ----------
    histogram : RetrievalHistogram
        What was counted.
    database_codes : ndarray of shape (n_database, ceil(n_bits / 8)), uint8
        Packed codes of the database.

    Returns
    -------
    scores : dict of str to float
        Means over the queries.
    curves : dict of str to list
        Plain lists and numbers, fit for JSON.
    """
    scores = {}
    for name, measure in {"ap": "average_precision", "ndcg": "ndcg"}.items():
        for suffix, ties in _TIE_RANGE.items():
            scores[name + suffix] = mean_score(histogram.measure(measure, ties=ties))
    return scores, {}
