"""Encode into a folder of shards, each complete or not there, and go on where that was stopped."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from ..base import BaseHasher
from . import _file_systems
from ._code_columns import digest_of, write_codes
from ._errors import UsageError
from ._messages import note
from ._parquet_files import SUFFIX, folder_values, parquet_source
from ._read_codes import blocks_of, encoded, features_of
from ._row_names import ids
from ._shard_plan import write_plan


class _Part(NamedTuple):
    """Rows that make a shard, and the files that they are in."""

    name: str
    start: int
    stop: int
    files: list[str]
    offset: int  # of the first row in the first of the files


def encode_to_shards(
    hasher: BaseHasher,
    model: str,
    path: str,
    folder: str,
    *,
    n_rows_of_a_shard: int | None = None,
    id_column: str | None = None,
    n_jobs: int | None = None,
) -> int:
    """Encode rows into a folder of Parquet files of ids and codes; returns the number of codes.

    A file of the folder is kept where its digest is that of the same hasher, the same rows and the
    same ids. What else there is must be a shard of the same name.

    Parameters
    ----------
    hasher : BaseHasher
        Fitted.
    model : str
        The file that it was read from.
    path : str
        Rows of features.
    folder : str
        Where the shards go.
    n_rows_of_a_shard : int, default=None
        None: a shard for each file of features.
    id_column : str, default=None
        Column of ids of a table.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    n_codes : int
        Of all shards.
    """
    X, names = features_of(hasher, path, id_column), ids(path, id_column)
    parts = _parts(X, path, n_rows_of_a_shard)
    digests = _digests(parts, model, path, None if names is None else id_column or "id")
    _file_systems.make_folder(folder)
    _check_strangers(folder, [part.name for part in parts])
    write_plan(folder, [part.name for part in parts], digests)
    n_kept = 0
    for part, digest in zip(parts, digests):
        place = _file_systems.join(folder, part.name)
        if _file_systems.is_file(place) and digest_of(place) == digest:
            n_kept += 1
            continue
        _file_systems.make_folder(place.rpartition("/")[0])
        blocks = encoded(hasher, blocks_of(X, names, part.start, part.stop), path, n_jobs)
        with _file_systems.local_output(place) as file:
            write_codes(file, blocks, hasher.n_bits_, digest)
    if n_kept:
        note(f"{folder}: {n_kept} of {len(parts)} shards were there already")
    return int(X.shape[0])


def _parts(X: Any, path: str, n_rows: int | None) -> list[_Part]:
    """Cut rows into shards: those of a file each, or so many. There is none of a file of none."""
    source = parquet_source(path)
    files, sizes = [path.rpartition(":")[0] or path], [X.shape[0]]
    names = [PurePosixPath(files[0]).stem + SUFFIX]
    columns = getattr(X, "columns", None)  # of rows that are read from Parquet files
    if source is not None:
        files = source.files
        names, sizes = source.names(), [X.shape[0]] if columns is None else columns.sizes
    elif _file_systems.is_file(path):
        files = [path]
    stops = np.cumsum(sizes)
    if n_rows is None:
        starts = stops - sizes
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise UsageError(f"--data {path} names {twice[0]} twice. Name each file once.")
        return [
            _Part(name, int(start), int(stop), [file], 0)
            for name, start, stop, file in zip(names, starts, stops, files, strict=True)
            if start < stop
        ]
    n_shards = -(-X.shape[0] // n_rows)
    width = max(5, len(str(n_shards - 1)))
    parts = []
    for number in range(n_shards):
        start, stop = number * n_rows, min((number + 1) * n_rows, X.shape[0])
        first, last = np.searchsorted(stops, [start, stop - 1], "right")
        offset = int(start - stops[first] + sizes[first])
        name = f"part-{number:0{width}}{SUFFIX}"
        parts.append(_Part(name, start, stop, files[first : last + 1], offset))
    return parts


def _digests(parts: list[_Part], model: str, path: str, id_column: str | None) -> list[str]:
    """What each shard is made of: the hasher, the files of its rows, and which rows of them.

    Rows without ids are known by their numbers, which are then part of what a shard is made of.
    """
    with _file_systems.open_to_read(model) as content:
        of_model = hashlib.sha256(content.read()).hexdigest()
    column = path.rpartition(":")[2] if not _file_systems.is_file(path) else ""
    states: dict[str, list[Any]] = {}
    digests = []
    for part in parts:
        for file in part.files:
            states.setdefault(file, _file_systems.state_of(file))
        of_folders = {} if id_column is None else folder_values(part.files)
        about = {
            "hasher": of_model,
            "files": [states[file] for file in part.files],
            "rows": [part.offset, part.stop - part.start],
            "column": column,
            "ids": part.start if id_column is None else id_column,
        }
        if id_column in of_folders:  # which no file tells
            about["folders"] = of_folders[id_column].to_pylist()
        text = json.dumps(about, sort_keys=True)
        digests.append(hashlib.sha256(text.encode()).hexdigest())
    return digests


def _check_strangers(folder: str, names: list[str]) -> None:
    """Refuse other files of codes in the folder, which searches would take for shards."""
    known = {_file_systems.join(folder, name) for name in names}
    found: Iterator[str] = iter(_file_systems.find_files(folder, SUFFIX))
    plain = {_as_listed(place) for place in known}
    strangers = [place for place in found if _as_listed(place) not in plain]
    if strangers:
        raise UsageError(
            f"--output {folder}: {strangers[0]} is not one of the shards of this encoding. Remove "
            "it, or choose another folder."
        )


def _as_listed(place: str) -> str:
    """A path in the form in which file systems list it."""
    return place.replace(":///", "://") if _file_systems.is_url(place) else place
