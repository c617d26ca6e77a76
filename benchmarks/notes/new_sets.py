"""What `hashrank suggest` takes on three sets that no default was chosen on.

    python -m benchmarks.notes.new_sets [--mnist FOLDER] [--packages Packages]

`FOLDER` has the files of the training part of MNIST, of which 2,500 rows are taken. `Packages` is
the list of packages of a Debian release: the classes of their short descriptions (TF-IDF, 150
components) are 40 sections with 70 rows each, and 150 maintainers with 20 rows each.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from sklearn_hashrank.comparison import suggest

N_BITS, N_TRAIN, N_ROWS, N_TEXTS = 32, 1000, 2500, 20_000
METHODS = ("talr-kernel", "talr-ap", "classifier", "hashnet", "rsh", "itq")
CLASSES = {"Section": (40, 70), "Maintainer": (150, 20)}


def mnist(folder):
    """Some rows of pixels, and their digits."""
    pixels, digits = (
        np.fromfile(folder / name, dtype=np.uint8)[start:]
        for name, start in (("train-images-idx3-ubyte", 16), ("train-labels-idx1-ubyte", 8))
    )
    rows = np.random.RandomState(0).permutation(len(digits))[:N_ROWS]
    return pixels.reshape(len(digits), -1)[rows].astype(np.float32), digits[rows].astype(int)


def descriptions(path, field):
    """Short descriptions as vectors, and the number of the section or the maintainer of each."""
    packages = [
        dict(line.split(": ", 1) for line in package.splitlines() if ": " in line)
        for package in path.read_text().split("\n\n")
    ]
    packages = [each for each in packages if {"Description", "Section"} <= set(each)]
    names = np.array([each.get(field, "") for each in packages])
    texts = np.array([each["Description"] for each in packages])
    n_classes, n_rows = CLASSES[field]
    classes, sizes = np.unique(names, return_counts=True)
    sampler = np.random.RandomState(0)
    largest = classes[np.argsort(-sizes, kind="stable")][:n_classes]
    rows = np.concatenate(
        [sampler.permutation(np.flatnonzero(names == name))[:n_rows] for name in largest]
    )
    sampler.shuffle(rows)
    words = TfidfVectorizer(min_df=3, sublinear_tf=True, max_features=30_000)
    words.fit(texts[sampler.permutation(len(texts))[:N_TEXTS]])
    vectors = TruncatedSVD(150, random_state=0).fit_transform(words.transform(texts[rows]))
    return vectors.astype(np.float32), np.unique(names[rows], return_inverse=True)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnist", type=Path, help="folder of the idx files")
    parser.add_argument("--packages", type=Path, help="list of packages, not compressed")
    options = parser.parse_args()
    sets = {}
    if options.mnist:
        sets["MNIST"] = mnist(options.mnist)
    if options.packages:
        for field in CLASSES:
            sets[f"Descriptions of packages by {field.lower()}"] = descriptions(
                options.packages, field
            )
    for title, (X, y) in sets.items():
        print(f"\n{title}: {X.shape[0]:,} rows of {X.shape[1]}, {len(np.unique(y))} classes")
        found = suggest(X, y, n_bits=N_BITS, max_rows=N_TRAIN, methods=METHODS)
        method, reason = found.best()
        print(f"Take {method}: {reason}\n\n{found.to_markdown()}")


if __name__ == "__main__":
    main()
