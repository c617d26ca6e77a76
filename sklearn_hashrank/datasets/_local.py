"""Load CIFAR-100, NUS-WIDE and LabelMe from a local folder."""

import hashlib
import os
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils._param_validation import Interval, StrOptions

from .._files.matlab import read_matrices
from .._files.reading import reading
from .._utils.parameters import validate_numbers
from ._formats import read_cifar, read_members

_DAMAGED = " cannot be read: {}. Put a good copy there."
_PARTS = {"train": ["train"], "test": ["test"], "all": ["train", "test"]}

_CIFAR100 = "cifar-100-binary"
_LEVELS = {"coarse": 20, "fine": 100}
_CIFAR100_MD5 = "03b5dce01913d631647c71ecec9e9cb8"  # of the archive

_NUS_FOLDERS = {
    "features": ("Low_Level_Features", "NUS_WID_Low_Level_Features/Low_Level_Features"),
    "concepts": ("ConceptsList",),
    "images": ("ImageList",),
    "labels": ("Groundtruth/AllLabels", "AllLabels"),
    "labels of a part": ("Groundtruth/TrainTestLabels", "TrainTestLabels"),
}
_NUS_FEATURES = {
    "bow": ("BoW_int.dat", "BoW_{}_int.dat"),
    "ch": ("Normalized_CH.dat", "{}_Normalized_CH.dat"),
    "corr": ("Normalized_CORR.dat", "{}_Normalized_CORR.dat"),
    "edh": ("Normalized_EDH.dat", "{}_Normalized_EDH.dat"),
    "wt": ("Normalized_WT.dat", "{}_Normalized_WT.dat"),
    "cm55": ("Normalized_CM55.dat", "{}_Normalized_CM55.dat"),
}
_NUS_CONCEPTS = 81


@validate_numbers(
    {
        "folder": [str, os.PathLike],
        "subset": [StrOptions(set(_PARTS))],
        "levels": [StrOptions({"both", "coarse", "fine"})],
        "return_X_y": ["boolean"],
        "verify": ["boolean"],
    }
)
def load_cifar100(
    folder: str | os.PathLike,
    *,
    subset: str = "all",
    levels: str = "both",
    return_X_y: bool = False,
    verify: bool = True,
) -> Any:
    """Load CIFAR-100 from a folder: 60,000 colour images, 100 classes in 20 superclasses.

    The binary version is read. The Python version is not, because its files are pickles.

    Parameters
    ----------
    folder : str or path-like
        Folder that holds ``cifar-100-binary.tar.gz``, or the folder that it unpacks to, or this
        folder itself.
    subset : {"train", "test", "all"}, default="all"
        The 50,000 images of the training part, the 10,000 of the test part, or both in this order.
    levels : {"both", "coarse", "fine"}, default="both"
        The superclass and the class of each image, which are a label path; or one of them.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    verify : bool, default=True
        Refuse an archive whose MD5 checksum is not the published one. The files that it unpacks to
        have none.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        ``data`` (n, 3072) uint8, ``images`` (n, 32, 32, 3), ``target`` (n, 2) or (n,),
        ``coarse_names``, ``fine_names``. Rows of ``data`` are images pixel by pixel, as
        ``GIST(image_shape=(32, 32, 3))`` takes them.
    (data, target) : tuple, if `return_X_y`

    Examples
    --------
    >>> from sklearn_hashrank.datasets import load_cifar100
    >>> X, y = load_cifar100("data", return_X_y=True)  # doctest: +SKIP
    >>> X.shape, y.shape  # doctest: +SKIP
    ((60000, 3072), (60000, 2))
    """
    path = _find_cifar100(Path(folder))
    if verify:
        _verify(path)
    images, target = read_cifar(path, _PARTS[subset], len(_LEVELS))
    names = _cifar100_names(path)
    for column, (level, n_classes) in enumerate(_LEVELS.items()):
        with reading(path, _DAMAGED):
            if len(names[level]) != n_classes:
                raise ValueError(f"it names {len(names[level])} {level} classes, not {n_classes}")
            if target[:, column].max(initial=0) >= n_classes:
                raise ValueError(f"a {level} label is not below {n_classes}")
    target = target.astype(np.int64)
    if levels != "both":
        target = target[:, list(_LEVELS).index(levels)]
    data = images.reshape(len(images), -1)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        images=images,
        target=target,
        coarse_names=names["coarse"],
        fine_names=names["fine"],
    )


