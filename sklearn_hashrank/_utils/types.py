"""Types of what users pass, for the annotations of public functions."""

from typing import TypeAlias

from numpy.typing import ArrayLike
from scipy import sparse

MatrixLike: TypeAlias = ArrayLike | sparse.spmatrix | sparse.sparray
"""Rows of features or of codes: lists, arrays, tables, sparse matrices, dask arrays."""

Target: TypeAlias = ArrayLike | sparse.spmatrix | sparse.sparray
"""What an affinity compares, one row for each item: labels, label sets, label paths or vectors."""
