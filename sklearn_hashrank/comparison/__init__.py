"""Comparisons of methods: :func:`compare`, and :func:`suggest`, which says which one to take."""

from ._columns import measure_codes
from ._comparison import Comparison, compare
from ._method_table import method_from_name
from ._rescored import Rescoring
from ._runner import RunResult
from ._search_methods import FaissSearch, HasherSearch, method_of_comparison
from ._suggest import suggest
from ._suggestion import Rival, Suggestion, Trial

__all__ = [
    "Comparison",
    "FaissSearch",
    "HasherSearch",
    "Rescoring",
    "Rival",
    "RunResult",
    "Suggestion",
    "Trial",
    "compare",
    "measure_codes",
    "method_from_name",
    "method_of_comparison",
    "suggest",
]
