"""Evaluation of a database that is streamed from disk: resident memory, and time beside memory.

    python -m benchmarks.speed.streaming  # 1,000 queries x 10,000,000 codes of 64 bits
    python -m benchmarks.speed.streaming --n 1000000

Codes and labels lie in files. One process has them in memory, others map the files or read them
block by block; the whole resident memory of each is watched. They take turns, best of several.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.sheet import Sheet
from sklearn_hashrank import retrieval_histogram

N_QUERIES, N_CLASSES = 1000, 10
FORMS = {
    "memory": "arrays in memory",
    "memmap": "memmaps",
    "blocks": "iterator of blocks",
}


def write_data(folder, n):
    """Random codes, the dearest: hardly two are equal."""
    rng = np.random.default_rng(0)
    codes = np.lib.format.open_memmap(folder / "codes.npy", "w+", np.uint8, (n, 8))
    y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.int64, (n,))
    for start in range(0, n, 1 << 20):
        part = slice(start, min(n, start + (1 << 20)))
        size = part.stop - part.start
        codes[part] = rng.integers(0, 256, (size, 8), dtype=np.uint8)
        y[part] = rng.integers(0, N_CLASSES, size)


def read_blocks(folder, rows):
    """Blocks (codes, y) read from the files; nothing stays mapped."""
    with open(folder / "codes.npy", "rb") as codes, open(folder / "y.npy", "rb") as y:
        for file in (codes, y):
            np.lib.format.read_magic(file)
            np.lib.format.read_array_header_1_0(file)
        while len(block := np.fromfile(codes, np.uint8, 8 * rows)):
            yield block.reshape(-1, 8), np.fromfile(y, np.int64, len(block) // 8)


def resident_megabytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Watch(threading.Thread):
    """The most resident memory of this process from start to stop."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self.done = 0.0, False

    def run(self):
        while not self.done:
            self.peak = max(self.peak, resident_megabytes())
            time.sleep(0.002)


def child(form, folder, rows, n_jobs):
    """Evaluate at every line of the standard input, and print seconds and score."""
    watch = Watch()
    watch.start()
    mode = None if form == "memory" else "r"
    codes, y = (np.load(folder / name, mmap_mode=mode) for name in ("codes.npy", "y.npy"))
    queries, query_y = np.array(codes[:N_QUERIES]), np.array(y[:N_QUERIES])
    retrieval_histogram(queries, queries, query_y, query_y, n_bits=64).average_precision()
    print("ready", flush=True)
    for _ in sys.stdin:
        database = (read_blocks(folder, rows), None) if form == "blocks" else (codes, y)
        start = time.perf_counter()
        histogram = retrieval_histogram(
            queries, database[0], query_y, database[1], n_bits=64, n_jobs=n_jobs
        )
        score = histogram.average_precision().mean()
        print(time.perf_counter() - start, score, watch.peak, flush=True)


def start_child(form, folder, rows, n_jobs):
    command = [sys.executable, "-m", __spec__.name, "--child", form, "--folder", str(folder)]
    command += ["--rows", str(rows), "--n-jobs", str(n_jobs)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    process.stdout.readline()
    return process


def compare(sheet, folder, rows, n_jobs, repeats):
    processes = {form: start_child(form, folder, rows, n_jobs) for form in FORMS}
    found = {form: [] for form in FORMS}
    for _ in range(repeats):
        for form, process in processes.items():
            process.stdin.write("go\n")
            found[form].append([float(word) for word in process.stdout.readline().split()])
    for process in processes.values():
        process.stdin.close()
        process.wait()
    scores = {score for runs in found.values() for _, score, _ in runs}
    assert len(scores) == 1, scores
    in_memory = min(run[0] for run in found["memory"])
    for form, title in FORMS.items():
        seconds, peak = min(run[0] for run in found[form]), max(run[2] for run in found[form])
        if form != "memory":
            sheet.row("arrays in memory", in_memory, "s", title, seconds, at_most=1.3)
        sheet.row(f"{title}, peak resident memory", peak, "MB", at_most=500)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=10_000_000, help="rows of the database")
    parser.add_argument("--rows", type=int, default=1 << 18, help="rows of a block")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--child", choices=FORMS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.folder, options.rows, options.n_jobs)
        return
    measure(Sheet(), 1, options.n, options.rows, options.n_jobs, options.repeats)


def measure(sheet, scale=1, n=10_000_000, rows=1 << 18, n_jobs=2, repeats=5):
    """Time and resident memory of each form; the database is `scale` times smaller."""
    n //= scale
    sheet.section(
        f"Streamed evaluation, 1,000 x {n:,} codes of 64 bits, blocks of {rows:,} rows, "
        f"{n_jobs} threads"
    )
    with tempfile.TemporaryDirectory() as name:
        write_data(Path(name), n)
        compare(sheet, Path(name), rows, n_jobs, repeats)


if __name__ == "__main__":
    main()
