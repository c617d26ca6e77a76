"""``hashrank explore``: write a page that shows what codes retrieve."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from .._features.nearest_rows import METRICS
from ..affinity._neighbors import NeighborAffinity
from ..explore._neighbor_file import write_neighbors
from ..explore._page_writer import write_page
from ._arguments import (
    add_code_length,
    add_codes,
    add_data_options,
    add_jobs,
    add_neighbors,
    add_parser,
    need,
    positive,
    words,
)
from ._codes import load_model, read_codes_of_rows
from ._data import affinity_of, as_compared, load_data, row_labels
from ._errors import UsageError
from ._file_systems import Input, written_file
from ._messages import note
from ._outputs import output
from ._rows import Rows
from ._thumbnails import add_thumbnails, columns_of_texts, thumbnails_of

_MOST_MODELS = 2
_EPILOG = """\
examples:
  hashrank explore --data digits --model itq.npz,talr.npz --output digits.html
  hashrank explore --data features.npy --labels labels.npy --model model.npz --images pictures \\
      --output page.html
  hashrank explore --codes mine=codes.npy --labels labels.npy --images pictures.npy \\
      --output page.html
  hashrank explore --data pixels.npz --model model.npz --image-shape 28,28 --output page.html
  hashrank explore --data items.csv --label-column intent --texts question --model model.npz \\
      --output page.html
  hashrank explore --data embeddings.npy --texts texts.txt --neighbors 10 --model model.npz \\
      --output page.html --neighbors-output neighbors.parquet
"""


def add_command(commands: Any) -> None:
    purpose = "write a page that shows what codes retrieve"
    parser = add_parser(commands, "explore", purpose, _run, _EPILOG)
    add_data_options(parser, required=False)
    parser.add_argument(
        "--model",
        type=lambda text: [Input(word) for word in words(text)],
        default=[],
        metavar="FILE[,FILE]",
        help="one or two models from hashrank fit",
    )
    add_codes(parser)
    add_code_length(parser)
    add_thumbnails(parser)
    parser.add_argument(
        "--queries",
        type=positive,
        default=1000,
        metavar="N",
        help="number of rows listed as queries (default: %(default)s)",
    )
    parser.add_argument(
        "--items", type=positive, metavar="N", help="maximum number of rows (default: about 10 MB)"
    )
    add_neighbors(parser)
    parser.add_argument(
        "--neighbors-output",
        type=output(".parquet"),
        metavar="FILE",
        help="table of the nearest rows by the first model, for embedding-atlas",
    )
    add_jobs(parser)
    parser.add_argument(
        "--output", type=output(".html"), required=True, metavar="FILE", help="page, .html"
    )


def _run(options: Namespace, arguments: list[str]) -> int:
    need(options, "neighbors_output", "model")
    n_shown = len(options.model) + len(options.codes)
    if not 1 <= n_shown <= _MOST_MODELS:
        raise UsageError(f"--model and --codes must name one file or two. Got {n_shown}.")
    models, columns = _load_models(options.model)
    if options.data is None:
        metric = None  # no vectors, no exact neighbors
        rows = _rows_without_data(options)
    else:
        metric = options.metric or METRICS[0]
        rows = load_data(options, columns, columns_of_texts(options))
    given = read_codes_of_rows(options.codes, rows, options.bits, options.threshold)
    if options.data is None:
        rows = rows._replace(X=next(iter(given.values())).codes)  # in place of vectors
    if names := models.keys() & given.keys():
        raise UsageError(f"--model and --codes must have different names. Got {min(names)} twice.")
    first = next(iter(models.values()), None)
    if rows.y is None and not options.neighbors and first is not None and first.fitted_with_y_:
        raise UsageError(
            f"{options.model[0]} was fitted with labels: give --labels or --label-column, or "
            "--neighbors 10 to make the ten nearest rows relevant."
        )
    looks = thumbnails_of(options, rows)
    affinity: Any = affinity_of("auto", rows.y)
    if options.neighbors:
        affinity = NeighborAffinity(options.neighbors, metric=str(metric))
    with written_file(options.output) as path:
        page = write_page(
            path,
            models | given,
            rows.X,
            None if options.neighbors else rows.y,
            labels=rows.y,
            affinity=affinity,
            queries=options.queries,
            n_items=options.items,
            metric=metric,
            label_names=rows.label_names,
            title=Path(options.data or options.codes[0][1]).name,
            n_jobs=options.n_jobs,
            **looks,
        )
    print(
        f"{options.output}: {page.n_items:,} items, {page.n_queries:,} queries, "
        f"{page.n_bytes / 1e6:.1f} MB"
    )
    if page.is_sampled:
        note(f"the page holds {page.n_items:,} of {page.n_rows:,} rows, sampled, and says so")
    if options.neighbors_output is not None:
        others = {} if "texts" not in looks else {"text": looks["texts"]}
        if rows.y is not None and rows.y.ndim == 1:
            others["label"] = rows.y.tolist()
        with written_file(options.neighbors_output) as path:
            write_neighbors(path, first, rows.X, columns=others, n_jobs=options.n_jobs)
        print(f"{options.neighbors_output}: neighbors of {rows.n_rows:,} rows")
    return 0


def _rows_without_data(options: Namespace) -> Rows:
    """Labels of the rows of a page that has no vectors."""
    for name in ("model", "neighbors", "image_shape"):
        need(options, name, "data")
    if not options.labels:
        raise UsageError("--codes without --data needs --labels, which say what is relevant.")
    labels = row_labels(options.labels, options.label_column)
    [y] = as_compared("auto", options.label_column, labels.y)
    return labels._replace(y=y)


def _load_models(paths: list[str]) -> tuple[dict[str, Any], Any]:
    """Load hashers by the names of their files, and the names of the features they have seen."""
    if len(set(paths)) < len(paths):
        raise UsageError(f"--model names {paths[0]} twice.")
    stems = [Path(path).stem for path in paths]
    names = stems if len(set(stems)) == len(stems) else paths
    loaded = [load_model(path) for path in paths]
    columns = [list(model.columns) for model in loaded if model.columns is not None]
    if len(columns) == len(paths) > 1 and columns[0] != columns[1]:
        raise UsageError("the models of --model were trained on different columns.")
    models = {name: model.hasher for name, model in zip(names, loaded)}
    return models, columns[0] if columns else None
