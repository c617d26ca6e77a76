"""``hashrank compare``: compare methods under one protocol and write a report."""

import importlib.util
import shlex
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import codes
from .._features.nearest_rows import METRICS
from .._utils.extras import how_to_install
from ..affinity._neighbors import NeighborAffinity
from ..comparison._compare import compare
from ..comparison._comparison import Comparison
from ..comparison._method_names import method_of_comparison
from ..model_selection._chosen_split import choose_retrieval_split
from ..model_selection._splits import PerClassRetrievalSplit, RandomRetrievalSplit
from ..model_selection._unseen import UnseenClassesSplit
from ._affinities import add_affinity
from ._arguments import (
    ALL,
    add_data_options,
    add_jobs,
    add_measures,
    add_neighbors,
    add_parser,
    add_rescoring,
    add_threshold,
    check_measures,
    exclude,
    lengths,
    method_words,
    named_file,
    need,
    number_or_all,
    positive,
    words,
)
from ._data import NAMED, affinity_of, load_data
from ._errors import UsageError
from ._messages import note
from ._outputs import Report
from ._progress import show_progress
from ._rows import Rows
from ._thumbnails import add_thumbnails, columns_of_texts, thumbnails_of

_PROTOCOLS: dict[str, Callable[..., Any]] = {
    "per-class": PerClassRetrievalSplit,
    "random": RandomRetrievalSplit,
    "unseen-classes": UnseenClassesSplit,
}
_METHODS = "lsh,itq,rsh,lwh,talr-ap,talr-ndcg"
_EPILOG = """\
examples:
  hashrank compare --data digits
  hashrank compare --data images.npz --methods lsh,itq,talr-ap:alpha=3 --bits 16,32 --seeds 5
  hashrank compare --data images.npz --measures ap,ap@5000:normalize=retrieved,recall@1000
  hashrank compare --data items.csv --label-column class --queries 20 --training 100 --n-jobs 4

OUTPUT holds an HTML report, a CSV file of all runs, tables, figures, and every finished run: the
same command again runs only what is missing.
"""


def add_command(commands: Any) -> None:
    purpose = "fit, encode and evaluate methods under one protocol, and write a report"
    parser = add_parser(commands, "compare", purpose, _run, _EPILOG)
    add_data_options(parser)
    parser.add_argument(
        "--rows",
        type=positive,
        metavar="N",
        help="sample N rows of the data and compare on these; a .npy file of any size then takes "
        "little memory (default: all rows)",
    )
    parser.add_argument(
        "--methods",
        type=method_words,
        metavar="NAME,...",
        help="names that 'hashrank methods' lists, or NAME=METHOD to give one another name in "
        "tables; each may be followed by :parameter=value, and "
        "by :distance=asymmetric or :distance=decoded, which compare all codes with the rows of "
        "queries; faiss:FACTORY is an index of faiss, such as faiss:OPQ32_96,PQ32 "
        f"(default: those of {_METHODS} that can take the data)",
    )
    parser.add_argument(
        "--skip-unsupported",
        action="store_true",
        help="leave out methods that cannot take the data, such as itq with more bits than "
        "features; without it they are named, and nothing is run",
    )
    parser.add_argument(
        "--codes",
        type=named_file,
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="codes that something else made, one for each row of the data, as a method of this "
        "name; files as for hashrank evaluate",
    )
    add_threshold(parser)
    add_measures(parser)
    parser.add_argument(
        "--columns",
        type=words,
        metavar="NAME,...",
        help="columns that tables and report show, in this order: measures, fit_seconds, "
        "encode_microseconds (default: all)",
    )
    parser.add_argument(
        "--bits",
        type=lengths,
        default="12,24,32,48",
        metavar="N,...",
        help="code lengths (default: %(default)s)",
    )
    parser.add_argument(
        "--seeds",
        type=positive,
        default=3,
        metavar="N",
        help="how many times splits are sampled (default: %(default)s)",
    )
    parser.add_argument(
        "--protocol",
        choices=list(_PROTOCOLS),
        help="queries and training rows of each class, or sampled from all; training on some "
        "classes and retrieval among the other third (default: what the rows suffice for: "
        "per-class where classes are of about one size, else random)",
    )
    parser.add_argument(
        "--queries",
        type=positive,
        metavar="N",
        help="queries, of each class unless random (default: what the rows suffice for, at most "
        "100 per class, of digits 20, or 1000 in all)",
    )
    parser.add_argument(
        "--training",
        type=number_or_all,
        metavar="N|all",
        help="training rows, of each class unless random; they are part of the database, which is "
        "everything but the queries, unless classes are unseen (default: what the rows suffice "
        "for, at most 500 per class, of digits 100)",
    )
    add_affinity(parser)
    add_neighbors(parser, ", to judge by; labels are left out")
    add_rescoring(parser)
    parser.add_argument(
        "--explore",
        action="store_true",
        help="also write a page that shows what the two best methods retrieve",
    )
    add_thumbnails(parser)
    add_jobs(parser, "runs at a time")
    parser.add_argument(
        "--output",
        type=Report,
        default="hashrank-results",
        metavar="DIR",
        help="folder for report, tables and finished runs (default: %(default)s)",
    )
    parser.add_argument(
        "--decimals",
        type=positive,
        metavar="N",
        help="decimal places in Markdown and LaTeX (default: as many as show the spread)",
    )
    parser.add_argument(
        "--combined", action="store_true", help="one LaTeX table with all measures side by side"
    )
    parser.add_argument("--caption", default="", metavar="TEXT", help="of the LaTeX tables")
    parser.add_argument("--quiet", action="store_true", help="no progress, no tables")


