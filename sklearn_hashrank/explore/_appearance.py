"""What items look like on a page: pictures, texts or rows of a table, and the words of labels."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .._utils.text import plain
from ._choice import MOST_BYTES, MOST_ITEMS
from ._html_page import encode_array
from ._sprites import THUMBNAIL, as_bytes, read_pictures, sheets_of

_LONGEST_TEXT = 300
_LONGEST_WORD = 60
_MOST_COLUMNS = 8
_CELL_BYTES = 8


@dataclass(frozen=True)
class Appearance:
    """How the chosen rows are described for a page, and how many of them fit.

    Parameters
    ----------
    describe : callable
        Takes row numbers.
    item_bytes : float
        What an item takes in the page, about.
    """

    describe: Callable[[np.ndarray], dict[str, Any]]
    item_bytes: float

    @property
    def most_items(self) -> int:
        """So many items fit into a page."""
        return max(2, min(MOST_ITEMS, int(MOST_BYTES // max(self.item_bytes, 1e-9))))


def appearance_of(
    X: Any, n_rows: int, images: Any, image_shape: Any, texts: Any, table: Any
) -> Appearance:
    """Return how items are shown, by the one of the four that is given."""
    given = {"images": images, "image_shape": image_shape, "texts": texts, "table": table}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise ValueError(f"items are shown in one way. Got {' and '.join(named)}.")
    if images is not None:
        return _of_images(images, n_rows)
    if image_shape is not None:
        return _of_arrays(_rows_as_images(X, image_shape))
    if texts is not None:
        return _of_texts(texts, n_rows)
    if table is not None:
        return _of_table(table, n_rows)
    return Appearance(lambda rows: {"kind": "numbers"}, 0)


def _of_images(images: Any, n_rows: int) -> Appearance:
    if hasattr(images, "ndim"):
        _check_length("images", len(images) if images.ndim else 0, n_rows)
        return _of_arrays(images)
    paths = [Path(path) for path in images]
    _check_length("images", len(paths), n_rows)
    shared = _shared_folder(paths)

    def describe(rows: np.ndarray) -> dict[str, Any]:
        chosen = [paths[row] for row in rows]
        names = [_cut(str(path.relative_to(shared)), _LONGEST_TEXT) for path in chosen]
        return sheets_of(read_pictures(chosen)) | {"names": names}

    return Appearance(describe, THUMBNAIL * THUMBNAIL)


def _shared_folder(paths: Sequence[Path]) -> Path:
    folder = paths[0].parent
    while not all(path.is_relative_to(folder) for path in paths):
        folder = folder.parent
    return folder


def _of_arrays(images: np.ndarray) -> Appearance:
    if images.ndim == 4 and images.shape[3] == 1:
        images = images[..., 0]
    is_picture = images.ndim == 3 or (images.ndim == 4 and images.shape[3] == 3)
    if not is_picture or 0 in images.shape or images.dtype.kind not in "fiub":
        raise ValueError(
            "images must be numbers of shape (n, height, width), (n, height, width, 1) or "
            f"(n, height, width, 3). Got {images.dtype} of shape {images.shape}."
        )

    def describe(rows: np.ndarray) -> dict[str, Any]:
        return sheets_of(as_bytes(images[rows]))

    return Appearance(describe, images.shape[1] * images.shape[2])


def _rows_as_images(X: Any, image_shape: Any) -> np.ndarray:
    if sparse.issparse(X):
        raise ValueError("image_shape needs dense rows: X is sparse.")
    rows = np.asarray(X)
    shape = tuple(image_shape) if isinstance(image_shape, Iterable) else image_shape
    try:
        if min(shape) < 1:
            raise ValueError
        return rows.reshape(len(rows), *shape)
    except (TypeError, ValueError):
        raise ValueError(
            f"image_shape={shape!r} does not fit rows of {rows.shape[1:]} numbers. Give (height, "
            "width) or (height, width, 3)."
        ) from None


def _of_texts(texts: Any, n_rows: int) -> Appearance:
    if isinstance(texts, str):
        raise ValueError(f"texts must be one str for each row of X. Got the str {texts!r}.")
    cut = [_cut(str(text), _LONGEST_TEXT) for text in texts]
    _check_length("texts", len(cut), n_rows)
    mean = sum(len(text.encode()) for text in cut) / len(cut)

    def describe(rows: np.ndarray) -> dict[str, Any]:
        return {"kind": "texts", "texts": [cut[row] for row in rows]}

    return Appearance(describe, mean + 3)


def _of_table(table: Any, n_rows: int) -> Appearance:
    if not isinstance(table, Mapping) and not hasattr(table, "columns"):
        raise ValueError(
            f"table must be a mapping of names to columns, or a data frame. Got {type(table)}."
        )
    names = list(table.columns if hasattr(table, "columns") else table)[:_MOST_COLUMNS]
    columns = [np.asarray(table[name]) for name in names]
    for name, column in zip(names, columns):
        _check_length(f"column {name!r} of table", len(column), n_rows)

    def describe(rows: np.ndarray) -> dict[str, Any]:
        cells = [[_cell(value) for value in column[rows].tolist()] for column in columns]
        return {"kind": "table", "columns": [_word(name) for name in names], "cells": cells}

    return Appearance(describe, _CELL_BYTES * len(names))


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else _word(value)


def label_words(y: Any, rows: np.ndarray, names: Any) -> dict[str, Any] | None:
    """Return a word for the label of each row, for a page; None where `y` holds no labels.

    Classes are words, paths words with strokes between, label sets words with commas between.
    `names` are those of classes 0, 1, ... or of the columns of label sets.
    """
    if y is None:
        return None
    y = y.toarray() if sparse.issparse(y) else np.asarray(y)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.ndim == 1:
        words = [_named(value, names) for value in y[rows].tolist()]
    elif y.ndim == 2 and y.dtype.kind in "bfiu" and ((y == 0) | (y == 1)).all():
        sets = [np.flatnonzero(row).tolist() for row in y[rows]]
        words = [", ".join(_named(value, names) for value in each) or "none" for each in sets]
    elif y.ndim == 2 and y.dtype.kind in "iuUSO":
        words = [" / ".join(map(_word, path)) for path in y[rows].tolist()]
    else:
        return None
    distinct = sorted(set(words), key=_natural)
    place = {word: number for number, word in enumerate(distinct)}
    of = np.array([place[word] for word in words])
    dtype = np.uint16 if len(distinct) <= 1 << 16 else np.uint32
    return {"words": distinct, "of": encode_array(of.astype(dtype))}


def _natural(word: str) -> tuple[bool, float, str]:
    """Numbers in their order, before words."""
    is_number = word.isascii() and word.lstrip("-").isdigit() and len(word) < 300
    return not is_number, float(word) if is_number else 0.0, word


def _named(value: Any, names: Any) -> str:
    if names is None:
        return _word(value)
    if isinstance(value, int) and 0 <= value < len(names):
        return _word(names[value])
    raise ValueError(
        f"label_names must name classes 0 to {len(names) - 1}, which y holds. Got label {value!r}."
    )


def _word(value: Any) -> str:
    value = value.decode(errors="replace") if isinstance(value, bytes) else value
    return _cut(str(value), _LONGEST_WORD)


def _cut(text: str, most: int) -> str:
    text = plain(text[: most + 1])
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _check_length(name: str, length: int, n_rows: int) -> None:
    if length != n_rows:
        raise ValueError(f"{name} must have one entry for each of the {n_rows} rows. Got {length}.")
