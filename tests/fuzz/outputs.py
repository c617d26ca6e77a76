"""Random spellings of inputs and outputs: no command changes a byte of what it reads."""

import contextlib
import io
import os
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sklearn_hashrank import ITQHasher, save_hasher
from sklearn_hashrank.cli import main as hashrank

from .run import FuzzError

# What a command reads by {} and writes as the next word. The input is of the kind that follows.
COMMANDS = (
    ("encode --model model.npz --data {} --output", "parquet"),
    ("encode --model model.npz --data {} --output", "npy"),
    ("fit --method lsh --bits 4 --data {} --output", "npz"),
    ("explore --model model.npz --data {} --output page.html --neighbors-output", "parquet"),
    ("search --database {} --queries codes.npy --run", "parquet"),
    ("search --database codes.npy --queries {} --output", "csv"),
    ("search --database codes.npy --data {} --model model.npz --output", "npz"),
    ("evaluate --bits 4 --database codes.npy --database-labels {} --per-query", "csv"),
    ("evaluate --run run.txt --qrels {} --per-query", "csv"),
)


def fuzz_outputs(cases: int, seed: int) -> Counter:
    """Run commands in the current folder, which must be empty, whose outputs may be their inputs.

    Returns
    -------
    counts : Counter
        How many were ``"refused"``, and how many were ``"written"`` and left all inputs alone.
    """
    X = np.random.default_rng(0).normal(size=(30, 4))
    Path("in/deep").mkdir(parents=True)
    Path("linked").symlink_to("in")
    hasher = ITQHasher(4, random_state=0).fit(X)
    save_hasher("model.npz", hasher)
    np.save("codes.npy", hasher.transform(X))
    Path("run.txt").write_text("0 Q0 1 1 0.5 us\n")
    table = pa.table({f"f{number}": X[:, number] for number in range(4)})
    for name in ("a", "b", "deep/c"):
        pq.write_table(table, f"in/{name}.parquet")
        np.save(f"in/{name}.npy", X)
        np.savez(f"in/{name}.npz", X=X)
        Path(f"in/{name}.csv").write_text("query,item\n" + "0,1\n" * 30)
        for kind in ("parquet", "npy", "npz", "csv"):
            os.link(f"in/{name}.{kind}", f"hard-{name.replace('/', '-')}.{kind}")
    before = _contents()
    counts: Counter = Counter()
    for case in range(cases):
        random = Random(f"outputs {seed} {case}")
        words, kind = random.choice(COMMANDS)
        name = random.choice("ab")
        given = _spelled(random, name, kind, as_input=True)
        output = _spelled(random, random.choice([name, "n"]), kind, as_input=False)
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = hashrank([*words.format(given).split(), output])
        after = _contents()
        changed = [path for path, content in before.items() if after.get(path) != content]
        if changed or code not in (0, 2) or "unexpected" in said.getvalue():
            raise FuzzError(
                f"case {case}: {words.format(given)} {output} changed {changed}: {said.getvalue()}"
            )
        for path in after.keys() - before.keys():
            path.unlink()
        for folder in [path for path in Path("in").rglob("*") if path.is_dir()]:
            if folder.name != "deep":
                folder.rmdir()
        counts["refused" if code else "written"] += 1
    return counts


def _contents() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def _spelled(random: Random, name: str, kind: str, as_input: bool) -> str:
    """One of the ways to name a file in the folder ``in``."""
    here, file = os.getcwd(), f"in/{name}.{kind}"
    ways = [
        file,
        f"./{file}",
        f"{here}/{file}",
        f"in/deep/../{name}.{kind}",
        f"linked/{name}.{kind}",
    ]
    ways += [
        f"file://{here}/{file}",
        f"local://{here}/{file}",
        f"file://{here}/linked/{name}.{kind}",
    ]
    if name != "n":
        ways.append(f"hard-{name}.{kind}")
    if as_input and kind == "parquet":
        ways += ["in", "in/", "linked", "in/*.parquet", "in/**/*.parquet", "i*/[ab].parquet"]
        ways += [
            "in/b.parquet,in/a.parquet",
            f"{here}/in/?.parquet",
            f"local://{here}/in/*.parquet",
        ]
    return random.choice(ways)
