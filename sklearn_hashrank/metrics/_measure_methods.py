"""The measures of the package as methods of a histogram, made from the table of measures.

Editors and type checkers read ``_measure_methods.pyi``, which
``python -m tests.metrics.method_stub`` writes.
"""

import inspect
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from . import _measures  # noqa: F401, it fills the table
from ._measure import MEASURES, Measure, TieOrder

Values = NDArray[np.float64]

_TEXTS = {
    "k": "Rank cutoff, possibly inside a tie. None means no cutoff.",
    "radius": "Largest Hamming distance of the items that count.",
    "ties": (
        "Mean, maximum or minimum over all orders of tied items, or the order of trec_eval, by the "
        "names of the items."
    ),
    "zero_division": "Value of a query without relevant items.",
    "min_relevance": "Lowest relevance level that counts as relevant. None: every level above 0.",
}
"""What documentation says of the keywords that measures share."""


class MeasureMethods:
    """One method for each measure of the package."""


def _method(measure: Measure) -> Any:
    def method(self: Any, **options: Any) -> Values:
        return self.measure(measure, **options)

    signature = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    lines = [inspect.getdoc(measure.function), "", "Parameters", "----------"]
    for name, keyword in measure.keywords.items():
        kind = inspect.Parameter.KEYWORD_ONLY
        signature.append(inspect.Parameter(name, kind, default=keyword.default))
        text = f"Option of :func:`~sklearn_hashrank.metrics.{measure.function_name}`."
        lines += [
            f"{name} : {_type_of(measure, name)}, default={_quoted(keyword.default)}",
            f"    {_TEXTS.get(name, text)}",
        ]
    lines += ["", "Returns", "-------", "values : ndarray of shape (n_queries,)"]
    method.__name__, method.__qualname__ = measure.name, f"MeasureMethods.{measure.name}"
    method.__signature__, method.__doc__ = inspect.Signature(signature), "\n".join(lines)
    return method


def _type_of(measure: Measure, name: str) -> str:
    if name in ("k", "radius"):
        return "int"
    values = get_args(TieOrder) if name == "ties" else measure.options.get(name, 0.0)
    return "float" if isinstance(values, float) else f"{{{', '.join(map(_quoted, values))}}}"


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


for _measure in MEASURES.values():
    setattr(MeasureMethods, _measure.name, _method(_measure))
