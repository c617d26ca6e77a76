"""Load MNIST, Fashion-MNIST, CIFAR-10 and the GIST features of the digits."""

import os
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import Bunch
from sklearn.utils._param_validation import Interval, StrOptions

from .._utils.parameters import validate_numbers
from ..feature_extraction._gist import GIST
from . import _sets
from ._download import RemoteFile, download
from ._formats import read_cifar, read_idx
from ._sets import ImageSet

_PARTS = {"train": ["train"], "test": ["test"], "all": ["train", "test"]}

_FETCH_PARAMETERS = {
    "data_home": [str, os.PathLike, None],
    "subset": [StrOptions(set(_PARTS))],
    "download_if_missing": ["boolean"],
    "return_X_y": ["boolean"],
    "as_frame": ["boolean"],
    "n_retries": [Interval(Integral, 0, None, closed="left")],
    "delay": [Interval(Real, 0, None, closed="left")],
}


@dataclass(frozen=True)
class _Supply:
    """Finds the files of a set of images, or downloads them."""

    images: ImageSet
    data_home: str | os.PathLike | None
    parts: list[str]
    download_if_missing: bool
    n_retries: int
    delay: float

    def folders(self) -> list[Path]:
        """Where files may be, and first of all where downloads go."""
        home = self.data_home
        if home is None:
            home = os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")
        own = [Path(home).expanduser() / folder for folder in self.images.folders]
        return own + [Path(folder) for folder in self.images.system_folders]

    def path(self, remote: RemoteFile) -> Path:
        """A local copy of a file, plain or compressed, or of what serves as well."""
        names = [remote.name, remote.name.removesuffix(".gz"), *self.images.other_names]
        folders = self.folders()
        for folder in folders:
            for name in names:
                if (folder / name).exists():
                    return folder / name
        if not self.download_if_missing:
            raise self.missing("and download_if_missing is False")
        try:
            return download(remote, folders[0], self.n_retries, self.delay)
        except OSError as error:
            raise self.missing(f"and {error}") from error

    def missing(self, reason: str) -> OSError:
        wanted = {remote.name: None for part in self.parts for remote in self.images.files[part]}
        names = " and ".join(wanted)
        for other in self.images.other_names:
            names += f" or {other}"
        return OSError(
            f"{self.images.title} is not on this machine, {reason}. Place {names} into "
            f"{self.folders()[0]}; see {self.images.home}"
        )


def _bunch(
    images: np.ndarray,
    target: np.ndarray,
    about: ImageSet,
    source: Path,
    return_X_y: bool,
    as_frame: bool,
) -> Any:
    """Bunch or pair of images and labels that were read from `source`."""
    n_classes = len(about.target_names)
    if len(images) != len(target) or (len(target) and target.max() >= n_classes):
        raise ValueError(
            f"{source.parent} does not hold {about.title}: {len(images)} images and {len(target)} "
            f"labels, which must be as many and below {n_classes}."
        )
    return _pack(
        images.reshape(len(images), -1),
        target.astype(np.int64),
        [f"pixel_{'_'.join(map(str, place))}" for place in np.ndindex(images.shape[1:])],
        return_X_y,
        as_frame,
        images=images,
        target_names=list(about.target_names),
        DESCR=about.description,
    )


def _pack(
    data: Any, target: Any, feature_names: Any, return_X_y: bool, as_frame: bool, **more: Any
) -> Any:
    """What a loader returns, by scikit-learn's conventions."""
    frame = None
    if as_frame:
        import pandas as pd

        data = pd.DataFrame(data, columns=feature_names)
        target = pd.Series(target, name="target")
        frame = pd.concat([data, target], axis=1)
    if return_X_y:
        return data, target
    return Bunch(data=data, target=target, frame=frame, feature_names=feature_names, **more)


def _fetch_idx(
    about: ImageSet,
    data_home: str | os.PathLike | None,
    subset: str,
    download_if_missing: bool,
    return_X_y: bool,
    as_frame: bool,
    n_retries: int,
    delay: float,
) -> Any:
    parts = _PARTS[subset]
    supply = _Supply(about, data_home, parts, download_if_missing, n_retries, delay)
    paths = [supply.path(remote) for part in parts for remote in about.files[part]]
    images, target = (
        np.concatenate([read_idx(path, n_dimensions) for path in kind])
        for n_dimensions, kind in ((3, paths[::2]), (1, paths[1::2]))
    )
    return _bunch(images, target, about, paths[0], return_X_y, as_frame)


