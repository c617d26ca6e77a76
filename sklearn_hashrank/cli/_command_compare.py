"""``hashrank compare``: compare methods under one protocol and write a report."""

import importlib.util
import shlex
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

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
    add_codes,
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
    need,
    number_or_all,
    positive,
    words,
)
from ._codes import read_codes_of_rows
from ._data import NAMED, affinity_of, load_data
from ._errors import UsageError
from ._messages import note, print_progress, say
from ._outputs import Report
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
"""


def add_command(commands: Any) -> None:
    purpose = "fit, encode and evaluate methods under one protocol, and write a report"
    parser = add_parser(commands, "compare", purpose, _run, _EPILOG)
    add_data_options(parser)
    parser.add_argument(
        "--rows", type=positive, metavar="N", help="number of rows to sample (default: all)"
    )
    parser.add_argument(
        "--methods",
        type=method_words,
        metavar="NAME,...",
        help="names that 'hashrank methods' lists, each with :parameter=value, or NAME=METHOD "
        f"(default: those of {_METHODS} that support the data)",
    )
    parser.add_argument(
        "--skip-unsupported", action="store_true", help="skip methods that do not support the data"
    )
    add_codes(parser)
    add_threshold(parser)
    add_measures(parser)
    parser.add_argument(
        "--columns", type=words, metavar="NAME,...", help="columns of the tables (default: all)"
    )
    parser.add_argument(
        "--bits",
        type=lengths,
        default="12,24,32,48",
        metavar="N,...",
        help="code lengths (default: %(default)s)",
    )
    parser.add_argument(
        "--seeds", type=positive, default=3, metavar="N", help="number of splits (default: 3)"
    )
    parser.add_argument(
        "--protocol", choices=list(_PROTOCOLS), help="split of the rows (default: by the labels)"
    )
    parser.add_argument(
        "--queries", type=positive, metavar="N", help="number of queries, of each class or in all"
    )
    parser.add_argument(
        "--training",
        type=number_or_all,
        metavar="N|all",
        help="number of training rows, of each class or in all",
    )
    add_affinity(parser)
    add_neighbors(parser)
    add_rescoring(parser)
    parser.add_argument(
        "--explore", action="store_true", help="also write a page of what the best two retrieve"
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
    parser.add_argument("--decimals", type=positive, metavar="N", help="decimal places of tables")
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
    given = read_codes_of_rows(options.codes, rows, threshold=options.threshold)
    n_rows = rows.n_rows
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
    try:
        comparison = compare(
            rows.X,
            rows.y,
            codes=given,
            methods=methods,
            skip_unsupported=options.skip_unsupported or options.methods is None,
            n_bits=options.bits,
            seeds=options.seeds,
            protocol=_protocol(options, rows),
            affinity=affinity,
            measures=measures,
            columns=options.columns,
            rescore=options.rescore and {"n_neighbors": options.rescore, "metric": metric},
            explore=explore,
            name=Path(options.data).name,
            store=folder / "runs",
            n_jobs=options.n_jobs,
            progress=None if options.quiet else print_progress,
            command=shlex.join(["hashrank", *arguments]),
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
    """The protocol that the options ask for; None: `compare` chooses, and its report says why."""
    name = options.protocol
    given: dict[str, Any] = {}
    if options.data in NAMED and rows.y is not None:
        name = name or "per-class"
        if name != "random":
            given["n_queries"] = NAMED[options.data].n_queries
        if name == "per-class":
            given["n_train"] = NAMED[options.data].n_train
    if options.queries is not None:
        given["n_queries"] = options.queries
    if options.training is not None:
        given["n_train"] = None if options.training == ALL else options.training
    if name is not None:
        return _PROTOCOLS[name](**given)
    protocol, reason = choose_retrieval_split(rows.X, rows.y)
    protocol = replace(protocol, **given)
    if len(given) < 2:
        name = next(name for name, make in _PROTOCOLS.items() if make is type(protocol))
        n_train = "all" if protocol.n_train is None else protocol.n_train
        note(
            f"{reason}: compared with --protocol {name} --queries {protocol.n_queries} "
            f"--training {n_train}, as you did not choose otherwise"
        )
    return protocol if given else None


_RANKED = ("near_codes", "near_asymmetric", "near_floats")  # of --rescore: what was found


def _write(comparison: Comparison, folder: Path, options: Namespace) -> int:
    paths = comparison.write(folder, decimals=options.decimals)
    if not options.quiet:
        print(comparison.about["data"]["relevance"], end="\n\n")
        first, *further = (column.name for column in comparison.columns)
        shown = [first, *(name for name in further if name in _RANKED)]
        print(comparison.to_markdown(shown, decimals=options.decimals))
        for kind in ("csv", "markdown", "latex"):
            print(f"{kind}: {paths[kind]}")
        if importlib.util.find_spec("matplotlib") is None:
            note(f"figures need matplotlib, which is not installed: {how_to_install('cli')}")
    print(f"report: {paths['report']}")
    if "explore" in paths:
        print(f"page: {paths['explore']}")
    if not (failures := comparison.failures):
        return 0
    say(f"{len(failures)} of {len(comparison.results)} runs failed; the report says why")
    return 1
