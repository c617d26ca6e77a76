"""Codes of files and of models, for ``encode``, ``evaluate`` and ``search``."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import codes
from .._files.codes import note_of_codes
from .._files.hashers.saving import load_hasher
from .._files.model_names import check_one_model, model_name
from ..base import BaseHasher
from ..codes._reading import ReadCodes, codes_of_array
from ._data import bad_values_named, check_rows
from ._errors import UsageError
from ._messages import note
from ._parquet_files import find_parquet
from ._parquet_table import ParquetCodes, ParquetTable, parquet_codes
from ._rows import Rows, check_same_rows, read_rows

_CODES_OF_A_BLOCK = 1 << 20
_NUMBERS_OF_A_BLOCK, _MOST_ROWS_OF_A_BLOCK = 1 << 23, 1 << 16


class Codes(NamedTuple):
    """Codes of a file; what the file does not say is None."""

    source: str  # by which the user names the file
    codes: Any
    n_bits: Any = None
    model: str | None = None  # the name of the one that made them
    ids: Any = None

    @property
    def n_rows(self) -> int:
        return len(self.codes)


class Model(NamedTuple):
    """A hasher of a file, and the names of the columns that it was fitted on."""

    source: str
    hasher: BaseHasher
    columns: Any

    def read_features(self, path: str, id_column: str | None = None) -> Rows:
        """Read rows of a file, of which the columns that the hasher knows are chosen by name."""
        rows = read_rows(path, columns=self.columns, id_column=id_column)
        check_rows(rows.X, path)
        return rows


def load_model(path: str) -> Model:
    """Load a hasher, which then looks at no names of columns."""
    hasher = load_hasher(path)
    return Model(path, hasher, hasher.__dict__.pop("feature_names_in_", None))


def encode(hasher: BaseHasher, rows: Rows, **options: Any) -> Any:
    """Encode rows of a file block by block, see :meth:`BaseHasher.encode_blocks`."""
    with bad_values_named(rows):
        return hasher.encode_blocks(rows.X, **options)


def check_models(made: Sequence[Codes], model: Model | None = None) -> None:
    """Refuse codes of different models, and say which do not name theirs."""
    names = [(each.source, each.model) for each in made]
    if model is not None:
        names.insert(0, (model.source, model_name(model.hasher)))
    check_one_model(names)
    if any(name is not None for _, name in names):
        for what, name in names:
            if name is None:
                note(f"{what} does not name the model that made its codes")


def read_codes(
    paths: Sequence[str],
    n_bits: int | None,
    threshold: float | None = None,
    *,
    in_blocks: bool = False,
) -> list[Codes]:
    """Read codes of several files, all of one length.

    With `in_blocks`, those of the first path are not read if they are in several Parquet files.
    """
    opened = [_open(path) for path in paths]
    noted = next((each.n_bits for each in opened if each.n_bits is not None), None)
    found = []
    for number, each in enumerate(opened):
        length = each.n_bits or n_bits or noted
        is_kept = in_blocks and number == 0 and getattr(each.codes, "n_files", 1) > 1
        if each.codes is None:
            read = codes.read_codes(each.source, n_bits=length, threshold=threshold)
        else:
            content = np.asarray(each.codes[:1] if is_kept else each.codes[:])
            read = codes_of_array(content, each.source, n_bits=length, threshold=threshold)
        kept = each.codes if is_kept else read.codes
        found.append(each._replace(codes=kept, n_bits=read.n_bits))
    if n_bits is not None:
        found = [Codes("--bits", None, n_bits), *found]
    for each in found:
        if each.n_bits != found[0].n_bits:
            raise UsageError(
                f"codes that are compared must be of one length. Got {found[0].n_bits} bits in "
                f"{found[0].source} and {each.n_bits} in {each.source}."
            )
    return found[-len(paths) :]


def read_codes_of_rows(
    named: Sequence[tuple[str, str]],
    rows: Rows,
    n_bits: int | None = None,
    threshold: float | None = None,
) -> dict[str, ReadCodes]:
    """Read codes by their names, one for each row. They may be of different models and lengths."""
    found: dict[str, ReadCodes] = {}
    for name, path in named:
        if name in found:
            raise UsageError(f"--codes names {name!r} twice.")
        [read] = read_codes([path], n_bits, threshold)
        check_same_rows(rows, read)
        found[name] = ReadCodes(read.codes, read.n_bits)
    return found


def _open(path: str) -> Codes:
    """What a file says of its codes, which are still to be read if they are None."""
    if (files := find_parquet(path)) is not None and (stored := parquet_codes(files)) is not None:
        table = ParquetTable(files)
        ids = table.id_column(None)
        of_rows = None if ids is None else table.read([], ids=ids)[2]
        return Codes(path, stored, stored.n_bits, stored.model, of_rows)
    if files is not None or path.lower().endswith(".csv"):
        rows = read_rows(path)
        return Codes(path, rows.X, ids=rows.ids)
    said = note_of_codes(path) if path.lower().endswith(".npy") else None
    return Codes(path, None, *(said or ()))


def rows_and_ids(X: Any, ids: Any, first: int, last: int) -> Iterator[tuple[Any, Any]]:
    """Blocks of some rows with their ids, or else their numbers."""
    n_rows = max(1, min(_MOST_ROWS_OF_A_BLOCK, _NUMBERS_OF_A_BLOCK // X.shape[1]))
    for start in range(first, last, n_rows):
        stop = min(start + n_rows, last)
        yield X[start:stop], np.arange(start, stop) if ids is None else ids[start:stop]


def codes_and_labels(database: ParquetCodes, y: Any) -> Iterator[tuple[Any, Any]]:
    """Blocks of codes with what goes with them."""
    for start in range(0, len(database), _CODES_OF_A_BLOCK):
        part = slice(start, min(start + _CODES_OF_A_BLOCK, len(database)))
        yield database[part], y[part]
