"""Codes as a column of binary values in Parquet files, with ids beside them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._files.atomic import write_file
from .._files.reading import MalformedFileError
from ._errors import UsageError, need_extra
from ._parquet_files import Column, StoredColumn, column_named, opened, parquet_source

_N_BITS, DIGEST = b"hashrank_n_bits", b"hashrank_digest"


class ParquetCodes(StoredColumn):
    """Packed codes of a column of binary values of one length.

    Parameters
    ----------
    path : str
        What messages call them.
    column : Column
        Of binary values.

    Attributes
    ----------
    n_bits : int or None
        Their length, where the files say it.
    n_files : int
        How many files they are in.
    """

    dtype = np.dtype(np.uint8)

    def __init__(self, path: str, column: Column):
        super().__init__(path, column)
        noted = column.same_in_all([note.get(_N_BITS) for note in column.notes], "code lengths")
        kind = column.same_in_all(column.kinds, f"types of column {column.name!r}")
        self.n_bits = None if noted is None else int(noted)
        self.n_files = len(column.files)
        self.shape = (column.n_rows, _width(kind, column))

    def values(self, batch: Any, first: int) -> np.ndarray:
        """Codes of a batch."""
        import pyarrow as pa

        width = self.shape[1]
        if not pa.types.is_fixed_size_binary(batch.type):
            try:
                batch = batch.cast(pa.binary(width))
            except pa.ArrowInvalid as error:
                raise UsageError(
                    f"{self.path}: codes of column {self.columns.name!r} must be of one length. "
                    f"The first has {width} bytes."
                ) from error
        values = np.frombuffer(batch.buffers()[1], np.uint8)
        start = batch.offset * width
        return values[start : start + len(batch) * width].reshape(-1, width)


def codes(path: str) -> ParquetCodes | None:
    """Packed codes of the column of binary values; None where a file has none."""
    source = parquet_source(path)
    if source is None:
        return None
    column = column_named(path, source, _is_binary, "binary values")
    if column is None and len(source.files) > 1:
        raise UsageError(f"{path}: there is no column of binary values in these files.")
    if column is None:
        return None
    for shard, note in zip(source.shards or [], column.notes):
        if note.get(DIGEST) != shard.digest.encode():
            raise UsageError(
                f"{shard.path} is of another hasher, or of other rows, than the last encoding. "
                "Run hashrank encode again: it writes the shards that are missing."
            )
    return ParquetCodes(path, column)


def digest_of(path: str) -> str | None:
    """What the codes of a file were made of, where it says so. A damaged file says nothing."""
    try:
        with opened(path) as file:
            noted = (file.schema_arrow.metadata or {}).get(DIGEST)
    except MalformedFileError:
        return None
    return None if noted is None else noted.decode()


def write_codes(
    path: str, blocks: Iterator[tuple[Any, Any]], n_bits: int, digest: str | None = None
) -> int:
    """Write blocks ``(codes, ids)`` as a table with the columns ``id`` and ``code``."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise need_extra("pyarrow", f"writing {path}") from error
    about = {_N_BITS: str(n_bits).encode()}
    if digest is not None:
        about[DIGEST] = digest.encode()
    writer, n_rows = None, 0
    with write_file(path) as file:
        for packed, names in blocks:
            width = packed.shape[1]
            buffer = pa.py_buffer(np.ascontiguousarray(packed))
            code = pa.Array.from_buffers(pa.binary(width), len(packed), [None, buffer])
            table = pa.table({"id": pa.array(names), "code": code})
            if writer is None:
                schema = table.schema.with_metadata(about)
                writer = pq.ParquetWriter(file, schema, write_page_checksum=True)
            writer.write_table(table.cast(writer.schema))
            n_rows += len(packed)
        if writer is not None:
            writer.close()
    return n_rows


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(types.is_fixed_size_binary(kind) or types.is_binary(kind))


def _width(kind: Any, column: Column) -> int:
    """Bytes of each code: binary values of any length, as Spark writes them, have that of one."""
    import pyarrow as pa

    if pa.types.is_fixed_size_binary(kind):
        return int(kind.byte_width)
    _, first = next(column.batches(), (0, []))
    return len(first[0].as_py() or b"") if len(first) else 0
