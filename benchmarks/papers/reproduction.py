"""Run the experiments of the papers behind the hashers, as far as data at hand allow.

    python -m benchmarks.papers.reproduction PART ... --data GIST.npz --features DEEP.npz
        --intents CLINC.npz --multilabel TMC.npz [--seeds 5] [--minutes 20]
        [--cifar100 FOLDER] [--nus-wide FOLDER] [--labelme FILE]
    python -m benchmarks.papers.reproduction PART ... --check --data ...
    python -m benchmarks.papers.reproduction --tables docs/notes/reproduction

The first form runs parts, and needs the data of these parts alone. Finished runs are kept in
--store, so the same command again goes on where it was. With --minutes it stops after the run in
which the time is over, and says what is left. What is known is written to --results: for each part
a CSV file with a line for each run and measure, and a JSON file that says what was run, on what.

The second form makes one run of each row again, the shortest code of the first seed, by the code
that there is now. Where the figure is another one, the tables say that they are stale. Where it is
the same, other seeds may be added to those that there are; without that, new code begins anew.

The third form makes the tables of the documentation from these results. It needs no data.

A set of the papers stands in its own place where a folder of it is given, and otherwise the set
that is said. All rows of a set are used: the database is all but the queries. The part `deep` needs
torch, which the environment of ``make test-all`` has.
"""

import argparse
import copy
import datetime
import subprocess
import sys
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.papers.experiments import PARTS, DatabaseOfTrainingRows, Sets
from benchmarks.papers.paper_results import Results
from benchmarks.papers.paper_tables import write_tables
from benchmarks.protocols import FASHION_MNIST
from benchmarks.sheet import processor
from sklearn_hashrank.comparison import compare, method_from_name

FILES = ("data", "features", "intents", "multilabel", "fashion_mnist")
FILES += ("cifar100", "nus_wide", "labelme")
ROOT = Path(__file__).parents[2]
USED = ("numpy", "scipy", "scikit-learn", "numba", "torch")
IMPORTED = {"scikit-learn": "sklearn"}
CURVE_POINTS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000)


class TimeIsUpError(Exception):
    """No run is begun after --minutes."""


def scaled(protocol, scale):
    """The protocol with a share of its queries and training rows."""
    if scale == 1:
        return protocol
    if isinstance(protocol, DatabaseOfTrainingRows):
        return DatabaseOfTrainingRows(scaled(protocol.protocol, scale))
    protocol = copy.copy(protocol)
    for name in ("n_queries", "n_train"):
        if getattr(protocol, name) is not None:
            setattr(protocol, name, max(1, round(getattr(protocol, name) * scale)))
    return protocol


def notations_of(task, n_features, n_train):
    """Notation of each row, with the dropout that TALR-AP takes on so many training rows."""
    dropout = format(min(n_features / n_train, 0.5), ".4g")
    return {row: text.replace("{dropout}", dropout) for row, text in task.methods.items()}


def in_turns(parts, n_seeds, only=None, tasks=None):
    """What to run after what, as a list of (part, task, seed, names of rows).

    `only` and `tasks` name the rows and the tasks that are asked for; None: all.
    """
    turns = {}
    for number, part in enumerate(parts):
        for task in tasks_of(part, tasks):
            for seed in range(task.seeds or n_seeds):
                for row in task.methods if only is None else [r for r in task.methods if r in only]:
                    turn = *task.turn(row, seed), number, task.key
                    turns.setdefault(turn, (part, task, seed, []))[3].append(row)
    return [turns[turn] for turn in sorted(turns)]


def tasks_of(part, names=None):
    """The tasks of a part that have one of these names; None: all."""
    return [task for task in PARTS[part].tasks if names is None or task.key in names]


def keys_of(parts):
    """Names of all tasks of some parts."""
    return {task.key for part in parts for task in PARTS[part].tasks}


def rows_of(parts):
    """Names of all rows of some parts."""
    return {row for part in parts for task in PARTS[part].tasks for row in task.methods}


def figures_of(task, result):
    """What is kept of a run: measures with their bounds over tie orders, and other figures."""
    nan, scores = float("nan"), result.scores
    found = {}
    for measure in task.measures:
        bounds = (scores.get(f"{measure}_{end}", nan) for end in ("pessimistic", "optimistic"))
        found[measure] = scores[measure], *bounds
    for name in ("encode_microseconds", *task.also):
        found[name] = float(scores[name]), nan, nan
    if result.n_bits in task.curve_bits:
        found = points_of_curves(result.curves) | found
    return found


def points_of_curves(curves):
    """Precision and recall at round ranks, from the ranks that a run keeps.

    Between those, hits are taken to grow evenly.
    """
    ranks, nan = np.array(curves["k"]), float("nan")
    found = {}
    for rank in CURVE_POINTS:
        if rank <= ranks[-1]:
            hits = float(np.interp(rank, ranks, ranks * curves["precision"]))
            found[f"precision@{rank}"] = hits / rank, nan, nan
            found[f"recall@{rank}"] = float(np.interp(rank, ranks, curves["recall"])), nan, nan
    return found


