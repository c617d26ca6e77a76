"""Write the page: what it holds, and its text without the browser's part."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples

from .._features.nearest_rows import METRICS
from .._files.atomic import write_file
from .._utils.parameters import is_int
from .._utils.text import plain
from .._utils.threads import check_n_jobs
from .._utils.types import MatrixLike, Target
from ..metrics._given_codes import GivenCodes
from ..metrics._retrieval import Encoded, encode, relevance_of, unwrap
from ._appearance import appearance_of, label_words
from ._choice import Choice, choose
from ._exact import exact_neighbors
from ._html_page import encode_array, escape, html_page, read_script, read_style
from ._levels import ItemRelevance

_MOST_MODELS = 2
_STYLES = ("explore/page.css", "explore/explore.css")


class WrittenPage(NamedTuple):
    """What :func:`write_page` wrote."""

    path: Path
    n_items: int
    n_rows: int
    n_queries: int
    n_bytes: int

    @property
    def is_sampled(self) -> bool:
        return self.n_items < self.n_rows


def write_page(
    path: str | Path,
    models: Any,
    X: MatrixLike,
    y: Target | None = None,
    *,
    queries: Any = 1000,
    database: Any = None,
    affinity: Any = "auto",
    images: Any = None,
    image_shape: Any = None,
    texts: Any = None,
    table: Any = None,
    labels: Any = None,
    label_names: Any = None,
    metric: str | None = "cosine",
    n_neighbors: int = 50,
    n_items: int | None = None,
    title: str = "data",
    note: str = "",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> WrittenPage:
    """Write one HTML file that shows what codes retrieve; it needs no server and no network.

    A browser searches, counts and measures: you pick a query, and see its neighbors by Hamming
    distance with their ties, its retrieval histogram, AP and NDCG with their bounds, what another
    model or exact distances find instead, and how codes are used. Open the file, or send it to
    somebody.

    Parameters
    ----------
    path : str or Path
        The file, which should end in ``.html``.
    models : estimator, or mapping of str to estimator or codes
        One fitted estimator or two, by the name that the page gives them: hashers, pipelines that
        end in one, or others whose ``transform``, or else ``predict``, gives codes. Instead of an
        estimator, codes that something else made: one for each row of `X`, as bits or signs, or the
        result of :func:`~sklearn_hashrank.codes.read_codes`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows, as the models take them.
    y : array-like with n_samples rows, default=None
        What the affinity compares. None: the rows as the first model sees them.
    queries : int or array-like of int, default=1000
        How many rows are queries, sampled from the database; or their row numbers.
    database : array-like of int, default=None
        Numbers of the rows that are retrieved. None: all. A query that is one of them is not
        retrieved by itself.
    affinity : "auto" or affinity object, default="auto"
        ``"auto"`` asks the first model what it was fitted to; without an answer, the form of `y`
        decides.
    images : ndarray, or sequence of str or Path, default=None
        Pictures of the rows: an array of shape (n_samples, height, width) or (n_samples, height,
        width, 3), or one file for each row. Pictures need Pillow, of the extra ``cli``.
    image_shape : tuple of int, default=None
        Rows of `X` are pictures of this shape, (height, width) or (height, width, 3).
    texts : sequence of str, default=None
        Texts of the rows, of which the page shows the first 300 characters.
    table : mapping of str to array-like, or data frame, default=None
        Columns that describe the rows; the page shows the first eight.
    labels : array-like with n_samples rows, default=None
        Labels that the page shows below items: classes, label sets or label paths. None: those of
        `y`, if it holds labels.
    label_names : sequence of str, default=None
        Names of classes 0, 1, ..., or of the columns of label sets.
    metric : {"cosine", "euclidean", "inner_product"} or None, default="cosine"
        Distance between rows as the first model sees them, by which the page lists exact
        neighbors. None, or sparse rows: no exact neighbors.
    n_neighbors : int, default=50
        Exact neighbors of each query.
    n_items : int, default=None
        At most so many rows of the database, sampled; the page says so. None: as many as make a
        page of about 10 MB, and at most 100,000.
    title : str, default="data"
        What the page calls the data.
    note : str, default=""
        Text below the heading, such as where the models and queries come from.
    random_state : int, RandomState instance or None, default=0
        Samples queries and items.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    page : tuple of (path, n_items, n_rows, n_queries, n_bytes)
        The file; the rows of the database that it holds, and how many there are; how many queries
        it lists; and its size. ``page.is_sampled`` says whether the database was larger.

    See Also
    --------
    write_neighbors : Neighbors in a file for other viewers.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import ITQHasher, LSHHasher
    >>> from sklearn_hashrank.explore import write_page
    >>> X, y = load_digits(return_X_y=True)
    >>> models = {"itq": ITQHasher(16).fit(X), "lsh": LSHHasher(16).fit(X)}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_page(Path(folder) / "digits.html", models, X, y, image_shape=(8, 8))
    ...     page.n_items, page.n_queries, page.path.name
    (1797, 1000, 'digits.html')
    """
    check_n_jobs(n_jobs)
    n_rows = _num_samples(X)
    named = _named(models, n_rows)
    if metric is not None and metric not in METRICS:
        raise ValueError(f"metric must be one of {METRICS} or None. Got {metric!r} instead.")
    for name, number in (("n_neighbors", n_neighbors), ("n_items", n_items)):
        if number is not None and not is_int(number, 2 if name == "n_items" else 1):
            least = 2 if name == "n_items" else 1
            raise ValueError(f"{name} must be an int >= {least}. Got {number!r} instead.")
    compared, named_by = _of_rows(y, "y", n_rows), _of_rows(labels, "labels", n_rows)
    shown = appearance_of(X, n_rows, images, image_shape, texts, table)
    chosen = choose(n_rows, queries, database, n_items or shown.most_items, random_state)
    items = _take(X, chosen.rows)
    encoded = {
        name: model.encode_rows(chosen.rows, items)
        if isinstance(model, GivenCodes)
        else encode(model, items)
        for name, model in named.items()
    }
    first_model, first = next(iter(named.values())), next(iter(encoded.values()))
    item_y = None if compared is None else compared[chosen.rows]
    relevance = ItemRelevance(
        *relevance_of(unwrap(first_model)[1], first.rows, item_y, affinity),
        chosen.n_database,
        chosen.queries,
        n_jobs,
    )
    exact = None
    if metric is not None:
        exact = exact_neighbors(first.rows, relevance, metric, n_neighbors)
    data = {
        "title": plain(title),
        "nDatabase": chosen.n_database,
        "sampledFrom": chosen.n_rows if chosen.is_sampled else None,
        "rows": encode_array(chosen.rows.astype(np.uint32)),
        "queries": encode_array(chosen.queries.astype(np.uint32)),
        "labels": label_words(compared if named_by is None else named_by, chosen.rows, label_names),
        "relevance": relevance.for_page(),
        "models": [_model(name, named[name], codes) for name, codes in encoded.items()],
        "exact": exact,
        "items": shown.describe(chosen.rows),
    }
    page = html_page(
        title=f"What codes retrieve: {title}",
        body=_body(title, note, chosen),
        style=read_style(*_STYLES),
        script=read_script("explore/main.js"),
        data=data,
    )
    with write_file(path, "w", encoding="utf-8") as file:
        file.write(page)
    n_bytes = len(page.encode())
    return WrittenPage(Path(path), chosen.n_database, chosen.n_rows, len(chosen.queries), n_bytes)


def _named(models: Any, n_rows: int) -> dict[str, Any]:
    """Estimators and given codes by name."""
    if not isinstance(models, Mapping):
        is_array = isinstance(models, (np.ndarray, tuple))
        models = {"codes" if is_array else type(unwrap(models)[1]).__name__: models}
    if not 1 <= len(models) <= _MOST_MODELS:
        raise ValueError(f"models must be one estimator or two by name. Got {len(models)}.")
    for name in models:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"models must be named by str. Got {name!r}.")
    models = {
        name: GivenCodes(model) if isinstance(model, (np.ndarray, tuple)) else model
        for name, model in models.items()
    }
    for name, model in models.items():
        if isinstance(model, GivenCodes):
            model.check_rows(name, n_rows)
    return models


def _of_rows(y: Any, name: str, n_rows: int) -> Any:
    """Labels as an array that can be indexed, one row for each row of X; None stays None."""
    if y is None:
        return None
    y = y.tocsr() if sparse.issparse(y) else np.asarray(y)
    if y.ndim == 0 or y.shape[0] != n_rows:
        raise ValueError(f"{name} must have {n_rows} rows, as X has. Got shape {y.shape}.")
    return y


def _take(X: Any, rows: np.ndarray) -> Any:
    """Rows of arrays, sparse matrices, data frames or lists."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if sparse.issparse(X):
        return X.tocsr()[rows]
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]