def _run(options: Namespace, arguments: list[str]) -> int:
    measures = check_measures(options.measures)
    methods = _by_name(options.methods or method_words(_METHODS))
    for method in methods.values():
        method_of_comparison(method)  # before data are read
    need(options, "metric", "neighbors", "rescore", "explore")
    exclude(options, "neighbors", "affinity")
    for name in ("images", "image_shape", "texts"):
        need(options, name, "explore")
    metric = options.metric or METRICS[0]
    folder = Path(options.output)
    rows = load_data(options, left_out=columns_of_texts(options))
    looks = thumbnails_of(options, rows) if options.explore else {}
    given = {
        name: codes.read_codes(path, threshold=options.threshold) for name, path in options.codes
    }
    n_rows = rows.X.shape[0]
    for name, each in given.items():
        if len(each.codes) != n_rows:
            raise UsageError(f"--codes {name}: {len(each.codes):,} codes for {n_rows:,} rows.")
    if options.rows is not None and options.rows < n_rows:
        note(f"{options.rows:,} of {n_rows:,} rows are sampled")
        sample = np.sort(np.random.default_rng(0).choice(n_rows, options.rows, replace=False))
        rows = rows._replace(X=rows.X[sample], y=None if rows.y is None else rows.y[sample])
        given = {name: each._replace(codes=each.codes[sample]) for name, each in given.items()}
        looks = {name: _of_rows(name, look, sample) for name, look in looks.items()}
    explore: Any = False
    if options.explore:
        explore = {"label_names": rows.label_names, "metric": metric, **looks}
        if options.neighbors and rows.y is not None:
            explore["labels"] = rows.y  # which are not compared, but name the items
    affinity: Any = affinity_of(options.affinity, rows.y)
    if options.neighbors:
        rows = rows._replace(y=None)
        affinity = NeighborAffinity(options.neighbors, metric=metric)
    protocol = _protocol(options, rows)
    command = shlex.join(["hashrank", *arguments])
    rescore = options.rescore and {"n_neighbors": options.rescore, "metric": metric}
    with show_progress(options.quiet) as progress:
        try:
            comparison = compare(
                rows.X,
                rows.y,
                codes=given,
                methods=methods,
                skip_unsupported=options.skip_unsupported or options.methods is None,
                n_bits=options.bits,
                seeds=options.seeds,
                protocol=protocol,
                affinity=affinity,
                measures=measures,
                columns=options.columns,
                rescore=rescore,
                explore=explore,
                name=Path(options.data).name,
                store=folder / "runs",
                n_jobs=options.n_jobs,
                progress=progress,
                command=command,
            )
        except KeyboardInterrupt as interrupt:
            raise KeyboardInterrupt(
                f"interrupted: finished runs are kept in {folder / 'runs'}; the same command again "
                "does the rest"
            ) from interrupt
    return _write(comparison, folder, options)


