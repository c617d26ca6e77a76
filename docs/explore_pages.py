"""Write the pages that the page "Look at what codes retrieve" embeds.

Pictures are those of Fashion-MNIST where the data are on this machine, and digits elsewhere. Texts
are what scikit-learn says of its classes and functions. Nothing is downloaded.

``python docs/explore_pages.py FOLDER`` writes both.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.discovery import all_estimators, all_functions

from sklearn_hashrank import ITQHasher, TALRLinear
from sklearn_hashrank.datasets import fetch_fashion_mnist
from sklearn_hashrank.explore import write_page

_N_TRAIN, _N_ITEMS, _N_QUERIES = 2000, 1000, 100
_LEAST_OF_A_MODULE = 10


def write_pictures(path: Path) -> None:
    """Write a page of pictures: ITQ and TALR with codes of 24 bits."""
    try:
        data = fetch_fashion_mnist(download_if_missing=False)
        pixels, y, names = data.data, data.target, data.target_names
        shape, title = (28, 28), "Fashion-MNIST"
    except OSError:
        pixels, y = load_digits(return_X_y=True)
        shape, title, names = (8, 8), "digits", None
    rows = np.random.default_rng(0).permutation(len(pixels))[: _N_TRAIN + _N_ITEMS]
    X, y = pixels[rows].astype(np.float32), y[rows]
    n_train = len(rows) - _N_ITEMS if len(rows) > _N_ITEMS else len(rows) // 2
    train, shown = slice(n_train), slice(n_train, None)
    models = {
        "TALR": TALRLinear(24, random_state=0).fit(X[train], y[train]),
        "ITQ": ITQHasher(24, random_state=0).fit(X[train]),
    }
    write_page(
        path,
        models,
        X[shown],
        y[shown],
        image_shape=shape,
        label_names=names,
        queries=_N_QUERIES,
        title=title,
    )


def write_texts(path: Path) -> None:
    """Write a page of texts: relevant are those of the same module of scikit-learn."""
    found = [*all_estimators(), *all_functions()]
    said = {
        f"{name}: {thing.__doc__.strip().splitlines()[0]}": thing.__module__.split(".")[1]
        for name, thing in found
        if thing.__doc__
    }
    sizes = Counter(said.values())
    items = [each for each in said.items() if sizes[each[1]] >= _LEAST_OF_A_MODULE]
    texts, modules = map(list, zip(*items))
    models = {
        name: make_pipeline(
            TfidfVectorizer(sublinear_tf=True), TruncatedSVD(64, random_state=0), hasher
        ).fit(texts, modules)
        for name, hasher in (
            ("TALR", TALRLinear(32, random_state=0)),
            ("ITQ", ITQHasher(32, random_state=0)),
        )
    }
    write_page(
        path,
        models,
        texts,
        modules,
        texts=texts,
        queries=len(texts),
        title="what scikit-learn says of itself",
    )


def write_pages(folder: Path) -> None:
    """Write both pages into a folder, and the first one again without its heading, to embed."""
    folder.mkdir(parents=True, exist_ok=True)
    write_pictures(folder / "pictures.html")
    page = (folder / "pictures.html").read_text("utf-8")
    assert "<header>" in page
    (folder / "front.html").write_text(page.replace("<header>", "<header hidden>", 1), "utf-8")
    write_texts(folder / "texts.html")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
