"""Measurements beside peers, printed as they come and kept for a page."""

import os
import platform
import re
import time
from importlib.metadata import PackageNotFoundError, version

import numpy as np  # noqa: F401 - loads BLAS
from threadpoolctl import threadpool_info

PACKAGES = ["sklearn-hashrank", "numpy", "scipy", "scikit-learn", "numba", "torch", "faiss-cpu"]


class Sheet:
    """Sections of rows: what was done, our cost, and the costs of peers as multiples of it."""

    def __init__(self):
        self.sections = []

    def section(self, title):
        """Start a section; rows go to the newest."""
        self.sections.append((title, []))
        print(f"\n{title}", flush=True)

    def row(self, work, ours, unit, peer="", theirs=None, at_least=None, at_most=None):
        """Note a measurement, beside a peer's where there is one.

        `at_least` and `at_most` are aims: for theirs as a multiple of ours, or, without a peer, for
        ours. A missed aim is marked.
        """
        ratio = None if theirs is None else theirs / ours
        figure = ours if theirs is None else ratio
        aims = [f"≥ {at_least:g}"] if at_least is not None else []
        aims += [f"≤ {at_most:g}"] if at_most is not None else []
        missed = (at_least is not None and figure < at_least) or (
            at_most is not None and figure > at_most
        )
        aim = " ".join(aims) + (" (missed)" if missed else "")
        self.sections[-1][1].append((work, ours, unit, peer, theirs, ratio, aim))
        line = f"  {work:50s} {number(ours):>8s} {unit}"
        if theirs is not None:
            line += f"   {peer}: {number(theirs)} {unit} = {number(ratio)} x"
        print(f"{line}   {aim}".rstrip(), flush=True)

    def markdown(self):
        """The sheet as the part of a page about this kind of processor."""
        lines = [f"## {kind_of_processor()}", "", f"Measured on {machine()}.", ""]
        for title, rows in self.sections:
            lines += [f"### {title}", ""]
            lines += [
                "| work | ours | peer | theirs | ratio | aim |",
                "|---|--:|---|--:|--:|--:|",
            ]
            for work, ours, unit, peer, theirs, ratio, aim in rows:
                cells = [work, f"{number(ours)}\N{NO-BREAK SPACE}{unit}", peer, "", "", aim]
                if theirs is not None:
                    cells[3] = f"{number(theirs)}\N{NO-BREAK SPACE}{unit}"
                    cells[4] = f"{number(ratio)}\N{NO-BREAK SPACE}x"
                lines.append(f"| {' | '.join(cells)} |")
            lines.append("")
        return "\n".join(lines)


def merged_page(page, introduction, part):
    """Page with a part added, in place of that of the same kind of processor where there is one.

    Parts begin with a heading of the second level; those of other kinds stay as they are.
    """
    parts = {}
    for each in [*re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:], part]:
        parts[each.splitlines()[0]] = each.rstrip() + "\n"
    return introduction + "\n".join(parts[heading] for heading in sorted(parts))


def number(value):
    """Three digits, never in powers of ten."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:#.3g}".rstrip(".")


def csv_table(rows, title=""):
    """A table in reStructuredText; the first row is its header."""
    lines = [f".. csv-table:: {title}".rstrip(), "   :header-rows: 1", ""]
    lines += ["   " + ", ".join(f'"{cell}"' for cell in row) for row in rows]
    return "\n".join(lines) + "\n"


def machine():
    """Processor and versions, in a sentence."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return (
        f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        + ", ".join(found)
    )


def kind_of_processor():
    """Name of the processor, what LLVM compiles for, and whose kernels BLAS has chosen."""
    from llvmlite import binding
    from numba.core import config

    target = config.CPU_NAME or binding.get_host_cpu_name()
    kernels = sorted(
        {
            f"{library['internal_api']} {library.get('architecture', '')}".strip()
            for library in threadpool_info()
            if library["user_api"] == "blas"
        }
    )
    return f"{processor()} (LLVM: {target}; BLAS: {', '.join(kernels)})"


def processor():
    """Name of the processor."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def best_of(function, repeats=3, clock=time.perf_counter):
    """Smallest time of a call, and its result."""
    times = []
    for _ in range(repeats):
        start = clock()
        result = function()
        times.append(clock() - start)
    return min(times), result
