"""Measures of retrieval: functions of counts, evaluated exactly where items are tied.

Items at one distance are tied. A measure is the exact expectation over all orders of tied items,
each order equally likely, and needs no more than how many items of each relevance level lie in
each tie [1]_ [2]_. What lies within a Hamming radius is whole ties, and no order matters.

One path, many faces. ``h.ndcg(k=10)``, ``h.measure("ndcg", k=10)``, the metric function
``tie_aware_ndcg_score(..., k=10)``, a scorer and a column of ``compare`` all walk it::

    h.ndcg(k=10)                          a method of RetrievalHistogram: types, documentation
      -> h.measure("ndcg", k=10)
        -> configure_measure(...)         _configured.py: finds the Measure by any of its names and
                                          checks the options, which nobody does again
        -> evaluate(...)                  _evaluation.py: chunks of queries, bounds over tie
                                          orders, undefined queries
          -> ndcg(ties, 10)               _ranking_measures.py: a function of Ties

The rooms:

* ``_tied_items.py``: :class:`Ties`, what a measure is a function of; ``_tie_tables.py``: the
  counts of all queries, the same ties for each or ties of its own, in chunks of queries;
  ``_tie_effects.py``: how much ties matter;
* ``_sums.py``, ``_gains.py``: sums of discounts, gains of levels, the ideal DCG. Objectives use
  the same;
* ``_ranking_measures.py``, ``_within_radius.py``: the measures, each a function with its names
  above it;
* ``_measure.py``: :class:`Measure`, the record of names, parameters and range;
  ``_registry.py``: :func:`register_measure` and lookup by name;
* ``_configured.py``: a measure with its options, also written as one word,
  ``"ap@5000:normalize=retrieved"`` or, as ir_measures has it, ``"AP(rel=2)@100"``;
* ``_evaluation.py``: the evaluation of every measure, and means over queries;
* ``_rank_curves.py``: precision and recall at many ranks; ``_code_usage.py``: how codes use the
  Hamming space.

A measure of the package is a decorated function, a method of ``RetrievalHistogram`` for its types,
and a function in ``metrics``. A user's measure is a function and a call of
:func:`register_measure`.

References
----------
.. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
   efficiently in the presence of tied scores", ECIR 2008.
.. [2] K. He, F. Cakir, S. A. Bargal and S. Sclaroff, "Hashing as tie-aware learning to rank",
   CVPR 2018.
"""

from . import _ranking_measures, _within_radius  # noqa: F401, register the measures of the package
from ._code_usage import CodeUsage, code_usage, usage_of
from ._configured import ConfiguredMeasure, configure_measure, parse_measure
from ._evaluation import NEEDS_CODES, evaluate, mean_over_queries, mean_value
from ._gains import Gain, ideal_dcg, level_gains
from ._measure import COMMON_PARAMETERS, MEASURES, TIE_ORDERS, Measure, TieOrder
from ._rank_curves import precision_and_recall
from ._ranking_measures import Normalize
from ._registry import get_measure, list_measures, register_measure, unregister_measure
from ._sums import DISCOUNTS, Discount, DiscountSums
from ._tie_effects import TieReport, TieWarning, report_ties, warn_of_ties
from ._tie_tables import DenseTies, RaggedTies, TieTable
from ._tied_items import Ties, ratio

__all__ = [
    "COMMON_PARAMETERS",
    "DISCOUNTS",
    "MEASURES",
    "NEEDS_CODES",
    "TIE_ORDERS",
    "CodeUsage",
    "ConfiguredMeasure",
    "DenseTies",
    "Discount",
    "DiscountSums",
    "Gain",
    "Measure",
    "Normalize",
    "RaggedTies",
    "TieOrder",
    "TieReport",
    "TieTable",
    "TieWarning",
    "Ties",
    "code_usage",
    "configure_measure",
    "evaluate",
    "get_measure",
    "ideal_dcg",
    "level_gains",
    "list_measures",
    "mean_over_queries",
    "mean_value",
    "parse_measure",
    "precision_and_recall",
    "ratio",
    "register_measure",
    "report_ties",
    "unregister_measure",
    "usage_of",
    "warn_of_ties",
]
