"""Load MNIST, Fashion-MNIST, CIFAR-10 and the GIST features of the digits."""

import gzip
import math
import os
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import fetch_file, load_digits
from sklearn.utils import Bunch
from sklearn.utils._param_validation import StrOptions, validate_params

from .._files.reading import reading
from ..feature_extraction._gist import GIST

_DAMAGED = " cannot be read: {}. Delete it, or put a good copy there."
_LARGEST_BATCH = 1 << 28  # bytes of a file in an archive; those of CIFAR-10 have 31 million
_BATCHES = {
    "train": [f"data_batch_{number}.bin" for number in range(1, 6)],
    "test": ["test_batch.bin"],
}
_IDX_FILES = {"train": "train-{}-ubyte.gz", "test": "t10k-{}-ubyte.gz"}
_FETCH_PARAMETERS = {
    "data_home": [str, os.PathLike, None],
    "subset": [StrOptions({"train", "test", "all"})],
    "download_if_missing": ["boolean"],
    "return_X_y": ["boolean"],
}


class _ImageSet(NamedTuple):
    title: str
    home: str
    url: str
    checksums: Mapping[str, str]  # SHA-256 of each file
    folders: Sequence[str]  # in data_home, or absolute; downloads go to the first
    target_names: Sequence[str]


MNIST = _ImageSet(
    title="MNIST",
    home="http://yann.lecun.com/exdb/mnist/",
    url="https://ossci-datasets.s3.amazonaws.com/mnist/",
    checksums={
        "train-images-idx3-ubyte.gz": (
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
        ),
        "train-labels-idx1-ubyte.gz": (
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
        ),
        "t10k-images-idx3-ubyte.gz": (
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
        ),
        "t10k-labels-idx1-ubyte.gz": (
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
        ),
    },
    folders=("mnist", "MNIST/raw", "."),
    target_names=[str(digit) for digit in range(10)],
)

FASHION_MNIST = _ImageSet(
    title="Fashion-MNIST",
    home="https://github.com/zalandoresearch/fashion-mnist",
    url="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    checksums={
        "train-images-idx3-ubyte.gz": (
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"
        ),
        "train-labels-idx1-ubyte.gz": (
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"
        ),
        "t10k-images-idx3-ubyte.gz": (
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"
        ),
        "t10k-labels-idx1-ubyte.gz": (
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"
        ),
    },
    folders=(
        "fashion_mnist",
        "fashion-mnist",
        "FashionMNIST/raw",
        ".",
        "/usr/share/datasets/fashion-mnist",  # Debian's package
    ),
    target_names=[
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ],
)

CIFAR10 = _ImageSet(
    title="CIFAR-10",
    home="https://www.cs.toronto.edu/~kriz/cifar.html",
    url="https://www.cs.toronto.edu/~kriz/",
    checksums={
        "cifar-10-binary.tar.gz": (
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
        ),
    },
    folders=("cifar10", "."),
    target_names=[
        "airplane",
        "automobile",
        "bird",
        "cat",
        "deer",
        "dog",
        "frog",
        "horse",
        "ship",
        "truck",
    ],
)


