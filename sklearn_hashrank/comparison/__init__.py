"""Comparisons of methods: :func:`compare`, and :func:`suggest`, which says which one to take."""

from ._columns import (
    COLUMNS,
    MEASURED,
    Column,
    columns_of,
    measure_codes,
    name_measures,
)
from ._comparison import WRITTEN_FILES, Comparison, compare
from ._method_table import (
    GROUPS,
    METHODS,
    SITUATIONS,
    Method,
    method_from_name,
    parameters_to_set,
)
from ._own_distances import FaissSearch, HasherSearch, method_of_comparison
from ._rescored import Rescoring, measure_rescoring, projections_of
from ._runner import RunResult
from ._suggest import suggest
from ._suggestion import Rival, Suggestion, Trial

__all__ = [
    "COLUMNS",
    "GROUPS",
    "MEASURED",
    "METHODS",
    "SITUATIONS",
    "WRITTEN_FILES",
    "Column",
    "Comparison",
    "FaissSearch",
    "HasherSearch",
    "Method",
    "Rescoring",
    "Rival",
    "RunResult",
    "Suggestion",
    "Trial",
    "columns_of",
    "compare",
    "measure_codes",
    "measure_rescoring",
    "method_from_name",
    "method_of_comparison",
    "name_measures",
    "parameters_to_set",
    "projections_of",
    "suggest",
]
