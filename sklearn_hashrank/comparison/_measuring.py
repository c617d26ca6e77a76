"""What is measured of a set of codes."""

from dataclasses import dataclass
from typing import Any

from .._measures import mean_score
from ..histogram import retrieval_histogram


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
    """
    histogram = retrieval_histogram(
        query_codes,
        database_codes,
        query_y,
        database_y,
        affinity=affinity,
        n_bits=n_bits,
        exclude_self=exclude_self,
        n_jobs=n_jobs,
    )
    scores = {}
    for name, measure in {"ap": "average_precision", "ndcg": "ndcg"}.items():
        for suffix, ties in _TIE_RANGE.items():
            scores[name + suffix] = mean_score(histogram.measure(measure, ties=ties))
    return scores, {}