@validate_params(_FETCH_PARAMETERS, prefer_skip_nested_validation=True)
def fetch_mnist(
    *,
    data_home: str | os.PathLike | None = None,
    subset: str = "all",
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load MNIST: 70,000 gray images of handwritten digits, 28 x 28 pixels.

    Local copies are used if there are any: idx files, plain or gzipped, in the folder ``mnist`` of
    `data_home` or in `data_home` itself, or torchvision's ``MNIST/raw``. Otherwise the files are
    downloaded, 11 MB.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of data sets. None: scikit-learn's, ``~/scikit_learn_data``, or the folder in the
        environment variable ``SCIKIT_LEARN_DATA``.
    subset : {"train", "test", "all"}, default="all"
        The 60,000 images of the training part, the 10,000 of the test part, or both in this order.
    download_if_missing : bool, default=True
        If False, raise OSError if there is no local copy.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        ``data`` (n, 784) uint8, ``images`` (n, 28, 28), ``target`` (n,), ``target_names``.
    (data, target) : tuple, if `return_X_y`

    Examples
    --------
    >>> from sklearn_hashrank.datasets import fetch_mnist
    >>> X, y = fetch_mnist(return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (70000, 784)
    """
    return _fetch_idx(MNIST, data_home, subset, download_if_missing, return_X_y)


@validate_params(_FETCH_PARAMETERS, prefer_skip_nested_validation=True)
def fetch_fashion_mnist(
    *,
    data_home: str | os.PathLike | None = None,
    subset: str = "all",
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load Fashion-MNIST: 70,000 gray images of clothes, 28 x 28 pixels, 10 classes.

    Local copies are used if there are any: idx files, plain or gzipped, in the folder
    ``fashion_mnist`` of `data_home` or in `data_home` itself, torchvision's ``FashionMNIST/raw``,
    or the Debian package ``dataset-fashion-mnist``. Otherwise the files are downloaded, 30 MB.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of data sets. None: scikit-learn's, ``~/scikit_learn_data``, or the folder in the
        environment variable ``SCIKIT_LEARN_DATA``.
    subset : {"train", "test", "all"}, default="all"
        The 60,000 images of the training part, the 10,000 of the test part, or both in this order.
    download_if_missing : bool, default=True
        If False, raise OSError if there is no local copy.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        ``data`` (n, 784) uint8, ``images`` (n, 28, 28), ``target`` (n,), ``target_names``.
    (data, target) : tuple, if `return_X_y`

    Examples
    --------
    >>> from sklearn_hashrank.datasets import fetch_fashion_mnist
    >>> X, y = fetch_fashion_mnist(subset="test", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (10000, 784)
    """
    return _fetch_idx(FASHION_MNIST, data_home, subset, download_if_missing, return_X_y)


@validate_params(_FETCH_PARAMETERS, prefer_skip_nested_validation=True)
def fetch_cifar10(
    *,
    data_home: str | os.PathLike | None = None,
    subset: str = "all",
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load CIFAR-10: 60,000 color images of vehicles and animals, 32 x 32 pixels, 10 classes.

    A local copy is used if there is one, in the folder ``cifar10`` of `data_home` or in `data_home`
    itself: the archive of the binary version, or the folder that it unpacks to. Otherwise it is
    downloaded, 162 MB. The Python version is not read, because its files are pickles.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of data sets. None: scikit-learn's, ``~/scikit_learn_data``, or the folder in the
        environment variable ``SCIKIT_LEARN_DATA``.
    subset : {"train", "test", "all"}, default="all"
        The 50,000 images of the training part, the 10,000 of the test part, or both in this order.
    download_if_missing : bool, default=True
        If False, raise OSError if there is no local copy.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        ``data`` (n, 3072) uint8, ``images`` (n, 32, 32, 3), ``target`` (n,), ``target_names``.
        Rows of ``data`` are images pixel by pixel, as ``GIST(image_shape=(32, 32, 3))`` takes
        them.
    (data, target) : tuple, if `return_X_y`

    Examples
    --------
    >>> from sklearn_hashrank.datasets import fetch_cifar10
    >>> cifar = fetch_cifar10(subset="test")  # doctest: +SKIP
    >>> cifar.images.shape  # doctest: +SKIP
    (10000, 32, 32, 3)
    """
    [archive] = CIFAR10.checksums
    try:
        path = _find(CIFAR10, archive, "cifar-10-batches-bin", data_home, download_if_missing)
    except OSError as error:
        for folder in _folders(CIFAR10, data_home):
            if (folder / "cifar-10-batches-py").is_dir():
                raise OSError(f"{error}. {_PICKLED} cd {folder} && {_CONVERT}") from error
            if (folder / "cifar-10-python.tar.gz").is_file():
                unpack = "tar xf cifar-10-python.tar.gz"
                raise OSError(
                    f"{error}. {_PICKLED} cd {folder} && {unpack} && {_CONVERT}"
                ) from error
        raise
    batches = [name for part in _parts(subset) for name in _BATCHES[part]]
    images, target = read_cifar(path, batches)
    return _bunch(CIFAR10, images, target, path, return_X_y)


_PICKLED = (
    "The Python version is here, and is not read because its files are pickles, which can run "
    "code. If you trust them, write them as the binary version once:"
)
_CONVERT = (
    'python -c "import pickle, numpy as np; from pathlib import Path; '
    "new = Path('cifar-10-batches-bin'); new.mkdir(); "
    "old = {path: pickle.loads(path.read_bytes(), encoding='bytes') "
    "for path in Path('cifar-10-batches-py').glob('*_batch*')}; "
    "[np.column_stack([part[b'labels'], part[b'data']]).astype('u1')"
    ".tofile(new / (path.name + '.bin')) for path, part in old.items()]\""
)


@validate_params({"return_X_y": ["boolean"]}, prefer_skip_nested_validation=True)
def load_digits_gist(*, return_X_y: bool = False) -> Any:
    """GIST descriptors of scikit-learn's digits, for examples that need no network.

    Computed anew in a second: ``GIST().fit_transform(load_digits().images)``.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        ``data`` (1797, 512) float32, ``images`` (1797, 8, 8), ``target`` (1797,), ``target_names``,
        ``feature_names``.
    (data, target) : tuple, if `return_X_y`

    Examples
    --------
    >>> from sklearn_hashrank.datasets import load_digits_gist
    >>> X, y = load_digits_gist(return_X_y=True)
    >>> X.shape
    (1797, 512)
    """
    digits, gist = load_digits(), GIST()
    data = gist.fit_transform(digits.images)
    if return_X_y:
        return data, digits.target
    return Bunch(
        data=data,
        images=digits.images,
        target=digits.target,
        target_names=digits.target_names,
        feature_names=gist.get_feature_names_out().tolist(),
    )


def _fetch_idx(
    about: _ImageSet,
    data_home: str | os.PathLike | None,
    subset: str,
    download_if_missing: bool,
    return_X_y: bool,
) -> Any:
    found: dict[str, list[np.ndarray]] = {"images-idx3": [], "labels-idx1": []}
    for part in _parts(subset):
        for kind, n_dimensions in (("images-idx3", 3), ("labels-idx1", 1)):
            name = _IDX_FILES[part].format(kind)
            plain = name.removesuffix(".gz")
            path = _find(about, name, plain, data_home, download_if_missing)
            found[kind].append(read_idx(path, n_dimensions))
    images, target = (np.concatenate(arrays) for arrays in found.values())
    return _bunch(about, images, target, path, return_X_y)


def _parts(subset: str) -> list[str]:
    return ["train", "test"] if subset == "all" else [subset]


def _find(
    about: _ImageSet,
    name: str,
    other_name: str,
    data_home: str | os.PathLike | None,
    download_if_missing: bool,
) -> Path:
    """A local copy of a file, or a download of it."""
    folders = _folders(about, data_home)
    for folder in folders:
        for path in (folder / name, folder / other_name):
            if path.exists():
                return path
    reason = "download_if_missing is False"
    if download_if_missing:
        try:
            folders[0].mkdir(parents=True, exist_ok=True)
            return Path(fetch_file(about.url + name, folders[0], sha256=about.checksums[name]))
        except OSError as error:
            reason = f"{about.url}{name} could not be downloaded: {error}"
    raise OSError(
        f"{about.title} is not on this machine, and {reason}. Place "
        f"{' and '.join(about.checksums)} into {folders[0]}; see {about.home}"
    )


def _folders(about: _ImageSet, data_home: str | os.PathLike | None) -> list[Path]:
    """Where local copies may be."""
    home = data_home or os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")
    return [Path(home).expanduser() / folder for folder in about.folders]


def _bunch(
    about: _ImageSet, images: np.ndarray, target: np.ndarray, path: Path, return_X_y: bool
) -> Any:
    n_classes = len(about.target_names)
    if len(images) != len(target) or target.max(initial=0) >= n_classes:
        raise ValueError(
            f"{path.parent} does not hold {about.title}: {len(images)} images and {len(target)} "
            f"labels, which must be as many and below {n_classes}."
        )
    data, target = images.reshape(len(images), -1), target.astype(np.int64)
    if return_X_y:
        return data, target
    return Bunch(data=data, images=images, target=target, target_names=[*about.target_names])


def read_idx(path: Path, n_dimensions: int) -> np.ndarray:
    """Array of an idx file of bytes, plain or compressed by gzip."""
    opened = gzip.open if path.suffix == ".gz" else open
    with reading(path, _DAMAGED), opened(path, "rb") as file:
        header = file.read(4 * (1 + n_dimensions))
        if header[:4] != bytes([0, 0, 8, n_dimensions]) or len(header) < 4 * (1 + n_dimensions):
            raise ValueError(f"it is not an idx file of {n_dimensions}-dimensional bytes")
        shape = np.frombuffer(header, ">u4")[1:].tolist()
        content = file.read(math.prod(shape) + 1)  # at the end, gzip verifies its checksum
        if len(content) != math.prod(shape):
            raise ValueError(f"it does not hold the {math.prod(shape)} values that it announces")
        return np.frombuffer(content, np.uint8).reshape(shape)


def read_cifar(path: Path, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 32, 32, 3) and labels (n,) of batches in an archive, or in its unpacked folder."""
    with reading(path, _DAMAGED):
        if path.is_dir():
            contents = {name: (path / name).read_bytes() for name in names}
        else:
            contents = _read_archive(path, names)
        records = np.concatenate(
            [np.frombuffer(contents[name], np.uint8).reshape(-1, 1 + 3 * 32 * 32) for name in names]
        )
    images = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), records[:, 0]


def _read_archive(path: Path, names: Sequence[str]) -> dict[str, bytes]:
    contents = {}
    with gzip.open(path) as file, tarfile.open(fileobj=file, mode="r:") as archive:
        for member in archive:
            name = Path(member.name).name
            if name in names and (content := archive.extractfile(member)) is not None:
                if member.size > _LARGEST_BATCH:
                    raise ValueError(f"{name} has more than {_LARGEST_BATCH:,} bytes")
                contents[name] = content.read()
        while file.read(1 << 20):  # at the end, gzip verifies its checksum
            pass
    return contents
