"""Write the neighbors of all rows to a Parquet file, in the form that other viewers read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._files.atomic import write_file
from .._utils.extras import how_to_install
from .._utils.parameters import is_int
from .._utils.types import MatrixLike
from ..metrics._retrieval import encode
from ..neighbors._hamming_neighbors import HammingNeighbors


def write_neighbors(
    path: str | Path,
    model: Any,
    X: MatrixLike,
    *,
    n_neighbors: int = 50,
    columns: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Path:
    """Write the nearest rows of every row, by Hamming distance, to a Parquet file.

    The column ``neighbors`` holds ``{"ids": [...], "distances": [...]}`` for each row of `X`, in
    their order; ids are row numbers from 0 on. Viewers of embeddings take such a column, for
    example ``embedding-atlas file.parquet --neighbors neighbors``. It needs pyarrow.

    Parameters
    ----------
    path : str or Path
        The file, which should end in ``.parquet``.
    model : estimator
        A fitted hasher, or another estimator as :func:`write_page` takes it.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    n_neighbors : int, default=50
        How many, in order of (distance, row number). A row is not its own neighbor.
    columns : mapping of str to array-like, default=None
        Further columns of the file, such as texts and labels.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    path : Path
        The file.

    See Also
    --------
    write_page : A page to look at.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.explore import write_neighbors
    >>> X = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.5]])
    >>> import pyarrow.parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = LSHHasher(4, random_state=0).fit(X)
    ...     file = write_neighbors(Path(folder) / "n.parquet", model, X, n_neighbors=1)
    ...     pyarrow.parquet.read_table(file).column("neighbors")[0].as_py()
    {'ids': [1], 'distances': [0.0]}
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise ValueError(
            f"writing Parquet needs pyarrow, which is not installed: {how_to_install('cli')}"
        ) from error
    n_rows = _num_samples(X)
    if not is_int(n_neighbors, 1) or n_rows < 2:
        raise ValueError(
            f"n_neighbors must be an int >= 1, and X have at least 2 rows. Got {n_neighbors!r} "
            f"and {n_rows} rows."
        )
    others = {str(name): pa.array(list(values)) for name, values in (columns or {}).items()}
    if "neighbors" in others:
        raise ValueError("columns must not hold 'neighbors', which the file has anyway.")
    for name, values in others.items():
        if len(values) != n_rows:
            raise ValueError(f"column {name!r} must have {n_rows} values. Got {len(values)}.")
    encoded = encode(model, X)
    index = HammingNeighbors(n_bits=encoded.n_bits, n_jobs=n_jobs).fit(encoded.codes)
    distances, ids = index.kneighbors(n_neighbors=min(n_neighbors, n_rows - 1))
    offsets = np.arange(n_rows + 1) * ids.shape[1]
    lists = [
        pa.LargeListArray.from_arrays(offsets, values)
        for values in (ids.astype(np.int64).ravel(), distances.astype(np.float64).ravel())
    ]
    neighbors = pa.StructArray.from_arrays(lists, names=["ids", "distances"])
    table = pa.table({**others, "neighbors": neighbors})
    with write_file(path) as file:
        pyarrow.parquet.write_table(table, file)
    return Path(path)
