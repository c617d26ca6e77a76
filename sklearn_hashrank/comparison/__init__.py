"""Comparisons of methods: :func:`compare`, and :func:`suggest`, which says which one to take."""

from ._compare import compare
from ._comparison import Comparison
from ._hasher_search import HasherSearch
from ._method_table import method_from_name
from ._suggest import suggest

__all__ = ["Comparison", "HasherSearch", "compare", "method_from_name", "suggest"]
