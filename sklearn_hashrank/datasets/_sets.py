"""Titles, classes, files and checksums of the image sets."""

from collections.abc import Sequence
from dataclasses import dataclass

from ._download import RemoteFile


@dataclass(frozen=True)
class ImageSet:
    """A set of images: what it is, where it comes from, and where copies are looked for."""

    title: str
    home: str
    description: str
    target_names: Sequence[str]
    folders: Sequence[str]  # in data_home; downloads go to the first
    files: dict[str, Sequence[RemoteFile]]  # by part: "train" and "test"
    other_names: Sequence[str] = ()  # of what serves as well as the files
    system_folders: Sequence[str] = ()


def _idx_files(url: str, train: Sequence[str], test: Sequence[str]) -> dict:
    kinds = ("images-idx3", "labels-idx1")
    return {
        part: [
            RemoteFile(f"{url}{prefix}-{kind}-ubyte.gz", md5) for kind, md5 in zip(kinds, checksums)
        ]
        for part, prefix, checksums in (("train", "train", train), ("test", "t10k", test))
    }


FASHION_MNIST = ImageSet(
    title="Fashion-MNIST",
    home="https://github.com/zalandoresearch/fashion-mnist",
    description="""\
Fashion-MNIST
=============

70,000 grey images of 28 x 28 pixels, bytes from 0 to 255, of ten kinds of clothes, 7,000 of each.
The first 60,000 are the training part, the last 10,000 the test part.

H. Xiao, K. Rasul, R. Vollgraf, "Fashion-MNIST: a novel image dataset for benchmarking machine
learning algorithms", 2017. Copyright Zalando SE, MIT licence.
""",
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
    folders=("fashion_mnist", "fashion-mnist", "FashionMNIST/raw", "."),
    system_folders=("/usr/share/datasets/fashion-mnist",),
    files=_idx_files(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        ("8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe"),
        ("bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310"),
    ),
)

MNIST = ImageSet(
    title="MNIST",
    home="http://yann.lecun.com/exdb/mnist/",
    description="""\
MNIST
=====

70,000 grey images of 28 x 28 pixels, bytes from 0 to 255, of handwritten digits. The first 60,000
are the training part, the last 10,000 the test part.

Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, "Gradient-based learning applied to document
recognition", Proceedings of the IEEE 86(11), 1998.
""",
    target_names=[str(digit) for digit in range(10)],
    folders=("mnist", "MNIST/raw", "."),
    files=_idx_files(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        ("f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c"),
    ),
)

_CIFAR_ARCHIVE = RemoteFile(
    "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530"
)

CIFAR10 = ImageSet(
    title="CIFAR-10",
    home="https://www.cs.toronto.edu/~kriz/cifar.html",
    description="""\
CIFAR-10
========

60,000 colour images of 32 x 32 pixels, bytes from 0 to 255, of ten kinds of vehicles and animals,
6,000 of each. The first 50,000 are the training part, the last 10,000 the test part. A row of
`data` is an image as it stands in `images`, pixel by pixel, with red, green and blue next to each
other; the original files hold one colour after the other.

A. Krizhevsky, "Learning multiple layers of features from tiny images", technical report,
University of Toronto, 2009.
""",
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
    folders=("cifar10", "."),
    files={"train": [_CIFAR_ARCHIVE], "test": [_CIFAR_ARCHIVE]},
    other_names=("cifar-10-batches-bin",),
)

CIFAR10_BATCHES = {
    "train": [f"data_batch_{number}" for number in range(1, 6)],
    "test": ["test_batch"],
}

DIGITS_GIST = """\
GIST of the digits
==================

The 512 features that `sklearn_hashrank.feature_extraction.GIST` with its defaults gives the 1,797
images of 8 x 8 pixels of `sklearn.datasets.load_digits`, which are ten kinds of handwritten digits.
"""
