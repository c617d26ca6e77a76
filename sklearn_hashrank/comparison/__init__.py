"""Methods, code lengths and seeds under one protocol; see :func:`compare`."""

from ._comparison import WRITTEN_FILES, Comparison, compare
from ._measuring import COLUMNS, Column, measure_codes
from ._methods import METHODS, method_from_name
from ._runner import RunResult

__all__ = [
    "COLUMNS",
    "METHODS",
    "WRITTEN_FILES",
    "Column",
    "Comparison",
    "RunResult",
    "compare",
    "measure_codes",
    "method_from_name",
]
