"""Find exact neighbours of codes by Hamming distance.

How calls flow
--------------
`HammingNeighbors` (``_hamming_neighbors.py``) is scikit-learn's face: parameters, validation, the
forms of results (``_results.py``), ids in place of indices (``_row_ids.py``), and files
(``_index_file.py``). Every search goes the same way::

    kneighbors, radius_neighbors, graphs
      -> ChunkedCodes (_chunked.py)        codes of dask arrays and files: a scan for each chunk
      -> StoredCodes (_stored.py)          the codes, the reader of queries, the choice of a search
           -> k_nearest, all_within (_masked.py)   where a mask lets some codes pass only
           -> SubstringTables (_multi_index.py)    where tables cost less, or were asked for
           -> k_nearest, all_within (_brute.py)    else: scan all codes
                -> over_rows (_utils/threads.py)   slices of the queries, in threads where it pays
                     -> _kernels.nearest, _kernels.substrings

A scan first bounds the distance of the `k` nearest by a sample, so that the kernel puts aside few
codes. With ``prefix`` the searched codes are those of the first bits (``_first_bits.py``), and what
is found are candidates, which are put in order by all bits. With ``rescore="asymmetric"`` the
nearest codes are candidates, which ``_asymmetric_order.py`` puts in the order of their asymmetric
distance to the projections of the query.

`DecodedNeighbors` (``_decoded_neighbors.py``) scans codes by the products of the query and what
they decode to, looked up by four bits in ``_kernels.nibble_tables``.

`rescore` (``_floats.py``) orders candidates of any index by the rows that codes were made of, and
`choose_oversampling` (``_oversampling.py``) says how many candidates a recall takes.

Costs are estimates in nanoseconds, measured once; they decide what is faster, never what is found.
"""

from ._decoded_neighbors import DecodedNeighbors
from ._floats import rescore
from ._hamming_neighbors import HammingNeighbors
from ._oversampling import Oversampling, choose_oversampling

__all__ = [
    "DecodedNeighbors",
    "HammingNeighbors",
    "Oversampling",
    "choose_oversampling",
    "rescore",
]
