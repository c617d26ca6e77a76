"""Results of the papers' experiments as files: a CSV of the runs of a part, and a JSON about them.

The CSV has a line for each measure of a run: which part and task, how many rows were queries,
database and training rows, the method, its length and seed, the measure, its mean over the queries,
the means of the worst and of the best order of ties where there are such, and the seconds of the
fit. The JSON says what the tasks are called, what each method's parameters were, and by which code
and versions the runs were made, on which processor and when. A method may have a check: what one
of its runs gave when later code made it again.
"""

import csv
import json
from pathlib import Path

from sklearn_hashrank.comparison import method_from_name

_SIZES = ("n_queries", "n_database", "n_train")
_OF_A_RUN = ("task", "method", "n_bits", "seed")
_NUMBERS = ("value", "low", "high", "fit_seconds")
COLUMNS = ("part", "task", *_SIZES, "method", "n_bits", "seed", "measure", *_NUMBERS)


_CODE = ("package", "versions")
SAME = 5e-4  # half of the last digit of the tables

# Parameters that methods were given since, with the value that does what was done without them.
ADDED = {"step_size": "1.0", "prefixes": "None"}


def completed(then, now):
    """Parameters of an earlier run, with those that there were not yet."""
    return {name: value for name, value in ADDED.items() if name in now} | then


def is_same_method(then, now):
    """Whether notation and parameters are those of earlier runs."""
    given = completed(then["parameters"], now["parameters"])
    return then["notation"] == now["notation"] and given == now["parameters"]


def is_of(stamp, made_by):
    """Whether the code and the versions of a stamp are among others."""
    return any(all(each[name] == stamp[name] for name in _CODE) for each in made_by)


def is_equal(check):
    """Whether a run that was made again gave the same figure, as tables show it."""
    return abs(check["now"] - check["before"]) <= SAME


def parameters_of(notation):
    """Every parameter of a method as text, those of its parts included."""
    given = method_from_name(notation).get_params(deep=True)
    left_out = ("n_bits", "random_state", "output", "n_jobs", "verbose")
    return {name: repr(given[name]) for name in sorted(given) if name not in left_out}


def read_lines(path):
    """Lines of an earlier run of a script, without the header; there may be none."""
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def write_lines(path, lines, about, header=COLUMNS):
    """Write a CSV file, and beside it a JSON file about it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *lines])
    path.with_suffix(".json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


class Results:
    """What is known of a part.

    `runs` holds the lines of the CSV by run and measure, where a run is (task, method, length,
    seed). `about` is the JSON.
    """

    def __init__(self, folder, part):
        self.part = part
        self.csv_path, self.json_path = (
            Path(folder) / f"{part}.{kind}" for kind in ("csv", "json")
        )
        self.runs, self.about = {}, {"part": part, "stamps": [], "tasks": {}, "methods": {}}
        if self.csv_path.exists():
            with open(self.csv_path, encoding="utf-8", newline="") as file:
                for line in csv.DictReader(file):
                    self._add(_parsed(line))
            self.about = json.loads(self.json_path.read_text(encoding="utf-8"))

    def _add(self, line):
        run = tuple(line[name] for name in _OF_A_RUN)
        self.runs.setdefault(run, {})[line["measure"]] = line

    def describe(self, task, method, notation, stamp):
        """Note how runs of a method are made; runs that were made otherwise are forgotten.

        Other code makes them in the same way where a check has shown it.
        """
        stamps, methods = self.about["stamps"], self.about["methods"].setdefault(task, {})
        now = {"notation": notation, "parameters": parameters_of(notation)}
        before = methods.get(method)
        if before is not None:
            made_by = [stamps[place] for place in before["stamps"]]
            checks = [check for check in before.get("checks", ()) if is_equal(check)]
            if is_same_method(before, now) and is_of(stamp, [*made_by, *checks]):
                if not is_of(stamp, made_by):
                    before["stamps"].append(self._place(stamp))
                return
            self.runs = {
                run: lines for run, lines in self.runs.items() if run[:2] != (task, method)
            }
        methods[method] = now | {"stamps": [self._place(stamp)]}

    def _place(self, stamp):
        stamps = self.about["stamps"]
        if stamp not in stamps:
            stamps.append(stamp)
        return stamps.index(stamp)

    def first_run(self, task, method):
        """Shortest code and first seed of a method; None where it has no runs."""
        return min(
            (
                (n_bits, seed)
                for of, name, n_bits, seed in self.runs
                if (of, name) == (task, method)
            ),
            default=None,
        )

    def check(self, task, method, run, measure, value, stamp):
        """Note that a run was made again by other code, in place of an earlier check."""
        before = self.runs[task, method, *run][measure]["value"]
        keep = ("commit", "package", "versions", "date")
        self.about["methods"][task][method]["checks"] = [
            {name: stamp[name] for name in keep}
            | dict(zip(("n_bits", "seed"), run))
            | {"measure": measure, "before": before, "now": float(f"{value:.6g}")}
        ]

    def add(self, task, result, measures):
        """Add what a run found; `measures` maps names to (value, low, high)."""
        scores = result.scores
        self.runs.pop((task, result.method, result.n_bits, result.seed), None)
        for measure, (value, low, high) in measures.items():
            sizes = {name: scores[name] for name in _SIZES}
            run = {"method": result.method, "n_bits": result.n_bits, "seed": result.seed}
            numbers = {"value": value, "low": low, "high": high}
            numbers["fit_seconds"] = scores["fit_seconds"]
            self._add(
                {"part": self.part, "task": task, **sizes, **run, "measure": measure, **numbers}
            )

    @property
    def lines(self):
        """All lines, in order."""
        return [
            self.runs[run][name] for run in sorted(self.runs) for name in sorted(self.runs[run])
        ]

    def values(self, task, measure, column="value"):
        """Values by method, length and seed: ``values[method, n_bits][seed]``."""
        found = {}
        for line in self.lines:
            if line["task"] == task and (line["measure"] == measure or measure is None):
                at = found.setdefault((line["method"], line["n_bits"]), {})
                if line[column] is not None:
                    at[line["seed"]] = line[column]
        return found

    def sizes(self, task):
        """Numbers of queries, database and training rows by method and length."""
        return {
            (line["method"], line["n_bits"]): tuple(line[name] for name in _SIZES)
            for line in self.lines
            if line["task"] == task
        }

    def write(self):
        """Write both files, sorted, so that equal results are equal files."""
        made = [each for of in self.about["methods"].values() for each in of.values()]
        used = sorted({number for each in made for number in each["stamps"]})
        self.about["stamps"] = [self.about["stamps"][number] for number in used]
        for each in made:
            each["stamps"] = [used.index(number) for number in each["stamps"]]
        self.csv_path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.csv_path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for line in self.lines:
                writer.writerow([_text(line[name]) for name in COLUMNS])
        text = json.dumps(self.about, indent=1, sort_keys=True)
        self.json_path.write_text(text + "\n", encoding="utf-8")


def _parsed(line):
    for name in (*_SIZES, "n_bits", "seed"):
        line[name] = int(line[name])
    for name in _NUMBERS:
        line[name] = float(line[name]) if line[name] else None
    return line


def _text(value):
    if value is None or value != value:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value
