"""A browser, and a few pages that several tests look at."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits

from sklearn_hashrank import HierarchicalAffinity, ITQHasher, LSHHasher, NeighborAffinity
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.explore import write_page
from sklearn_hashrank.model_selection import PerClassRetrievalSplit
from tests.hostile import HOSTILE

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"


def find_browser():
    """Path of a browser: that of HASHRANK_BROWSER, or one of the usual names."""
    found = os.environ.get("HASHRANK_BROWSER") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )
    if found is None:
        pytest.skip("no browser: install Debian's package chromium, or set HASHRANK_BROWSER")
    return found


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield browser
        browser.close()


class Visit:
    """A page in a browser, and whatever it complains of or asks for."""

    def __init__(self, browser, path, fragment="", **context):
        context = {"viewport": {"width": 1280, "height": 900}, **context}
        self.context = browser.new_context(**context)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.address = path.as_uri()
        self.page.goto(self.address + fragment)

    def ready(self):
        """Wait until everything is shown and measured."""
        self.page.wait_for_selector("#summary[data-complete]", state="attached")
        return self

    def close(self):
        assert self.complaints == []
        assert {url.partition("#")[0] for url in self.requests} == {self.address}
        assert not self.page.evaluate("'hacked' in window")
        self.context.close()


@pytest.fixture
def visit(browser):
    """Open pages; at the end they must not have complained or asked for anything."""
    visits = []

    def open_page(path, fragment="", **context):
        visits.append(Visit(browser, path, fragment, **context))
        return visits[-1]

    yield open_page
    for each in visits:
        each.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def digits():
    X, y = load_digits(return_X_y=True)
    return X, y


@pytest.fixture(scope="session")
def models(digits):
    X, _ = digits
    return {
        "itq": ITQHasher(16, random_state=0).fit(X),
        "lsh": LSHHasher(33, random_state=0).fit(X),
    }


@pytest.fixture(scope="session")
def pictures(folder, digits, models):
    """Two models on the digits."""
    path = folder / "digits.html"
    write_page(path, models, *digits, image_shape=(8, 8), queries=100, title="digits")
    return path


@pytest.fixture(scope="session")
def paths(digits):
    """Labels on two levels: even or odd, and the digit."""
    _, y = digits
    return np.stack([y % 2, y], axis=1) + 2


@pytest.fixture(scope="session")
def graded(folder, digits, models, paths):
    """Label paths, on queries that are not in the database."""
    path = folder / "graded.html"
    X, _ = digits
    options = {"queries": np.arange(60), "database": np.arange(60, 600)}
    write_page(path, models, X, paths, affinity=HierarchicalAffinity(), **options)
    return path


@pytest.fixture(scope="session")
def near(folder, digits, models):
    """Relevant are the nearest rows: levels are kept for the listed queries only."""
    path = folder / "near.html"
    X, y = digits
    write_page(
        path, models["itq"], X[:400], labels=y[:400], affinity=NeighborAffinity(10), queries=30
    )
    return path


@pytest.fixture(scope="session")
def hostile(folder):
    """Texts, labels, names and a title that would be markup or script."""
    path = folder / "hostile.html"
    X = np.random.default_rng(0).normal(size=(len(HOSTILE), 4))
    models = {HOSTILE[0]: LSHHasher(4).fit(X), HOSTILE[6]: LSHHasher(5).fit(X)}
    title = f"{HOSTILE[1]} {max(HOSTILE, key=len)}"
    write_page(path, models, X, np.array(HOSTILE), texts=HOSTILE, title=title)
    return path


@pytest.fixture(scope="session")
def report(folder):
    """A report of a comparison, its names as hostile as they can be."""
    comparison = compare(
        *load_digits(return_X_y=True),
        methods={HOSTILE[1]: LSHHasher(), HOSTILE[5]: ITQHasher(max_iter=3)},
        n_bits=[8, 12],
        seeds=2,
        protocol=PerClassRetrievalSplit(n_queries=5, n_train=30),
        name=HOSTILE[2],
        command=HOSTILE[3],
    )
    return comparison.write(folder / "report")["report"]