@validate_numbers(_FETCH_PARAMETERS)
def fetch_fashion_mnist(
    *,
    data_home: str | os.PathLike | None = None,
    subset: str = "all",
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load Fashion-MNIST: 70,000 grey images of clothes, 28 x 28 pixels, 10 classes.

    A local copy is used if there is one: idx files, plain or gzipped, in the folder
    ``fashion_mnist`` of `data_home` or in `data_home` itself, torchvision's ``FashionMNIST/raw``,
    or Debian's package ``dataset-fashion-mnist``. Otherwise the files are downloaded, 30 MB.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of data sets. None: scikit-learn's, ``~/scikit_learn_data``, or what the environment
        variable ``SCIKIT_LEARN_DATA`` says.
    subset : {"train", "test", "all"}, default="all"
        The 60,000 images of the training part, the 10,000 of the test part, or both in this order.
    download_if_missing : bool, default=True
        If False, OSError when there is no local copy.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        `data` as a pandas DataFrame, `target` as a Series.
    n_retries : int, default=3
        Retries of a download. Each goes on where the last one broke off.
    delay : float, default=1.0
        Seconds between retries.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        ``data`` (n, 784) uint8, ``images`` (n, 28, 28), ``target`` (n,), ``target_names``,
        ``feature_names``, ``frame`` (None unless `as_frame`), ``DESCR``.
    (data, target) : tuple, if `return_X_y`

    Examples
    --------
    >>> from sklearn_hashrank.datasets import fetch_fashion_mnist
    >>> X, y = fetch_fashion_mnist(subset="test", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (10000, 784)
    """
    return _fetch_idx(
        _sets.FASHION_MNIST,
        data_home,
        subset,
        download_if_missing,
        return_X_y,
        as_frame,
        n_retries,
        delay,
    )


@validate_numbers(_FETCH_PARAMETERS)
def fetch_mnist(
    *,
    data_home: str | os.PathLike | None = None,
    subset: str = "all",
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load MNIST: 70,000 grey images of handwritten digits, 28 x 28 pixels.

    A local copy is used if there is one: idx files, plain or gzipped, in the folder ``mnist`` of
    `data_home` or in `data_home` itself, or torchvision's ``MNIST/raw``. Otherwise the files are
    downloaded, 11 MB.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of data sets. None: scikit-learn's, ``~/scikit_learn_data``, or what the environment
        variable ``SCIKIT_LEARN_DATA`` says.
    subset : {"train", "test", "all"}, default="all"
        The 60,000 images of the training part, the 10,000 of the test part, or both in this order.
    download_if_missing : bool, default=True
        If False, OSError when there is no local copy.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        `data` as a pandas DataFrame, `target` as a Series.
    n_retries : int, default=3
        Retries of a download. Each goes on where the last one broke off.
    delay : float, default=1.0
        Seconds between retries.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        ``data`` (n, 784) uint8, ``images`` (n, 28, 28), ``target`` (n,), ``target_names``,
        ``feature_names``, ``frame`` (None unless `as_frame`), ``DESCR``.
    (data, target) : tuple, if `return_X_y`

    Examples
    --------
    >>> from sklearn_hashrank.datasets import fetch_mnist
    >>> X, y = fetch_mnist(return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (70000, 784)
    """
    return _fetch_idx(
        _sets.MNIST,
        data_home,
        subset,
        download_if_missing,
        return_X_y,
        as_frame,
        n_retries,
        delay,
    )


@validate_numbers(_FETCH_PARAMETERS)
def fetch_cifar10(
    *,
    data_home: str | os.PathLike | None = None,
    subset: str = "all",
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load CIFAR-10: 60,000 colour images of vehicles and animals, 32 x 32 pixels, 10 classes.

    A local copy is used if there is one, in the folder ``cifar10`` of `data_home` or in `data_home`
    itself: the archive of the binary version, or the folder that it unpacks to. Otherwise it is
    downloaded, 162 MB. The Python version is not read, because its files are pickles.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of data sets. None: scikit-learn's, ``~/scikit_learn_data``, or what the environment
        variable ``SCIKIT_LEARN_DATA`` says.
    subset : {"train", "test", "all"}, default="all"
        The 50,000 images of the training part, the 10,000 of the test part, or both in this order.
    download_if_missing : bool, default=True
        If False, OSError when there is no local copy.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        `data` as a pandas DataFrame, `target` as a Series.
    n_retries : int, default=3
        Retries of a download. Each goes on where the last one broke off.
    delay : float, default=1.0
        Seconds between retries.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        ``data`` (n, 3072) uint8, ``images`` (n, 32, 32, 3), ``target`` (n,), ``target_names``,
        ``feature_names``, ``frame`` (None unless `as_frame`), ``DESCR``. Rows of ``data`` are
        images pixel by pixel, as ``GIST(image_shape=(32, 32, 3))`` takes them.
    (data, target) : tuple, if `return_X_y`

    Examples
    --------
    >>> from sklearn_hashrank.datasets import fetch_cifar10
    >>> cifar = fetch_cifar10(subset="test")  # doctest: +SKIP
    >>> cifar.images.shape  # doctest: +SKIP
    (10000, 32, 32, 3)
    """
    parts = _PARTS[subset]
    about = _sets.CIFAR10
    supply = _Supply(about, data_home, parts, download_if_missing, n_retries, delay)
    path = supply.path(about.files[parts[0]][0])
    batches = [name for part in parts for name in _sets.CIFAR10_BATCHES[part]]
    images, target = read_cifar(path, batches)
    return _bunch(images, target, about, path, return_X_y, as_frame)


@validate_numbers({"return_X_y": ["boolean"], "as_frame": ["boolean"]})
def load_digits_gist(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """GIST descriptors of scikit-learn's digits, for examples that need no network.

    Computed anew in a second: ``GIST().fit_transform(load_digits().images)``.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        `data` as a pandas DataFrame, `target` as a Series.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        ``data`` (1797, 512) float32, ``images`` (1797, 8, 8), ``target`` (1797,), ``target_names``,
        ``feature_names``, ``frame`` (None unless `as_frame`), ``DESCR``.
    (data, target) : tuple, if `return_X_y`

    Examples
    --------
    >>> from sklearn_hashrank.datasets import load_digits_gist
    >>> X, y = load_digits_gist(return_X_y=True)
    >>> X.shape
    (1797, 512)
    """
    digits = load_digits()
    gist = GIST()
    return _pack(
        gist.fit_transform(digits.images),
        digits.target,
        gist.get_feature_names_out().tolist(),
        return_X_y,
        as_frame,
        images=digits.images,
        target_names=digits.target_names,
        DESCR=_sets.DIGITS_GIST,
    )
