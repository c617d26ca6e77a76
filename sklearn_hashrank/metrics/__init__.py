"""Rankings: counts of what is retrieved, measures of the counts, scorers, tests and displays.

How calls flow
--------------
Two doors lead to a :class:`~sklearn_hashrank.RetrievalHistogram`, and all values come from there::

    tie_aware_ndcg_score(y, codes, k=10)     _ranking_metrics.py, _lookup_metrics.py: a signature
      -> measure_codes("ndcg", ...)          _metric_arguments.py
    scorer(estimator, X, y)                  _scorers.py, displays, BaseHasher.score
      -> retrieve(estimator, X, y, ...)      _retrieval.py: unwrap, encode, relevance, database

      -> retrieval_histogram(...)            _counting.py: counts by query, level and distance
      -> histogram.measure("ndcg", k=10)     _histogram.py; histogram.ndcg(k=10) is the same
        -> configure_measure(...)            _configured.py: finds it, checks options, once
        -> evaluate(...)                     _evaluation.py: chunks of queries, bounds over orders
          -> ndcg(ties, 10)                  _measures.py: the table, functions of Ties
      -> mean_over_queries(...)              leaves out undefined queries and warns

Items at one distance are tied. A measure is the exact expectation over all orders of tied items,
each order equally likely, and needs no more than how many items of each relevance level lie in
each tie [1]_ [2]_. What lies within a Hamming radius is whole ties, and no order matters.

Counting
--------
`retrieval_histogram` reads the queries once, and sums a count over the blocks of the database, in
this process with threads over queries, or in a task for each chunk of a dask array::

    source(codes, y)                         arrays, memmaps, iterators, dask arrays
      -> fit_affinity                        once, on the first block
      -> Queries                             equal queries are counted once
      -> source.sum(BlockCounter)            items grouped by equal `y`; the kernel count_runs

Rankings that no code made have ties of their own for each query: ``_scores.py`` (from_scores),
``_runs.py`` with ``_trec_files.py`` (from_run) and ``_distances.py`` make ``Rankings``, whose
kernel counts how many items lie at and between the relevant ones. ``_tie_tables.py`` shows both
kinds of counts to measures as chunks of :class:`Ties`.

Beside these: ``_gains.py`` and ``_sums.py`` (gains, discounts, the ideal DCG, which objectives
share), ``_measure.py`` and ``_registry.py`` (the record of a measure, measures of users),
``_rank_curves.py``, ``_tie_report.py``, ``_paired_tests.py``, ``_usage.py``, ``_index.py``.
Displays draw histograms, and only ``plot`` imports matplotlib.

References
----------
.. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
   efficiently in the presence of tied scores", ECIR 2008.
.. [2] K. He, F. Cakir, S. A. Bargal and S. Sclaroff, "Hashing as tie-aware learning to rank",
   CVPR 2018.
"""

from . import _curve_metrics, _lookup_metrics, _ranking_metrics
from ._curve_metrics import *  # noqa: F403
from ._displays._curves import PrecisionRecallDisplay, RecallAtKDisplay
from ._displays._tie_range import TieRangeDisplay
from ._displays._usage import CodeUsageDisplay
from ._distances import distance_histogram
from ._index import index_recall_score
from ._lookup_metrics import *  # noqa: F403
from ._measure import Measure
from ._paired_tests import PairedTest, holm_correction, paired_test, randomized_tukey_hsd
from ._ranking_metrics import *  # noqa: F403
from ._registry import list_measures, register_measure
from ._scorers import make_retrieval_scorer
from ._tie_report import TieReport, TieWarning
from ._ties import Ties
from ._trec_files import read_qrels, read_run
from ._usage import CodeUsage, code_usage

__all__ = [
    "CodeUsage",
    "CodeUsageDisplay",
    "Measure",
    "PairedTest",
    "PrecisionRecallDisplay",
    "RecallAtKDisplay",
    "TieRangeDisplay",
    "TieReport",
    "TieWarning",
    "Ties",
    "code_usage",
    "distance_histogram",
    "holm_correction",
    "index_recall_score",
    "list_measures",
    "make_retrieval_scorer",
    "paired_test",
    "randomized_tukey_hsd",
    "read_qrels",
    "read_run",
    "register_measure",
]
__all__ += _ranking_metrics.__all__
__all__ += _lookup_metrics.__all__
__all__ += _curve_metrics.__all__
