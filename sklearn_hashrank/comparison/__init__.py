"""Methods, code lengths and seeds under one protocol; see :func:`compare`."""

from ._comparison import WRITTEN_FILES, Comparison, compare
from ._measuring import COLUMNS, Column, measure_codes
from ._methods import method_from_name
from ._names import GROUPS, METHODS, Method
from ._runner import RunResult

__all__ = [
    "COLUMNS",
    "GROUPS",
    "METHODS",
    "WRITTEN_FILES",
    "Column",
    "Comparison",
    "Method",
    "RunResult",
    "compare",
    "measure_codes",
    "method_from_name",
]
