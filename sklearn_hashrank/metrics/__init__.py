"""Metrics, scorers and displays of Hamming rankings, lookups and code usage.

How calls flow
--------------
A metric function (``_ranking_metrics.py``, ``_hit_metrics.py``, ``_lookup_metrics.py``,
``_curve_metrics.py``) is a
signature, a docstring and one call. It is given codes::

    tie_aware_ndcg_score(y_true, codes, database=..., k=10)
      -> RetrievalRun.measure("ndcg", k=10)    _metric_arguments.py: checks the options, then
        -> retrieval_histogram(...)            histogram/: counts
        -> RetrievalHistogram.measure(...)     measures/: one value for each query
        -> mean_over_queries(...)              measures/: leaves out undefined queries and warns

Scorers (``_scorer.py``), the ``from_estimator`` of displays, ``BaseHasher.score``,
``cross_validate_retrieval`` and ``compare`` are given an estimator and rows. They take one way to a
histogram, which opens ``retrieval.py``::

    scorer(estimator, X, y)
      -> retrieve(estimator, X, y, database=..., affinity=...)
        -> unwrap, encode, relevance, database
        -> retrieval_histogram(...)
      -> RetrievalHistogram.measure(...) of each metric

``displays/`` draws: ``from_estimator`` and ``from_codes`` make histograms and call
``from_histograms``, and only ``plot`` imports matplotlib. ``settings.py`` sets parameters of
whatever is inside of pipelines and searches. ``_index.py`` compares the distances of two indexes,
and needs no histogram. ``_paired_tests.py`` compares the values of two systems, or of many, for the
same queries.

Retrieval histograms: how many items of each level lie at each distance from each query.

For each query, how many database items of each relevance level lie at each Hamming distance.
Histograms of database shards add up, so that the database may come in blocks.

How calls flow
--------------
`retrieval_histogram` (``_counting.py``) validates, and decides nothing about blocks or threads::

    source(codes, y, check=check_block)       rows/: array, memmap, iterator, dask array
      -> BlockRows.first_y -> affinity             affinity/: fitted once, on the first block
      -> Queries                              _counting.py: equal queries put together, once
      -> BlockRows.sum(BlockCounter)               _counting.py: one Count for a block, added up
      -> RetrievalHistogram                   _histogram.py: the measures are its methods

`BlockCounter` is a plain function of a block. In this process it counts one block after the other,
with threads over the queries (``_utils/threads.py``); of a dask array it is sent to the workers
once, and counts one chunk in each task. It reads a block in pieces: the reader of ``codes/`` checks
and packs them, the affinity groups the items by equal `y`, so that a query meets runs of items of
one level, and equal items are counted once where that costs less. The kernel ``count_runs`` then
sees arrays only.

``RetrievalHistogram`` knows neither codes nor `y`; every measure is a function of its counts
(``measures/``).

Rankings that no code made have ties of their own for each query, `RaggedTies`. They are counted in
one place, from scores of all items and of the relevant ones::

    from_scores        _score_rankings.py   dense, sparse, one array for each query
    from_run           _run_rankings.py     dictionaries; _trec_files.py reads files and tables
    distance_histogram _distance_histogram.py   distances, and an affinity of `y`
      -> Rankings.table                     _rankings.py: the kernel ``count_between``
      -> RaggedTies                         measures/: seen by measures in chunks of queries

Measures of retrieval: functions of counts, evaluated exactly where items are tied.

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

from . import _curve_metrics, _lookup_metrics, _ranking_metrics
from ._curve_metrics import *  # noqa: F403
from ._displays._bits_curve import BitsCurveDisplay
from ._displays._curves import PrecisionRecallDisplay, RecallAtKDisplay
from ._displays._tie_range import TieRangeDisplay
from ._displays._training_curve import TrainingCurveDisplay
from ._displays._usage import CodeUsageDisplay
from ._distances import distance_histogram
from ._gains import ideal_dcg, level_gains
from ._index import index_recall_score
from ._lookup_metrics import *  # noqa: F403
from ._measure import Measure
from ._paired_tests import PairedTest, holm_correction, paired_test, randomized_tukey_hsd
from ._ranking_metrics import *  # noqa: F403
from ._registry import list_measures, register_measure, unregister_measure
from ._scorers import get_retrieval_scorer, get_retrieval_scorer_names, make_retrieval_scorer
from ._tie_report import TieReport, TieWarning
from ._ties import Ties, ratio
from ._trec_files import read_qrels, read_run
from ._usage import CodeUsage, code_usage

__all__ = [
    "BitsCurveDisplay",
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
    "TrainingCurveDisplay",
    "code_usage",
    "distance_histogram",
    "get_retrieval_scorer",
    "get_retrieval_scorer_names",
    "holm_correction",
    "ideal_dcg",
    "index_recall_score",
    "level_gains",
    "list_measures",
    "make_retrieval_scorer",
    "paired_test",
    "randomized_tukey_hsd",
    "ratio",
    "read_qrels",
    "read_run",
    "register_measure",
    "unregister_measure",
]
__all__ += _ranking_metrics.__all__
__all__ += _lookup_metrics.__all__
__all__ += _curve_metrics.__all__
