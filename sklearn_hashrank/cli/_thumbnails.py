"""How a page shows rows: as pictures, texts or rows of a table."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import numpy as np

from ._arguments import lengths
from ._data import NAMED
from ._errors import UsageError
from ._file_systems import Input
from ._messages import note
from ._rows import Rows, read_texts

_PICTURES = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}


def add_thumbnails(parser: ArgumentParser) -> None:
    looks = parser.add_mutually_exclusive_group()
    looks.add_argument(
        "--images", type=Input, metavar="FOLDER|FILE", help="pictures of the rows, in their order"
    )
    looks.add_argument(
        "--image-shape", type=lengths, metavar="H,W[,3]", help="shape of features that are pixels"
    )
    looks.add_argument(
        "--texts", type=Input, metavar="COLUMN|FILE", help="column or .txt file with a text per row"
    )


def columns_of_texts(options: Namespace) -> list[str]:
    """Columns of the data that are texts, and no features."""
    path, column = _where_texts_are(options)
    return [column] if column is not None and path == options.data else []


def _where_texts_are(options: Namespace) -> tuple[str | None, str | None]:
    """The file of the texts, and their column unless each line is a text."""
    given = options.texts
    if given is None:
        return None, None
    if given.lower().endswith(".txt"):
        return given, None
    is_named = options.data in NAMED
    holds = [path for path in (options.data, options.labels) if path and not is_named]
    tables = [path for path in holds if Path(path).suffix.lower() != ".npy"]
    if not tables:
        raise UsageError(
            f"--texts {given} must be a column of --data or --labels, a .csv, .parquet or .npz "
            "file, or a .txt file with a line for each row."
        )
    return tables[0], given


def thumbnails_of(options: Namespace, rows: Rows) -> dict[str, Any]:
    """Return the arguments of ``write_page`` that say how rows are shown."""
    n_rows = rows.X.shape[0]
    path, column = _where_texts_are(options)
    if path is not None:
        if column is not None:
            texts = read_texts(path, column)
        else:
            texts = Path(path).read_text("utf-8").removesuffix("\n").split("\n")
        if len(texts) != n_rows:
            raise UsageError(f"{path}: {len(texts)} texts for {n_rows} rows.")
        return {"texts": texts}
    if options.images is not None:
        if options.images.lower().endswith(".npy"):
            return {"images": np.load(options.images, mmap_mode="r", allow_pickle=False)}
        return {"images": _pictures(options.images, n_rows)}
    if options.image_shape is not None:
        return {"image_shape": tuple(options.image_shape)}
    if options.data in NAMED:
        return {"image_shape": NAMED[options.data].image_shape}
    if rows.names is not None:
        return {"table": {name: rows.X[:, place] for place, name in enumerate(rows.names)}}
    return {}


def _pictures(folder: str, n_rows: int) -> list[Path]:
    found = (path for path in Path(folder).rglob("*") if path.suffix.lower() in _PICTURES)
    paths = sorted(path for path in found if path.is_file())
    if len(paths) != n_rows:
        raise UsageError(
            f"--images {folder}: {len(paths):,} pictures for {n_rows:,} rows, of "
            f"{', '.join(sorted(_PICTURES))}."
        )
    note(f"{folder}: pictures in the order of their paths, from {paths[0]} to {paths[-1]}")
    return paths
