"""Comparisons of methods at several code lengths and seeds; see :func:`compare`."""

from ._columns import (
    COLUMNS,
    MEASURED,
    Column,
    columns_of,
    measure_codes,
    name_measures,
)
from ._comparison import WRITTEN_FILES, Comparison, compare
from ._method_table import GROUPS, METHODS, Method, method_from_name, parameters_to_set
from ._rescored import Rescoring, measure_rescoring, projections_of
from ._runner import RunResult

__all__ = [
    "COLUMNS",
    "GROUPS",
    "MEASURED",
    "METHODS",
    "WRITTEN_FILES",
    "Column",
    "Comparison",
    "Method",
    "Rescoring",
    "RunResult",
    "columns_of",
    "compare",
    "measure_codes",
    "measure_rescoring",
    "method_from_name",
    "name_measures",
    "parameters_to_set",
    "projections_of",
]
