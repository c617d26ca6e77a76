"""All measurements beside peers, in one run, as ratios; with --output also as a page.

    python -m benchmarks.speed.side_by_side [--quick] [--output docs/notes/benchmarks.md]
    python -m benchmarks.speed.side_by_side --quality [--data GIST.npz] [--features DEEP.npz]
        [--intents CLINC.npz]    # the quality of codes, too

Peers that are not installed are left out (extras ``faiss`` and ``torch``), and so are data sets
that are not there.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path

from benchmarks.notes import classes, deep, feature_scales, lwh, quality, rsh, talr
from benchmarks.protocols import FASHION_MNIST
from benchmarks.sheet import Sheet, merged_page
from benchmarks.speed import (
    encoding,
    evaluation,
    gist,
    neighbors,
    quantization,
    streaming,
    threads,
    training_step,
)

PAGE = """# Benchmarks

Each part below was measured on one kind of processor, in one run of `make bench`, which adds the
part of the processor that it runs on or replaces it. A ratio is the peer's figure over ours. An
aim is what the project asks of the ratio, or of our figure where there is no peer; a missed one is
marked. Absolute times belong to one machine; ratios travel better.

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="databases a tenth of the size")
    parser.add_argument("--quality", action="store_true", help="the quality of codes, too")
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--features", help="npz file of network features with X, y and scale")
    parser.add_argument("--intents", help="npz file of sentence embeddings with intents")
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path, help="Markdown page to write")
    options = parser.parse_args()
    scale = 10 if options.quick else 1
    sheet = Sheet()
    sets = quality.find_sets(options.data, options.fashion_mnist, options.features)
    evaluation.measure(sheet, scale)
    streaming.measure(sheet, scale)
    neighbors.measure(sheet, scale)
    training_step.measure(sheet)
    training_step.measure_threads(sheet)
    threads.measure(sheet)
    if "Fashion-MNIST pixels" in sets:
        talr.speed({"Fashion-MNIST": sets["Fashion-MNIST pixels"]}, options.seeds, sheet)
    rsh.speed(sheet)
    rsh.solvers(sheet)
    lwh.speed(sets, options, sheet)
    quantization.measure(sheet)
    encoding.measure(sheet, 100_000 // scale)
    gist.measure(sheet, 10_000 // scale)
    if options.quality:
        quality.measure(sheet, sets, options.seeds)
        feature_scales.measure(sheet, options.features, seeds=options.seeds)
        if options.intents:
            classes.measure(sheet, options.intents, options.seeds)
        if find_spec("torch"):
            deep.measure(sheet, deep.TASKS, options)
    if options.output:
        before = options.output.read_text() if options.output.exists() else ""
        options.output.write_text(merged_page(before, PAGE, sheet.markdown()))


if __name__ == "__main__":
    main()
