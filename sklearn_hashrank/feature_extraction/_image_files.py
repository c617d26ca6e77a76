"""Read pictures from files and folders, with labels from sub-folders."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._files.reading import open_regular, reading
from .._utils.extras import how_to_install, needed
from .._utils.parameters import is_int

_ENDINGS = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm"}
_NOT_AN_IMAGE = ": not an image that Pillow can read ({})."


class ImageFiles(NamedTuple):
    """The images of a folder.

    Parameters
    ----------
    paths : list of Path
        The files, sorted within each sub-folder.
    labels : list of str or None
        Names of the sub-folders; None where the images lie in the folder itself.
    """

    paths: list[Path]
    labels: list[str] | None


def list_images(folder: str | os.PathLike) -> ImageFiles:
    """List the images of a folder, or of its sub-folders, whose names are the labels.

    Parameters
    ----------
    folder : str or path-like
        Sub-folders are read where there are any with images, at any depth below; names that begin
        with a dot are passed over.

    Returns
    -------
    files : ImageFiles
        `paths` and `labels`.

    Raises
    ------
    ValueError
        Where there is no image, or images lie in the folder itself and in sub-folders.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn_hashrank.feature_extraction import list_images
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("cats/1.png", "cats/2.png", "dogs/1.png"):
    ...     (folder / name).parent.mkdir(exist_ok=True)
    ...     (folder / name).touch()
    >>> files = list_images(folder)
    >>> [Path(path).name for path in files.paths]
    ['1.png', '2.png', '1.png']
    >>> list(files.labels)
    ['cats', 'cats', 'dogs']
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such folder.")
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        is_hidden = any(part.startswith(".") for part in parts)
        if path.suffix.lower() in _ENDINGS and path.is_file() and not is_hidden:
            found.setdefault(parts[0] if len(parts) > 1 else "", []).append(path)
    if not found:
        raise ValueError(f"{folder} holds no images: {', '.join(sorted(_ENDINGS))}.")
    if "" in found and len(found) > 1:
        raise ValueError(
            f"{folder} holds images and sub-folders of images, so that some have no label. "
            f"One without is {found[''][0].name}."
        )
    paths = [path for members in found.values() for path in members]
    if "" in found:
        return ImageFiles(paths, None)
    return ImageFiles(paths, [label for label, members in found.items() for _ in members])


def read_images(
    paths: Sequence[str | os.PathLike], size: tuple[int, int] = (256, 256)
) -> np.ndarray:
    """Read images in color, all resized to one size.

    Parameters
    ----------
    paths : sequence of str or path-like
        Files of any format that Pillow reads.
    size : tuple of int, default=(256, 256)
        Height and width. The papers' GIST features are of 256 x 256 pixels.

    Returns
    -------
    images : ndarray of shape (n, height, width, 3), uint8

    Raises
    ------
    MalformedFileError
        Where a file is no image, or is broken. It is named.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> from sklearn_hashrank.feature_extraction import read_images
    >>> path = Path(tempfile.mkdtemp()) / "red.png"
    >>> Image.new("RGB", (40, 20), "red").save(path)
    >>> images = read_images([path], size=(8, 8))
    >>> images.shape, images[0, 0, 0].tolist()
    ((1, 8, 8, 3), [255, 0, 0])
    """
    with needed(how_to_install("cli")):
        from PIL import Image
    if len(size) != 2 or not all(is_int(length, 1) for length in size):
        raise ValueError(f"size must be two ints >= 1, height and width. Got {size!r}.")
    height, width = map(int, size)
    images = np.empty((len(paths), height, width, 3), np.uint8)
    for number, path in enumerate(paths):
        with (
            reading(path, _NOT_AN_IMAGE),
            open_regular(path) as file,
            Image.open(file) as picture,
        ):
            resized = picture.convert("RGB").resize((width, height), Image.Resampling.BOX)
            images[number] = np.asarray(resized)
    return images


def as_paths(X: Any) -> list[Any] | None:
    """Return the paths that `X` names, one by one or as a folder; None where it has numbers."""
    if isinstance(X, (str, os.PathLike)):
        return list(list_images(X).paths)
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "OU":
        X = X.tolist()
    is_several = isinstance(X, (list, tuple)) and len(X) > 0
    return list(X) if is_several and all(isinstance(x, (str, os.PathLike)) for x in X) else None
