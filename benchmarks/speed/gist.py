"""GIST: speed and memory, agreement with published features of CIFAR-10, quality against pixels.

    python -m benchmarks.speed.gist [--data GIST.npz] [--data-home FOLDER] [--only speed|...]

"speed" describes 10,000 random images of 32 x 32 pixels, and 300 of them as the original code does:
one image after the other, in double precision, with a filter bank that is built beforehand.

"agreement" compares descriptors of CIFAR-10 with features that others have computed. "quality"
hashes pixels and GIST by the protocol of the other benchmarks. Both take the images from FOLDER, as
`fetch_cifar10` and `fetch_fashion_mnist` do, and leave out a data set that is not there.
"""

import argparse
import tracemalloc

import numpy as np

from benchmarks.protocols import average_precision, by_class, gist
from benchmarks.sheet import Sheet, best_of
from sklearn_hashrank import ITQHasher, LSHHasher, TALRLinear
from sklearn_hashrank.datasets import fetch_cifar10, fetch_fashion_mnist
from sklearn_hashrank.feature_extraction import GIST, gabor_filters


def one_by_one(images):
    """Descriptors as the original code computes them."""
    bank = gabor_filters((96, 96))
    y, x = 42 * np.fft.fftfreq(42)[:, None], 42 * np.fft.fftfreq(42)
    low_pass = np.exp(-(x**2 + y**2) * np.log(2) / 16)
    features = []
    for image in images:
        grey = image.mean(axis=2)
        grey -= grey.min()
        logs = np.pad(np.log(255 * grey / grey.max() + 1), 5, mode="symmetric")
        logs -= np.fft.ifft2(np.fft.fft2(logs) * low_pass).real
        logs /= 0.2 + np.sqrt(np.abs(np.fft.ifft2(np.fft.fft2(logs**2) * low_pass)))
        spectrum = np.fft.fft2(np.pad(logs[5:-5, 5:-5], 32, mode="symmetric"))
        for transfer in bank:
            magnitude = np.abs(np.fft.ifft2(spectrum * transfer))[32:64, 32:64]
            features.append(magnitude.reshape(4, 8, 4, 8).mean(axis=(1, 3)).T)
    return np.reshape(features, (len(images), -1))


def speed(options):
    measure(Sheet(), options.n)


def measure(sheet, n=10_000):
    """Time and memory of the descriptor, beside the original code's way."""
    images = np.random.default_rng(0).integers(0, 256, (n, 32, 32, 3), np.uint8)
    GIST().transform(images[:1])  # builds the filter bank
    sheet.section(f"GIST of {n:,} images of 32 x 32 pixels")
    for n_jobs in (1, 2):
        seconds, features = best_of(lambda n_jobs=n_jobs: GIST(n_jobs=n_jobs).transform(images), 1)
        sheet.row(f"n_jobs={n_jobs}", seconds, "s", at_most=60 * n / 10_000)
    some = images[:300]
    theirs, expected = best_of(lambda: one_by_one(some), 1)
    ours, _ = best_of(lambda: GIST().transform(some), 1)
    scale = 1e3 / len(some)
    sheet.row("an image, one thread", scale * ours, "ms", "as the original", scale * theirs)
    np.testing.assert_allclose(features[:300], expected, atol=1e-4)
    tracemalloc.start()
    GIST().transform(images)
    peak = tracemalloc.get_traced_memory()[1] - features.nbytes
    tracemalloc.stop()
    sheet.row("memory beyond the features", peak / 2**20, "MB")


def agreement(options):
    if not options.data:
        return
    X, y = gist(options.data)
    cifar = fetch_cifar10(data_home=options.data_home, download_if_missing=False)
    assert (cifar.target == y).all()
    features = GIST(n_jobs=2).transform(cifar.images)
    error = np.linalg.norm(features - X) / np.linalg.norm(X)
    correlation = np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(features.T, X.T)])
    print(
        f"{len(X)} images of CIFAR-10 against {options.data}: largest difference "
        f"{np.abs(features - X).max():.1e}, relative error {error:.1e}, "
        f"smallest correlation of a feature {correlation.min():.6f}"
    )


def quality(options):
    for fetch in (fetch_fashion_mnist, fetch_cifar10):
        try:
            images = fetch(data_home=options.data_home, download_if_missing=False)
        except OSError as error:
            print(error)
            continue
        y = images.target
        kinds = {
            "pixels": images.data.astype(np.float32),
            "GIST": GIST(n_jobs=2).transform(images.images),
        }
        print(f"\n{fetch.__name__}, AP_T over {options.seeds} seeds, {options.bits} bits")
        for name, make in {"LSH": LSHHasher, "ITQ": ITQHasher, "TALR": TALRLinear}.items():
            for kind, rows in kinds.items():
                cells = []
                for n_bits in options.bits:
                    scores = []
                    for seed in range(options.seeds):
                        query, database, train = by_class(y, np.random.RandomState(seed))
                        hasher = make(n_bits, random_state=seed).fit(rows[train], y[train])
                        scores.append(average_precision(hasher, rows, y, query, database))
                    cells.append(f"{np.mean(scores):.3f} ±{np.std(scores, ddof=1):.3f}")
                print(f"  {name:5s} {kind:7s} {'   '.join(cells)}", flush=True)


PARTS = {"speed": speed, "agreement": agreement, "quality": quality}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--data-home", help="folder of the images")
    parser.add_argument("--n", type=int, default=10_000, help="number of images for the speed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--bits", type=int, nargs="+", default=[12, 32])
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    options = parser.parse_args()
    for part in options.only:
        PARTS[part](options)


if __name__ == "__main__":
    main()
