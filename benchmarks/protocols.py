"""Data sets and the retrieval protocols of the literature, for the other benchmarks."""

import gzip
from pathlib import Path

import numpy as np

from sklearn_hashrank.model_selection import PerClassRetrievalSplit

FASHION_MNIST = "/usr/share/datasets/fashion-mnist"


def read_idx(path):
    with gzip.open(path) as file:
        content = file.read()
    n_dimensions = content[3]
    shape = np.frombuffer(content, ">i4", n_dimensions, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_dimensions).reshape(shape)


def fashion_mnist(folder=FASHION_MNIST):
    """All 70,000 images as rows of pixels in [0, 1], and labels."""
    parts = [
        (
            read_idx(Path(folder, f"{part}-images-idx3-ubyte.gz")),
            read_idx(Path(folder, f"{part}-labels-idx1-ubyte.gz")),
        )
        for part in ("train", "t10k")
    ]
    images, labels = (np.concatenate(arrays) for arrays in zip(*parts))
    return images.reshape(len(images), -1).astype(np.float32) / 255, labels.astype(int)


def gist(path):
    """All rows and labels of an npz file with X_train, y_train, X_test, y_test."""
    with np.load(path) as file:
        X = np.concatenate([file["X_train"], file["X_test"]]).astype(np.float32)
        return X, np.concatenate([file["y_train"], file["y_test"]]).astype(int)


def by_class(y, random_state, n_query=100, n_train=500):
    """Query, database and training rows, `n_train` of each class (None: the whole database).

    Rows come in the order of the data set.
    """
    protocol = PerClassRetrievalSplit(n_query, n_train, random_state=random_state)
    [(train, query, database)] = protocol.split(y, y)
    return np.sort(query), np.sort(database), np.sort(train)
