"""A page of the documentation that stands on runs in a folder beside it.

The folder has the runs as a CSV file, a line of JSON on what made them, and what the page includes,
which a script makes from these two.
"""

import argparse
import csv
import datetime
import json
import subprocess
from pathlib import Path

import numpy as np

from benchmarks.sheet import machine

DATA = ("data", "features", "intents", "multilabel", "scene")


def make_page(script, folder, columns, run, write_tables):
    """The command line: do the runs that are missing, and write the files of the page.

    Parameters
    ----------
    script : module
        Its name and the first line of its documentation are those of the command.
    folder : Path
        Of the page.
    columns : sequence of str
        Of the runs, ``"set"`` and ``"seed"`` among them.
    run : callable
        Takes the options, and gives the runs as dictionaries.
    write_tables : callable
        Takes the runs and the folder, and writes what the page includes.
    """
    name = Path(script.__file__).stem
    parser = argparse.ArgumentParser(description=script.__doc__.splitlines()[0])
    for option in DATA:
        parser.add_argument(f"--{option}", help="npz, see benchmarks/papers/reproduction.py")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=np.inf)
    parser.add_argument("--store", default=f"build/{name}", help="folder of finished runs")
    parser.add_argument("--output", type=Path, default=folder)
    parser.add_argument("--tables", action="store_true", help="only make the tables again")
    options = parser.parse_args()
    path = options.output / "runs.csv"
    if not options.tables:
        rows = complete(run(options))
        options.output.mkdir(parents=True, exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        describe(options.output, f"python -m benchmarks.notes.{name} --seeds 5")
    write_tables(read(path), options.output)


def complete(rows):
    """Rows of the seeds that have runs on all sets: tables compare over the same seeds."""
    sets = {}
    for row in rows:
        sets.setdefault(row["seed"], set()).add(row["set"])
    most = max(map(len, sets.values()), default=0)
    return [row for row in rows if len(sets[row["seed"]]) == most]


def read(path):
    """Rows of the file, with numbers as numbers."""
    with open(path, encoding="utf-8", newline="") as file:
        return [
            {name: _number(value) for name, value in row.items()} for row in csv.DictReader(file)
        ]


def _number(text):
    try:
        return float(text)
    except ValueError:
        return text


def describe(folder, command):
    """Write by what code, when, where and by which command the runs were made."""
    git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, check=True, text=True).stdout.strip()
    date = datetime.date.today().isoformat()
    about = {"commit": commit, "date": date, "machine": machine(), "command": command}
    (folder / "about.json").write_text(json.dumps(about) + "\n", encoding="utf-8")


def stamp(folder, rows):
    """The same, and the number of seeds, as a line below the tables."""
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    seeds = len({row["seed"] for row in rows})
    return (
        f"*{seeds} seeds; commit {about['commit']}, {about['date']}; {about['machine']}; "
        f"``{about['command']}``*\n"
    )


def signed(value):
    """Three digits with a sign, without the zero before the point."""
    return f"{value:+.3f}".replace("0.", ".")


def mean_and_spread(values):
    """Three digits, without the zero before the point."""
    return f"{values.mean():.3f} ±{values.std(ddof=1):.3f}".replace("0.", ".")