def _find_cifar100(folder: Path) -> Path:
    for path in (folder / _CIFAR100, folder / f"{_CIFAR100}.tar.gz", folder):
        if path.is_file() or any((path / f"{part}.bin").is_file() for part in _PARTS["all"]):
            return path
    raise OSError(
        f"{folder} does not hold CIFAR-100: there is no {_CIFAR100}, neither as a folder nor as "
        ".tar.gz. The Python version is not read, because its files are pickles."
    )


def _verify(path: Path) -> None:
    """Refuse an archive whose checksum is not the published one."""
    if path.is_file():
        with open(path, "rb") as content:
            md5 = hashlib.file_digest(content, lambda: hashlib.md5(usedforsecurity=False))
        if md5.hexdigest() != _CIFAR100_MD5:
            raise ValueError(
                f"{path} is not the published file: its MD5 checksum is {md5.hexdigest()}, "
                f"expected {_CIFAR100_MD5}. verify=False reads it all the same."
            )


def _cifar100_names(path: Path) -> dict[str, list[str]]:
    texts = {level: f"{level}_label_names.txt" for level in _LEVELS}
    files = read_members(path, texts.values())
    with reading(path, _DAMAGED):
        names = {}
        for level, text in texts.items():
            if text not in files:
                raise ValueError(f"it does not name its {level} classes")
            names[level] = files[text].decode("ascii").split()
        return names


@validate_numbers(
    {
        "folder": [str, os.PathLike],
        "features": [StrOptions(set(_NUS_FEATURES)), list, tuple],
        "subset": [StrOptions(set(_PARTS))],
        "n_labels": [Interval(Integral, 1, _NUS_CONCEPTS, closed="both"), None],
        "return_X_y": ["boolean"],
    }
)
def load_nus_wide(
    folder: str | os.PathLike,
    *,
    features: Any = "bow",
    subset: str = "all",
    n_labels: int | None = 21,
    return_X_y: bool = False,
) -> Any:
    """Load NUS-WIDE from a folder: low-level features and the labels of 269,648 images.

    Parameters
    ----------
    folder : str or path-like
        Folder that holds what the published archives unpack to: ``Low_Level_Features``,
        ``Groundtruth``, ``ConceptsList`` and ``ImageList``. Their files may also lie in it
        directly.
    features : {"bow", "ch", "corr", "edh", "wt", "cm55"} or list of these, default="bow"
        500 counts of visual words, 64 of a colour histogram, 144 of a correlogram, 73 of edge
        directions, 128 of wavelet texture, 225 colour moments; several are put side by side.
    subset : {"train", "test", "all"}, default="all"
        The published parts of 161,789 and 107,859 images, or all of them in the order of the list.
    n_labels : int or None, default=21
        The most frequent labels among all images, the most frequent first. Images with none of
        them are left out, as in the papers. None: all 81 in their own order, and all images.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        ``data`` (n, n_features) float32, ``target`` (n, n_labels) uint8 of 0 and 1,
        ``target_names``, ``image_names``.
    (data, target) : tuple, if `return_X_y`

    Examples
    --------
    >>> from sklearn_hashrank.datasets import load_nus_wide
    >>> X, y = load_nus_wide("NUS-WIDE", return_X_y=True)  # doctest: +SKIP
    >>> X.shape[1], y.shape[1]  # doctest: +SKIP
    (500, 21)
    """
    home = Path(folder)
    kinds = [features] if isinstance(features, str) else list(features)
    for kind in kinds:
        if kind not in _NUS_FEATURES:
            raise ValueError(f"features must be among {sorted(_NUS_FEATURES)}. Got {kind!r}.")
    if not kinds:
        raise ValueError("features must name at least one kind.")
    concepts = _read_lines(_find(home, "concepts", f"Concepts{_NUS_CONCEPTS}.txt"))
    chosen = np.arange(len(concepts))
    everything = None
    if n_labels is not None:
        everything = _nus_labels(home, concepts, None)
        chosen = np.argsort(-everything.sum(axis=0, dtype=np.int64), kind="stable")[:n_labels]
    part = None if subset == "all" else subset.capitalize()
    target = everything if part is None else None
    if target is None:
        target = _nus_labels(home, concepts, part)
    target = np.ascontiguousarray(target[:, chosen])
    listed = "Imagelist.txt" if part is None else f"{part}Imagelist.txt"
    list_path = _find(home, "images", listed)
    image_names = np.array(_read_lines(list_path), dtype=object)
    _check_rows(list_path, len(image_names), len(target))
    data = np.hstack([_nus_features(home, kind, part, len(target)) for kind in kinds])
    if n_labels is not None:
        kept = target.any(axis=1)
        data, target, image_names = data[kept], target[kept], image_names[kept]
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        target_names=[concepts[place] for place in chosen],
        image_names=image_names.tolist(),
    )


