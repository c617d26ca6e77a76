"""The layers of the package, from the ground up.

The architecture page shows this table, and ``tests/contract/test_boundaries.py`` checks the
imports: a module imports from its own folder and from the layers above it in the table. Names are
those of folders and modules of ``sklearn_hashrank``; the longest one that fits a module counts.
"""

from pathlib import Path

LAYERS = (
    ("_kernels", "numba: arrays in, arrays out; no validation, no classes"),
    ("_utils", "callbacks, threads, processes, text and parameters"),
    ("_files", "atomic writes, and checked files of arrays, codes and objects"),
    ("_features", "rows that are not in memory; spaces of scaled and whitened features, anchors"),
    ("codes", "formats, reader, Hamming distance, distinct codes and their counts"),
    ("affinity", "relevance levels of pairs, computed from `y`"),
    ("metrics", "measures, histograms, functions, scorers, significance, displays"),
    ("_solvers", "optimization of arrays and callables"),
    ("objectives", "smooth functions of scores and levels, with gradients"),
    ("neighbors", "search by Hamming distance"),
    ("base", "what every hasher has: validation, code output, score"),
    ("_learning", "learning from minibatches: one algorithm, for models of any kind"),
    ("hashers", "one method per module or folder: parameters, `fit`, documentation"),
    ("deep", "torch: objectives as losses of networks, and a network that is a hasher"),
    ("_files.hashers", "fitted hashers in files, which know the classes above"),
    ("interop", "codes in the formats of other programs, and hashers that leave for them"),
    ("feature_extraction", "GIST features of images"),
    ("datasets", "loaders that read, download and check"),
    ("model_selection", "splits into training rows, queries and database"),
    ("explore", "pages to look at what codes retrieve, with a search that runs in the browser"),
    ("comparison", "methods x bits x seeds: running, keeping, tables, report"),
    ("cli", "the `hashrank` command: options and exit codes"),
    ("__main__", "`python -m sklearn_hashrank`"),
)


def write_table(path: Path) -> None:
    """Write the table in reStructuredText."""
    lines = [".. list-table::", "   :widths: 20 80", ""]
    for name, text in LAYERS:
        lines += [f"   * - ``{name}``", f"     - {text}"]
    content = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != content:
        path.write_text(content)
