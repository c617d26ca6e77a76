"""From codes and y to a histogram: validation, the affinity, and one sum over the database."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from .._utils.threads import check_n_jobs
from ..affinity import as_array, fit_affinity, fit_affinity_of_blocks
from ..codes import CodeReader, as_code_matrix
from ..rows import in_memory, is_dask_array, source
from ._counting import BlockCounter, Queries
from ._histogram import RetrievalHistogram


def retrieval_histogram(
    query_codes: Any,
    database_codes: Any,
    query_y: Any,
    database_y: Any = None,
    *,
    affinity: Any = "auto",
    n_bits: int | None = None,
    exclude_self: bool = False,
    keep_codes: bool = False,
    n_jobs: int | None = None,
) -> RetrievalHistogram:
    """Count, for each query, the database items of each level at each distance.

    Parameters
    ----------
    query_codes : array-like of shape (n_queries, n_columns)
        Codes as bits, signs or packed bytes.
    database_codes : array-like of shape (n_database, n_columns), iterator or dask array
        Codes of the database. An iterator or generator gives blocks ``(codes, y)``, of which
        one is held at a time, and copies of some more where they are small; a memmap is read
        block by block. Of a dask array, every chunk of rows is counted by a task of its own, and
        the histograms are added in a tree.
    query_y : array-like with n_queries rows
        What `affinity` compares: labels, label sets, label paths or vectors.
    database_y : array-like with n_database rows, default=None
        The same for the database; None when the blocks bring their own. A dask array for
        a dask array.
    affinity : "auto" or affinity object, default="auto"
        A fitted object is used as it is, an unfitted one is fitted on the database rows; "auto"
        chooses by their form. Of an iterator or dask array, only the first block is looked at;
        for shards that are to be added up, pass a fitted object.
    n_bits : int, default=None
        Length of a code; needed for packed codes.
    exclude_self : bool, default=False
        The queries are the database, in the same order, and no row retrieves itself.
    keep_codes : bool, default=False
        Whether to keep the distinct codes of the database, each with its number of items, for the
        measures of code usage, which need them: ``local_group_average_precision`` and
        ``code_usage``. They take ``n_bits / 8 + 8`` bytes for each distinct code (codes of whole
        64-bit words), and add up over shards.
    n_jobs : int, default=None
        Threads over blocks of queries. None means 1 unless in a :obj:`joblib.parallel_config`
        context, -1 means all processors. Of no effect on a dask array.

    Returns
    -------
    histogram : RetrievalHistogram

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.histogram import retrieval_histogram
    >>> codes, y = np.eye(3, dtype=np.uint8), [0, 0, 1]
    >>> blocks = ((codes[i : i + 1], y[i : i + 1]) for i in range(3))
    >>> retrieval_histogram(codes[:1], blocks, y[:1]).counts
    array([[[0, 0, 1, 0],
            [1, 0, 1, 0]]])
    """
    check_n_jobs(n_jobs)
    if not isinstance(keep_codes, (bool, np.bool_)):
        raise ValueError(f"keep_codes must be True or False. Got {keep_codes!r} instead.")
    in_chunks = is_dask_array(database_codes)
    _check_database(database_codes, database_y, in_chunks, exclude_self)
    reader = CodeReader(n_bits)
    words = reader.words(in_memory(query_codes), "query codes")
    query_y = check_rows(in_memory(query_y), len(words), "query")
    database = source(database_codes, database_y, check=check_block)
    del database_codes
    fit = fit_affinity if database.in_one_block else fit_affinity_of_blocks
    affinity = fit(affinity, database.first_y())
    queries = Queries(words, affinity.validate(query_y, "query y"), affinity, reader.n_bits)
    n_threads = 1 if in_chunks else n_jobs
    count = database.sum(BlockCounter(queries, reader, keep_codes, exclude_self, n_threads))
    kept = queries.kept_codes(count, exclude_self, n_jobs) if keep_codes else None
    return RetrievalHistogram(queries.counts(count, exclude_self), queries.levels, kept)


def _check_database(codes, y, in_chunks, exclude_self):
    """Refuse what does not say, or says twice, what the items are compared by."""
    if in_chunks:
        if exclude_self or y is None:
            raise ValueError(
                "a dask array needs database_y and exclude_self=False. "
                f"Got database_y={y!r} and exclude_self={exclude_self}."
            )
    elif isinstance(codes, Iterator):
        if y is not None:
            raise ValueError("database_y must be None when the database is an iterator of blocks.")
    elif y is None:
        raise ValueError(
            "database_y must have one row per database item. Got None; only an iterator of "
            "blocks (codes, y) brings its own."
        )


def check_block(block: Any) -> tuple[np.ndarray, Any]:
    """Return codes and `y` of a block, as many rows of each."""
    if not isinstance(block, (tuple, list)) or len(block) != 2:
        raise ValueError(f"a block must be a pair (codes, y). Got {type(block).__name__}.")
    codes = as_code_matrix(block[0], "database codes")
    return codes, check_rows(block[1], len(codes), "database")


def check_rows(y: Any, n_rows: int, name: str) -> Any:
    """Return `y` with one row for each of `n_rows` codes."""
    if y is None:
        raise ValueError(f"{name} y must have one row per {name} code. Got None.")
    y = y.tocsr() if sparse.issparse(y) and y.ndim == 2 else as_array(y, f"{name} y")
    if not y.shape or y.shape[0] != n_rows:
        raise ValueError(
            f"{name} y must have one row per {name} code, {n_rows}. Got shape {y.shape}."
        )
    return y
