"""Tables in Parquet files: features, vectors, labels, texts, ids and codes."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._files.atomic import write_file
from ._csv_table import check_text
from ._errors import UsageError, need_extra
from ._parquet_files import Columns, ParquetFiles, StoredColumns
from ._table import Table, not_finite

_N_BITS, _MODEL, _N_ROWS = b"hashrank_n_bits", b"hashrank_model", b"hashrank_rows"


class ParquetTable(Table):
    """Columns of Parquet files. Features and ids are read in blocks, when they are asked for."""

    def __init__(self, files: ParquetFiles):
        self.source, self.files = files.path, files
        self.index, self.folders = files.index(), [*files.folders]
        self.names = [name for name in files.columns() if name not in self.index]

    def read(
        self, features: Any, labels: Sequence[str] = (), ids: str | None = None
    ) -> tuple[Any, list[np.ndarray], Any]:
        """See :meth:`Table.read`. The types of the columns decide what labels and ids are."""
        of_labels = []
        if labels:
            columns = Columns(self.files, labels).read()
            of_labels = [_labels(self.source, name, columns[name]) for name in labels]
        if isinstance(features, str):
            X = _vectors(Columns(self.files, [features]))
        else:
            self.check(features)
            X = _features(Columns(self.files, features))
        return X, of_labels, None if ids is None else _ids(Columns(self.files, [ids]))

    def texts(self, name: str) -> list[str]:
        """See :meth:`Table.texts`."""
        self.check([name])
        values = Columns(self.files, [name]).read()[name].to_pylist()
        return ["" if value is None else str(value) for value in values]

    def vectors(self, left_out: Iterable[str]) -> str | None:
        """See :meth:`Table.vectors`."""
        return self.files.column_of(_is_list, "lists of numbers", left_out)


def _features(columns: Columns) -> StoredColumns:
    """Rows of which each feature is a column, all of them finite numbers."""
    path = columns.path
    types = [_number(path, field) for field in columns.schema]
    dtype = np.result_type(*types) if types else np.dtype(np.float64)

    def rows(batch: Any, first: int) -> np.ndarray:
        result = np.empty((batch.num_rows, len(columns.names)), dtype)
        for place, (name, values) in enumerate(zip(columns.names, batch.columns)):
            _check_complete(path, name, values, first)
            result[:, place] = values.to_numpy(zero_copy_only=False)
        if dtype.kind == "f" and not (is_finite := np.isfinite(result)).all():
            row, place = np.argwhere(~is_finite)[0]
            where = f"column {columns.names[place]!r}"
            raise not_finite(path, first + row, where, result[row, place])
        return result

    return StoredColumns(columns, (columns.n_rows, len(columns.names)), dtype, rows)


def _vectors(columns: Columns) -> StoredColumns:
    """Rows that a column of lists of numbers holds, all of one length and finite."""
    path, [name], [kind] = columns.path, columns.names, columns.schema.types
    if not _is_list(kind):
        raise UsageError(f"{path}: column {name!r} does not hold lists of numbers but {kind}.")
    dtype = np.dtype(np.float32 if str(kind.value_type) in ("halffloat", "float") else np.float64)
    _, first_batch = next(columns.batches(), (0, None))
    width = int(_lengths(first_batch.column(0))[0] or 0) if first_batch else 0
    if columns.n_rows and not width:
        raise UsageError(f"{path}: the first row of column {name!r} has no numbers.")

    def rows(batch: Any, first: int) -> np.ndarray:
        [lists] = batch.columns
        _check_complete(path, name, lists, first)
        lengths = _lengths(lists)
        if (lengths != width).any():
            row = int(np.argmax(lengths != width))
            raise UsageError(
                f"{path}: row {first + row} of column {name!r} has {lengths[row]} numbers, the "
                f"first has {width}."
            )
        numbers = lists.flatten().to_numpy(zero_copy_only=False)
        result = numbers.reshape(len(lists), width).astype(dtype, copy=False)
        if not np.isfinite(result).all():
            row, place = np.argwhere(~np.isfinite(result))[0]
            where = f"number {place} of column {name!r}"
            raise not_finite(path, first + row, where, result[row, place])
        return np.asarray(result)

    return StoredColumns(columns, (columns.n_rows, width), dtype, rows)


def _labels(path: str, name: str, column: Any) -> np.ndarray:
    import pyarrow as pa

    types, kind = pa.types, column.type
    values = column.to_numpy()
    is_missing = column.is_null(nan_is_null=True).to_numpy()
    if is_missing.any():
        row = int(np.argmax(is_missing))
        raise UsageError(f"{path}: the label of row {row} is missing (column {name!r}).")
    if types.is_string(kind) or types.is_large_string(kind):
        check_text(set(values), name, path)
        return np.array(values.tolist())
    if types.is_integer(kind) or types.is_boolean(kind) or types.is_floating(kind):
        return np.asarray(values)
    raise UsageError(f"{path}: column {name!r} holds {kind}; labels must be integers or text.")


def _ids(columns: Columns) -> StoredColumns:
    """Ids of rows: integers, or anything else as text. None is missing."""
    import pyarrow as pa

    [name], [field] = columns.names, columns.schema
    is_integer = pa.types.is_integer(field.type)

    def rows(batch: Any, first: int) -> np.ndarray:
        [values] = batch.columns
        _check_complete(columns.path, name, values, first)
        if is_integer:
            return np.asarray(values.to_numpy(zero_copy_only=False))
        return np.array([*map(str, values.to_pylist())], dtype=object)

    dtype = np.dtype(field.type.to_pandas_dtype() if is_integer else object)
    return StoredColumns(columns, (columns.n_rows,), dtype, rows)


class ParquetCodes(StoredColumns):
    """Packed codes of a column of binary values, their length and the name of their model.

    Both are None where the files do not say them.
    """

    def __init__(self, files: ParquetFiles, name: str):
        import pyarrow as pa

        path, columns = files.path, Columns(files, [name])
        kind = columns.schema.field(name).type
        if pa.types.is_fixed_size_binary(kind):
            width = int(kind.byte_width)
        else:  # as Spark writes them: they have the length of the first
            _, first = next(columns.batches(), (0, None))
            width = len(first.column(0)[0].as_py() or b"") if first else 0

        def rows(batch: Any, first: int) -> np.ndarray:
            [values] = batch.columns
            _check_complete(path, name, values, first)
            if not pa.types.is_fixed_size_binary(values.type):
                try:
                    values = values.cast(pa.binary(width))
                except pa.ArrowInvalid as error:
                    raise UsageError(
                        f"{path}: codes of column {name!r} must be of one length. The first has "
                        f"{width} bytes."
                    ) from error
            content = np.frombuffer(values.buffers()[1], np.uint8)
            start = values.offset * width
            return content[start : start + len(values) * width].reshape(-1, width)

        super().__init__(columns, (columns.n_rows, width), np.dtype(np.uint8), rows)
        n_bits = files.noted(_N_BITS, "code lengths")
        self.n_bits = None if n_bits is None else int(n_bits)
        self.model = files.noted(_MODEL, "models")
        self.n_files = len(files.files)
        n_rows = files.noted(_N_ROWS, "numbers of rows")
        if files.folder is not None and n_rows is not None and int(n_rows) != columns.n_rows:
            raise UsageError(
                f"{path} holds {columns.n_rows:,} of {int(n_rows):,} codes: files are missing, or "
                "there are others. Run hashrank encode again, into a new folder."
            )


def parquet_codes(files: ParquetFiles) -> ParquetCodes | None:
    """Packed codes of the column of binary values; None where a single file has none."""
    name = files.column_of(_is_binary, "binary values")
    if name is None and len(files.files) > 1:
        raise UsageError(f"{files.path}: there is no column of binary values in these files.")
    return None if name is None else ParquetCodes(files, name)


def write_codes(
    path: str, blocks: Iterable[tuple[Any, Any]], n_bits: int, model: str | None, n_rows: int
) -> None:
    """Write blocks ``(codes, ids)`` as a table with the columns ``id`` and ``code``.

    The file says how long codes are, which model made them, and how many there are in all.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise need_extra("pyarrow", f"writing {path}") from error
    about = {_N_BITS: str(n_bits), _N_ROWS: str(n_rows)}
    if model is not None:
        about[_MODEL] = model
    writer = None
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
        if writer is not None:
            writer.close()


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_fixed_size_binary(kind) or pa.types.is_binary(kind))


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return is_list and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type))


def _lengths(lists: Any) -> np.ndarray:
    """Numbers of each list."""
    import pyarrow.compute as pc

    return np.asarray(pc.list_value_length(lists).to_numpy(zero_copy_only=False))


def _number(path: str, field: Any) -> np.dtype:
    import pyarrow as pa

    types, kind = pa.types, field.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise UsageError(
            f"{path}: column {field.name!r} has type {kind}, which is not numeric. Name it with "
            "--label-column or --exclude-column."
        )
    return np.dtype(kind.to_pandas_dtype())


def _check_complete(path: str, name: str, values: Any, first: int) -> None:
    if values.null_count:
        row = first + int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        raise UsageError(f"{path}: row {row} of column {name!r} is missing.")
