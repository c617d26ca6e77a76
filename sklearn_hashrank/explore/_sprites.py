"""Many small pictures in a few large ones: sheets of a page."""

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.extras import how_to_install

THUMBNAIL = 64
"""Pictures of files are scaled down to fit into a square of this side, in pixels."""

_COLUMNS = 32  # of a sheet
_QUALITY = 80  # of JPEG
_BLOCK = 8  # pixels that JPEG mixes; cells of a sheet begin at multiples of it
_GREY = 128  # around pictures that are no squares


def sheets_of(pictures: np.ndarray) -> dict[str, Any]:
    """Describe pictures of shape (n, height, width) or (n, height, width, 3), bytes, for a page."""
    is_grey = pictures.ndim == 3
    cell = 1 if is_grey else _BLOCK
    height, width = (-(-side // cell) * cell for side in pictures.shape[1:3])
    rest = [(0, 0), (0, height - pictures.shape[1]), (0, width - pictures.shape[2]), (0, 0)]
    sheets = []
    for start in range(0, len(pictures), _COLUMNS * _COLUMNS):
        part = pictures[start : start + _COLUMNS * _COLUMNS]
        sheets.append(_encoded(_sheet(np.pad(part, rest[: part.ndim], mode="edge"))))
    return {
        "kind": "pictures",
        "format": "image/png" if is_grey else "image/jpeg",
        "height": pictures.shape[1],
        "width": pictures.shape[2],
        "cellHeight": height,
        "cellWidth": width,
        "columns": _COLUMNS,
        "sheets": sheets,
    }


def as_bytes(pictures: np.ndarray) -> np.ndarray:
    """Stretch numbers from the least to the largest of all pictures to bytes; keep bytes."""
    if pictures.dtype == np.uint8:
        return pictures
    low, high = float(pictures.min()), float(pictures.max())
    if not np.isfinite([low, high]).all():
        raise ValueError("images must be finite numbers. Got NaN or infinity.")
    scaled = (pictures - low) * (255 / ((high - low) or 1.0))
    return np.round(scaled).astype(np.uint8)


def read_pictures(paths: Sequence[Path]) -> np.ndarray:
    """Read files of pictures, each in the middle of a square of `THUMBNAIL` pixels."""
    image, ops = _pillow("reading pictures")
    pictures = np.full((len(paths), THUMBNAIL, THUMBNAIL, 3), _GREY, np.uint8)
    for picture, path in zip(pictures, paths):
        try:
            with image.open(path) as file:
                file.draft("RGB", (2 * THUMBNAIL, 2 * THUMBNAIL))
                whole = ops.exif_transpose(file).convert("RGBA")
                small = np.asarray(ops.contain(whole, (THUMBNAIL, THUMBNAIL)), dtype=np.float64)
        except (OSError, SyntaxError, ValueError, image.DecompressionBombError) as error:
            raise ValueError(f"{path}: cannot be read as a picture: {error}.") from error
        opacity = small[:, :, 3:] / 255
        top, left = (THUMBNAIL - small.shape[0]) // 2, (THUMBNAIL - small.shape[1]) // 2
        part = picture[top : top + small.shape[0], left : left + small.shape[1]]
        part[:] = np.round(small[:, :, :3] * opacity + _GREY * (1 - opacity))
    return pictures


def _sheet(pictures: np.ndarray) -> np.ndarray:
    """Put pictures side by side, in rows of `_COLUMNS`."""
    n_rows = -(-len(pictures) // _COLUMNS)
    _, height, width, *channels = pictures.shape
    cells = np.zeros((n_rows * _COLUMNS, height, width, *channels), np.uint8)
    cells[: len(pictures)] = pictures
    grid = cells.reshape(n_rows, _COLUMNS, height, width, *channels).swapaxes(1, 2)
    return grid.reshape(n_rows * height, _COLUMNS * width, *channels)


def _encoded(sheet: np.ndarray) -> str:
    """Base64 of a picture: grey ones as PNG, which keeps every pixel, colored ones as JPEG."""
    image, _ = _pillow("showing pictures")
    file = io.BytesIO()
    if sheet.ndim == 2:
        image.fromarray(sheet).save(file, "PNG", optimize=True)
    else:
        picture = image.fromarray(sheet)
        picture.save(file, "JPEG", quality=_QUALITY, subsampling=0, optimize=True)
    return base64.b64encode(file.getvalue()).decode()


def _pillow(purpose: str) -> Any:
    try:
        from PIL import Image, ImageOps
    except ImportError as error:
        raise ValueError(
            f"{purpose} needs Pillow, which is not installed: {how_to_install('cli')}"
        ) from error
    return Image, ImageOps
