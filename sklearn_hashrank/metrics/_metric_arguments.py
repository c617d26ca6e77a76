"""From the arguments of a metric function, as ``locals()`` names them, to its value.

All metric functions have the same arguments but for those of the measure, so a function is a
signature, a docstring and one call.
"""

from typing import Any

import numpy as np

from ._configured import configure_measure
from ._counting import retrieval_histogram
from ._evaluation import mean_over_queries, mean_value
from ._histogram import RetrievalHistogram
from ._measure import MEASURES
from ._retrieval import y_and_codes

_OF_CODES = ("y_true", "codes", "database", "n_bits", "affinity", "average", "n_jobs")


def measure_codes(name: str, arguments: dict[str, Any]) -> float | np.ndarray:
    """Evaluate a measure, whose options are checked before anything is counted."""
    options = {name: value for name, value in arguments.items() if name not in _OF_CODES}
    configured = configure_measure(MEASURES[name], **options)
    values = _histogram(arguments, configured.measure.needs_codes).measure(configured)
    return mean_value(values, stacklevel=4) if arguments["average"] else values


def curves_of_codes(arguments: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return precision and recall at many ranks, and the ranks."""
    options = {name: arguments[name] for name in ("k", "ties", "zero_division")}
    precision, recall, k = _histogram(arguments).precision_recall_curve(**options)
    if arguments["average"]:
        both = np.stack([precision, recall], axis=1)
        precision, recall = mean_over_queries(both, stacklevel=4)
    return precision, recall, k


def _histogram(arguments: dict[str, Any], keep_codes: bool = False) -> RetrievalHistogram:
    """Count; without a database, every row is a query against all the others."""
    average, database = arguments["average"], arguments["database"]
    if not isinstance(average, (bool, np.bool_)):
        raise ValueError(f"average must be True or False. Got {average!r} instead.")
    queries = arguments["y_true"], arguments["codes"]
    y, codes = queries if database is None else y_and_codes(database)
    return retrieval_histogram(
        queries[1],
        codes,
        queries[0],
        y,
        affinity=arguments["affinity"],
        n_bits=arguments["n_bits"],
        exclude_self=database is None,
        keep_codes=keep_codes,
        n_jobs=arguments["n_jobs"],
    )
