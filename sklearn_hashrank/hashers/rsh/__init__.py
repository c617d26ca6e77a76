"""Ranking-based supervised hashing: estimator, statistics, supervision, problem and bits.

A fit goes through them in this order::

    rows, y --statistics--> sums and samples --supervision--> p_m, q_m --problem--> directions
    directions --spread--> weights of all bits

``_estimator``
    Parameters, `fit`, `partial_fit`, and the chunks of dask arrays.
``_statistics``
    What is kept of the rows: means, sums of rows of equal `y`, samples. It adds up over blocks.
``_supervision``
    Counts of relevance levels give the vectors p_m of the queries, the factors of B.
``_margin_problem``
    Whitened features, B in them, and its solution.
``_spread``
    How the supervised directions become bits.
"""

from ._estimator import RSHHasher

__all__ = ["RSHHasher"]