def _by_name(methods: list[str]) -> dict[str, str]:
    """Names of tables by ``NAME=METHOD``, where they are not the method itself."""
    named: dict[str, str] = {}
    for written in methods:
        name, equals, method = written.partition("=")
        if not equals or ":" in name:  # the first sign of "itq:max_iter=5" sets a parameter
            name = method = written
        if name.strip() in named:
            raise UsageError(f"--methods names {name.strip()!r} twice.")
        named[name.strip()] = method.strip()
    return named


def _of_rows(name: str, look: Any, sample: np.ndarray) -> Any:
    """What some rows look like."""
    if name == "image_shape":
        return look
    if name == "table":
        return {column: values[sample] for column, values in look.items()}
    return look[sample] if isinstance(look, np.ndarray) else [look[row] for row in sample]


def _protocol(options: Namespace, rows: Rows) -> Any:
    """Return the protocol that the options ask for; None where the data alone decide."""
    name = options.protocol
    asked = {"n_queries": options.queries, "n_train": options.training}
    given: dict[str, Any] = {key: n for key, n in asked.items() if n is not None}
    if given.get("n_train") == ALL:
        given["n_train"] = None
    if options.data in NAMED and rows.y is not None:
        name = name or "per-class"
        if name in ("per-class", "unseen-classes"):
            given.setdefault("n_queries", NAMED[options.data].n_queries)
        if name == "per-class":
            given.setdefault("n_train", NAMED[options.data].n_train)
    chosen = None if name else choose_retrieval_split(rows.X, rows.y)
    protocol = replace(chosen.protocol, **given) if chosen else _PROTOCOLS[name](**given)
    if chosen and len(given) < len(asked):
        name = next(name for name, make in _PROTOCOLS.items() if make is type(protocol))
        n_train = "all" if protocol.n_train is None else protocol.n_train
        note(
            f"{chosen.reason}: compared with --protocol {name} --queries {protocol.n_queries} "
            f"--training {n_train}, as you did not choose otherwise"
        )
    return None if chosen and not given else protocol


_RANKED = ("near_codes", "near_asymmetric", "near_floats")  # of --rescore: what was found


def _write(comparison: Comparison, folder: Path, options: Namespace) -> int:
    paths = comparison.write(
        folder, combined=options.combined, decimals=options.decimals, caption=options.caption
    )
    if not options.quiet:
        print(comparison.about["data"]["relevance"], end="\n\n")
        first, *further = (column.name for column in comparison.columns)
        shown = [first, *(name for name in further if name in _RANKED)]
        print(comparison.to_markdown(shown, decimals=options.decimals))
        for kind in ("csv", "markdown", "latex"):
            print(f"{kind}: {paths[kind]}")
    if importlib.util.find_spec("matplotlib") is None and not options.quiet:
        note(f"figures need matplotlib, which is not installed: {how_to_install('cli')}")
    print(f"report: {paths['report']}")
    if "explore" in paths:
        print(f"page: {paths['explore']}")
    failures = comparison.failures
    if failures:
        print(
            f"hashrank: {len(failures)} of {len(comparison.results)} runs failed; "
            "the report says why",
            file=sys.stderr,
        )
    return 1 if failures else 0
