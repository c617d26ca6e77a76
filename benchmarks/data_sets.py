"""Data sets of the papers, as their authors publish them, from folders on this machine."""

from pathlib import Path

import numpy as np
from scipy.io import loadmat

N_CONCEPTS = 81  # of NUS-WIDE


def load_cifar100(folder):
    """Images (60000, 3072) and label paths (60000, 2), superclass and class, of CIFAR-100.

    The folder is what ``cifar-100-binary.tar.gz`` unpacks to, or holds it.
    """
    folder = Path(folder)
    if (folder / "cifar-100-binary").is_dir():
        folder = folder / "cifar-100-binary"
    files = [np.fromfile(folder / f"{part}.bin", np.uint8) for part in ("train", "test")]
    records = np.concatenate(files).reshape(-1, 2 + 3 * 32 * 32)
    images = records[:, 2:].reshape(-1, 3, 32 * 32).transpose(0, 2, 1)
    return images.reshape(len(images), -1), records[:, :2].astype(np.int64)


def load_nus_wide(folder, n_labels=21):
    """Counts of 500 visual words, and the most frequent labels, of the images of NUS-WIDE.

    The folder holds what the archives unpack to: ``Low_Level_Features``, ``Groundtruth`` and
    ``ConceptsList``. Images with none of the labels are left out, as in the papers.
    """
    folder = Path(folder)
    concepts = (folder / "ConceptsList" / f"Concepts{N_CONCEPTS}.txt").read_text().split()
    places = [folder / "Groundtruth" / "AllLabels" / f"Labels_{name}.txt" for name in concepts]
    labels = np.column_stack([np.loadtxt(place, dtype=np.uint8) for place in places])
    frequent = np.argsort(-labels.sum(axis=0, dtype=np.int64), kind="stable")[:n_labels]
    labels = np.ascontiguousarray(labels[:, frequent])
    words = np.loadtxt(folder / "Low_Level_Features" / "BoW_int.dat", dtype=np.float32)
    kept = labels.any(axis=1)
    return words[kept], labels[kept]


def load_labelme(path):
    """GIST features (22019, 512) of ``LabelMe_gist.mat``."""
    return np.ascontiguousarray(loadmat(path)["gist"], dtype=np.float32)
