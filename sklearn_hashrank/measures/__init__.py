"""Every tie-aware measure of retrieval as a function of counts, and their registry.

Items at one distance are tied. A measure is the exact expectation over all orders of tied items,
each order equally likely, and needs no more than how many items of each relevance level lie in
each tie [1]_ [2]_. What lies within a Hamming radius is whole ties, and no order matters.

One path, many faces. ``h.ndcg(k=10)``, ``h.measure("ndcg", k=10)``, the metric function
``tie_aware_ndcg_score(..., k=10)``, a scorer and a column of ``compare`` all walk it::

    h.ndcg(k=10)                          a method of RetrievalHistogram: types, documentation
      -> h.measure("ndcg", k=10)
        -> configure_measure(...)         _registry.py: finds the Measure by any of its names and
                                          checks the options, which nobody does again
        -> evaluate(...)                  _evaluation.py: chunks of queries, bounds over tie
                                          orders, undefined queries
          -> ndcg(ties, 10)               _ranking.py: a function of Ties

The rooms:

* ``_ties.py``: :class:`Ties`, what a measure is a function of;
* ``_sums.py``, ``_gains.py``: sums of discounts, gains of levels, the ideal DCG. Objectives use
  the same;
* ``_ranking.py``, ``_lookup.py``: the measures of the ranking and those within a radius;
* ``_measure.py``: :class:`Measure`; ``_table.py``: the one table of the names of the package's
  measures; ``_registry.py``: :func:`register_measure`, lookup by name, options;
* ``_notation.py``: names with options, ``"ap@5000:normalize=retrieved"``, for scorers, ``compare``
  and the command line;
* ``_evaluation.py``: the evaluation of every measure, and means over queries;
* ``_curves.py``: precision and recall at many ranks; ``_usage.py``: how codes use the Hamming
  space.

A measure of the package is a function, a line of ``_table.py`` and a method of
``RetrievalHistogram``. A user's measure is a function and a call of :func:`register_measure`.

References
----------
.. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
   efficiently in the presence of tied scores", ECIR 2008.
.. [2] K. He, F. Cakir, S. A. Bargal and S. Sclaroff, "Hashing as tie-aware learning to rank",
   CVPR 2018.
"""

from ._curves import precision_and_recall
from ._evaluation import NEEDS_CODES, evaluate, mean_over_queries, mean_score
from ._gains import Gain, ideal_dcg, level_gains
from ._measure import Measure
from ._notation import parse_measure
from ._ranking import Normalize
from ._registry import (
    TIE_ORDERS,
    ConfiguredMeasure,
    TieOrder,
    configure_measure,
    get_measure,
    list_measures,
    register_measure,
    unregister_measure,
)
from ._sums import DISCOUNTS, Discount, DiscountSums
from ._table import MEASURES
from ._ties import Ties, ratio
from ._usage import CodeUsage, code_usage, usage_of

__all__ = [
    "DISCOUNTS",
    "MEASURES",
    "NEEDS_CODES",
    "TIE_ORDERS",
    "CodeUsage",
    "ConfiguredMeasure",
    "Discount",
    "DiscountSums",
    "Gain",
    "Measure",
    "Normalize",
    "TieOrder",
    "Ties",
    "code_usage",
    "configure_measure",
    "evaluate",
    "get_measure",
    "ideal_dcg",
    "level_gains",
    "list_measures",
    "mean_over_queries",
    "mean_score",
    "parse_measure",
    "precision_and_recall",
    "ratio",
    "register_measure",
    "unregister_measure",
    "usage_of",
]
