"""Find exact neighbors of codes by Hamming distance.

How calls flow
--------------
`HammingNeighbors` (``_hamming_neighbors.py``) is scikit-learn's face: parameters, validation, the
forms of results, ids in place of indices (``_row_ids.py``), and files (``_index_file.py``). What is
searched for is an object, `Nearest` or `Within` (``_searches.py``), which every search hands on::

    kneighbors, radius_neighbors, graphs
      -> find of StoredCodes (_stored.py)       codes in memory: tables, or a scan
         or of ChunkedCodes (_chunked.py)       codes of dask arrays and files: scan each chunk
           -> look_up of the search             tables, where they cost less (_multi_index.py)
           -> scan_passing (_mask.py)           else a scan; a mask may let some codes pass only
                -> scan of the search (_scan.py), in threads over slices of the queries
                     -> _kernels.nearest

A scan first bounds the distance of the `k` nearest by a sample, so that the kernel puts aside few
codes. With ``prefix`` the searched codes are the first bits, and with ``distance="asymmetric"``
the queries are rounded projections (``_projections.py``), whose planes of weights the same kernel
compares. What is found are candidates, which ``_candidates.py`` sorts by the exact distance.

`DecodedNeighbors` (``_decoded_neighbors.py``) scans codes by the products of the query and what
they decode to, looked up by four bits in ``_kernels.nibble_tables``.

`rescore` (``_rescore.py``) orders candidates of any index by the rows that codes were made of, and
`choose_oversampling` (``_oversampling.py``) says how many candidates a recall takes.

Costs are estimates in nanoseconds, measured once; they decide what is faster, never what is found.
"""

from ._decoded_neighbors import DecodedNeighbors
from ._hamming_neighbors import HammingNeighbors
from ._oversampling import choose_oversampling
from ._rescore import rescore

__all__ = [
    "DecodedNeighbors",
    "HammingNeighbors",
    "choose_oversampling",
    "rescore",
]