def run_turn(part, task, seed, rows, sets, options, stamp, deadline):
    """Run some methods of a task under one seed, and write what they gave."""
    data, results = sets.get(task.data), Results(options.results, part)
    protocol = scaled(task.protocol, options.scale)
    [split] = _with_seed(protocol, seed).split(data.X, data.X if data.y is None else data.y)
    notations = notations_of(task, data.X.shape[1], len(split.train))
    results.about["tasks"][task.key] = {"title": data.title, "scale": options.scale}
    for row in rows:
        results.describe(task.key, row, notations[row], stamp)

    def keep(result, n_done, n_runs):
        _progress(part, result, n_done, n_runs)
        if not result.error:
            results.add(task.key, result, figures_of(task, result))
        if not result.from_store and time.monotonic() > deadline:
            raise TimeIsUpError

    alike = {}
    for row in rows:
        lengths = tuple(task.lengths.get(row, task.n_bits))
        if not all((task.key, row, n_bits, seed) in results.runs for n_bits in lengths):
            alike.setdefault(lengths, []).append(row)
    if not alike:
        return
    try:
        for lengths, some in alike.items():
            comparison = compare(
                data.X,
                data.y,
                methods={row: method_from_name(notations[row]) for row in some},
                n_bits=lengths,
                seeds=[seed],
                protocol=protocol,
                affinity=task.affinity,
                train_affinity=task.affinity,
                measures=task.measures,
                skip_unsupported=True,
                name=data.title,
                store=options.store,
                n_jobs=options.n_jobs,
                progress=keep,
            )
            failed = {run.method: run.error for run in comparison.failures}
            results.about.setdefault("failed", {}).setdefault(task.key, {}).update(failed)
    finally:
        results.write()


def check(part, sets, options, stamp, deadline):
    """Make one run of each row of a part again, and note what it gives now."""
    for task in tasks_of(part, options.tasks):
        results = Results(options.results, part)
        for row in task.methods if options.rows is None else options.rows:
            run = results.first_run(task.key, row)
            if run is None or time.monotonic() > deadline:
                continue
            data, protocol = sets.get(task.data), scaled(task.protocol, options.scale)
            notation = results.about["methods"][task.key][row]["notation"]
            comparison = compare(
                data.X,
                data.y,
                methods={row: method_from_name(notation)},
                n_bits=run[:1],
                seeds=run[1:],
                protocol=protocol,
                affinity=task.affinity,
                train_affinity=task.affinity,
                measures=task.measures[:1],
                store=options.store,
            )
            for result in comparison.results:
                value = result.scores[task.measures[0]]
                results.check(task.key, row, run, task.measures[0], value, stamp)
                print(f"{part}, {task.key}, {row}: {value:.4f}", file=sys.stderr, flush=True)
        results.write()


def _with_seed(protocol, seed):
    protocol = copy.copy(protocol)
    protocol.random_state = seed
    return protocol


def _progress(part, result, n_done, n_runs):
    if result.error or not result.from_store:
        outcome = result.error or f"{result.scores['fit_seconds']:.1f} s"
        run = f"{part}, {result.method}, {result.n_bits} bits, seed {result.seed}"
        clock = time.strftime("%H:%M:%S")
        print(f"{clock} [{n_done}/{n_runs}] {run}: {outcome}", file=sys.stderr, flush=True)


def stamp_of():
    """By what code and versions runs are made, and where and when."""
    changes = " and changes" if _git("status", "--porcelain", "--", "sklearn_hashrank") else ""
    return {
        "commit": (_git("rev-parse", "--short=12", "HEAD") or "unknown") + changes,
        "package": (_git("rev-parse", "HEAD:sklearn_hashrank") or "unknown") + changes,
        "versions": {name: version(name) for name in USED if find_spec(IMPORTED.get(name, name))},
        "processor": processor(),
        "date": datetime.date.today().isoformat(),
    }


def _git(*arguments):
    done = subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def run(options):
    """Run or check the parts until all is done or the time is over, and say what is left."""
    deadline = time.monotonic() + 60 * options.minutes
    sets = Sets({name: getattr(options, name) for name in FILES}, options.scale)
    stamp = stamp_of()
    if options.check:
        for part in options.parts:
            check(part, sets, options, stamp, deadline)
        return
    turns = in_turns(options.parts, options.seeds, options.rows, options.tasks)
    for number, turn in enumerate(turns):
        try:
            run_turn(*turn, sets, options, stamp, deadline)
        except TimeIsUpError:
            print("The time is over. The same command again goes on with:")
            for part, task, seed, rows in turns[number:]:
                print(f"  {part}, {task.key}, seed {seed}: {', '.join(rows)}")
            return
    print("All is done.")


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--data", help="GIST of CIFAR-10, npz")
    parser.add_argument("--features", help="network features of CIFAR-10, npz")
    parser.add_argument("--intents", help="embeddings of CLINC150, npz")
    parser.add_argument("--multilabel", help="tmc2007-500, npz of X and Y")
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    for name in ("cifar100", "nus-wide", "labelme"):
        parser.add_argument(f"--{name}", help="the published files, in place of another set")
    parser.add_argument("--rows", nargs="+", metavar="ROW", help="of the tables; all by default")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="of the parts; all by default")
    parser.add_argument("--check", action="store_true", help="make one run of each row again")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of all rows, to try things out")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no run later")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--store", default="build/reproduction", help="folder of finished runs")
    parser.add_argument("--results", default=str(ROOT / "docs/notes/reproduction/results"))
    parser.add_argument("--tables", help="folder for the tables, made from the results")
    return parser


def main():
    parser = make_parser()
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown or not (options.parts or options.tables):
        parser.error(f"PART must be of {', '.join(PARTS)}. Got {' '.join(unknown) or 'none'}.")
    for name, known in (("rows", rows_of(options.parts)), ("tasks", keys_of(options.parts))):
        if not set(getattr(options, name) or ()) <= known:
            parser.error(f"--{name} must be of {', '.join(sorted(known))}.")
    if options.parts:
        run(options)
    if options.tables:
        write_tables(options.results, options.tables)


if __name__ == "__main__":
    main()
