"""The layers of the package, from the ground up.

The architecture page shows this table, and ``tests/contract/test_boundaries.py`` checks the
imports: a module imports from its own folder and from the layers above it in the table. Names are
those of folders and modules of ``sklearn_hashrank``. From another folder a module imports only what
``__all__`` lists there; ``FOR_THE_WHOLE_PACKAGE`` names the folders without ``__all__``.
"""

from pathlib import Path

LAYERS = (
    ("_kernels", "numba: arrays in, arrays out; no validation, no classes"),
    ("_utils", "callbacks, threads and text; Ctrl-C while `python -m sklearn_hashrank` loads"),
    ("rows", "arrays, memmaps, sparse matrices, iterators and dask arrays as one source of rows"),
    ("persistence", "atomic writes, checked files of codes and of objects"),
    ("codes", "formats, reader, Hamming distance, distinct codes and their counts"),
    ("affinity", "relevance levels of pairs, computed from `y`"),
    ("measures", "every measure as a function of counts, and their registry"),
    ("histogram", "counts by query, level and distance"),
    (
        "metrics",
        "the scikit-learn face: functions, scorers, displays, and the one way to a histogram",
    ),
    ("solvers", "optimisation of arrays and callables"),
    ("objectives", "smooth functions of scores and levels, with gradients"),
    (
        "features",
        "spaces of features: scaled, whitened, kernels with anchors",
    ),
    ("neighbors", "search by Hamming distance"),
    ("base", "what every hasher has: validation, code output, score"),
    ("learning", "learning from minibatches: one algorithm, for models of any kind"),
    ("hashers", "one method per module or folder: parameters, `fit`, documentation"),
    ("deep", "torch: objectives as losses of networks, and a network that is a hasher"),
    ("hasher_files", "fitted hashers in checked files"),
    ("interop", "codes in the formats of other programs, and hashers that leave for them"),
    ("feature_extraction", "GIST features of images"),
    ("datasets", "loaders that read, download and check"),
    ("model_selection", "splits into training rows, queries and database"),
    ("pages", "HTML pages of one file: escaping, security policy, shared style and script"),
    ("explore", "pages to look at what codes retrieve, with a search that runs in the browser"),
    ("comparison", "methods x bits x seeds: running, keeping, tables, report"),
    ("cli", "the `hashrank` command: options and exit codes"),
    ("__main__", "`python -m sklearn_hashrank`"),
)


FOR_THE_WHOLE_PACKAGE = ("_kernels", "_utils")
"""Private folders whose modules every other folder may import."""


def write_table(path: Path) -> None:
    """Write the table in reStructuredText."""
    lines = [".. list-table::", "   :widths: 20 80", ""]
    for name, text in LAYERS:
        lines += [f"   * - ``{name}``", f"     - {text}"]
    content = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != content:
        path.write_text(content)