def _find(home: Path, kind: str, name: str) -> Path:
    places = [home / folder / name for folder in _NUS_FOLDERS[kind]] + [home / name]
    for path in places:
        if path.is_file():
            return path
    raise OSError(f"{home} does not hold NUS-WIDE: there is no {places[0]}.")


def _read_lines(path: Path) -> list[str]:
    with reading(path, _DAMAGED):
        return [line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()]


def _nus_labels(home: Path, concepts: Sequence[str], part: str | None) -> np.ndarray:
    """Indicator of all concepts, (n, n_concepts), of all images or of a part."""
    columns = []
    for concept in concepts:
        if part is None:
            path = _find(home, "labels", f"Labels_{concept}.txt")
        else:
            path = _find(home, "labels of a part", f"Labels_{concept}_{part}.txt")
        with reading(path, _DAMAGED):
            words = np.array(path.read_bytes().split())
            if not np.isin(words, (b"0", b"1")).all():
                raise ValueError("a label is neither 0 nor 1")
            columns.append((words == b"1").astype(np.uint8))
        _check_rows(path, len(columns[-1]), len(columns[0]))
    if not columns:
        raise ValueError(f"{home} names no concepts.")
    return np.column_stack(columns)


def _nus_features(home: Path, kind: str, part: str | None, n_rows: int) -> np.ndarray:
    whole, of_part = _NUS_FEATURES[kind]
    path = _find(home, "features", whole if part is None else of_part.format(part))
    with reading(path, _DAMAGED):
        data = np.loadtxt(path, dtype=np.float32, comments=None, ndmin=2, encoding="utf-8")
        if not np.isfinite(data).all():
            raise ValueError("a feature is not finite")
    _check_rows(path, len(data), n_rows)
    return data


def _check_rows(path: Path, found: int, expected: int) -> None:
    if found != expected:
        raise ValueError(f"{path} has {found} rows, the first file of labels {expected}.")


@validate_numbers({"path": [str, os.PathLike], "variable": [str]})
def load_labelme(path: str | os.PathLike, *, variable: str = "gist") -> Any:
    """Load vectors without labels from a MATLAB file, such as the GIST features of 22K LabelMe.

    What is near is relevant in such sets: fit and compare without `y`.

    Parameters
    ----------
    path : str or path-like
        ``LabelMe_gist.mat``, or another file of MATLAB's format 5 to 7.2 that holds a matrix with
        one row for each item; or a folder that holds ``LabelMe_gist.mat``.
    variable : str, default="gist"
        The name of the matrix in the file.

    Returns
    -------
    data : ndarray of shape (n, n_features), float32

    Examples
    --------
    >>> from sklearn_hashrank.datasets import load_labelme
    >>> load_labelme("LabelMe_gist.mat").shape  # doctest: +SKIP
    (22019, 512)
    """
    path = Path(path)
    if path.is_dir():
        path = path / "LabelMe_gist.mat"
    with reading(path, _DAMAGED):
        data = np.ascontiguousarray(read_matrices(path)[variable], dtype=np.float32)
        if not data.size or not np.isfinite(data).all():
            raise ValueError(f"its {variable!r} is empty or not finite")
        return data