def _model(name: str, model: Any, encoded: Encoded) -> dict[str, Any]:
    return {
        "name": plain(name),
        "description": plain(repr(unwrap(model)[1])),
        "nBits": encoded.n_bits,
        "codes": encode_array(encoded.codes),
    }


def _body(title: str, note: str, chosen: Choice) -> str:
    notes = [note] if note else []
    if chosen.is_sampled:
        notes.append(
            f"{chosen.n_database:,} of {chosen.n_rows:,} items are shown, sampled at random. All "
            "numbers on this page are for these items."
        )
    if chosen.has_sampled_queries:
        notes.append(
            f"{len(chosen.queries):,} of {chosen.n_database:,} items are listed as queries, "
            "sampled at random. Means are over the listed queries."
        )
    written = "\n".join(f'<p class="note">{escape(text)}</p>' for text in notes)
    return _BODY.format(title=escape(title), notes=written)


_BODY = """<a class="skip" href="#neighbors">Skip to the neighbors</a>
<header>
<h1>What codes retrieve: {title}</h1>
<p>Every item has a code of a few bits. A query retrieves the items whose codes differ from its own
in the fewest bits, and items at the same distance are tied. Pick a query, or click a neighbor.</p>
<p class="quiet" id="summary"></p>
{notes}
<noscript><p class="warn">This page searches in your browser: it needs JavaScript.</p></noscript>
<p class="warn" id="failure" role="alert" hidden></p>
</header>
<main id="app" hidden></main>
<p class="unseen" role="status" id="said"></p>
<footer id="about"></footer>"""
