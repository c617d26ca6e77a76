"""Which relaxation of NDCG is the best default? Graded sets, and sets without labels.

    python benchmarks/ndcg_relaxations.py --data GIST.npz --features DEEP.npz --intents CLINC.npz
        --multilabel TMC.npz --scene SCENE.npz [--seeds 5] [--relaxations simplified]
        [--sets "scene labels" GIST ...]

`TALRLinear` with its defaults but for `relaxation`; NDCG_T of the tie-aware ranking. Of sets with
test rows of their own only the others are taken. The last column is the difference to "exact" over
seeds and lengths, with p of a paired t test.
"""

import argparse

import numpy as np
from experiments import VEHICLES
from protocols import deep_features, gist
from scipy.stats import ttest_1samp
from sklearn.datasets import load_digits, make_multilabel_classification

from sklearn_hashrank import TALRLinear
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.model_selection import PerClassRetrievalSplit, RandomRetrievalSplit

LENGTHS = (16, 48)
RELAXATIONS = ("exact", "simplified", "cvpr", "arxiv")


def sets(options):
    """Name, rows, labels and protocol of each set."""
    for name, path in {"report labels": options.multilabel, "scene labels": options.scene}.items():
        with np.load(path) as file:
            X, Y = file["X"].astype(np.float32), file["Y"].astype(int)
        labelled = Y.any(axis=1)
        n_train = min(3000, labelled.sum() // 2)
        yield name, X[labelled], Y[labelled], RandomRetrievalSplit(500, n_train)
    for seed in (0, 1):
        X, Y = make_multilabel_classification(
            4000, 100, n_classes=20, n_labels=3, allow_unlabeled=False, random_state=seed
        )
        yield f"made-up labels {seed}", X, Y, RandomRetrievalSplit(500, 2000)
    with np.load(options.intents) as file:
        X = np.concatenate([file[f"X_{part}"] for part in ("train", "val")]).astype(np.float32)
        paths = np.column_stack(
            [
                np.concatenate([file[f"{level}_{part}"] for part in ("train", "val")])
                for level in ("domain", "intent")
            ]
        )
    yield "intents and domains", X, paths.astype(int) + 2, PerClassRetrievalSplit(5, 30)
    yield "intents, no labels", X, None, RandomRetrievalSplit(1000, 4000)
    X, y = load_digits(return_X_y=True)
    yield "odd and even digits", X, np.column_stack([y % 2, y]) + 2, PerClassRetrievalSplit(30, 100)
    yield "digits, no labels", X, None, RandomRetrievalSplit(300, 1400)
    rows = np.random.RandomState(0).permutation(50_000)[:10_000]
    for name, (X, y) in {
        "GIST": gist(options.data),
        "network features": deep_features(options.features),
    }.items():
        X, y = X[rows], y[rows]
        paths = np.column_stack([np.isin(y, VEHICLES), y]) + 2
        yield f"{name} by kind", X, paths, PerClassRetrievalSplit(50, 300)
        yield f"{name}, no labels", X, None, RandomRetrievalSplit(500, 3000)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("data", "features", "intents", "multilabel", "scene"):
        parser.add_argument(f"--{name}", required=True, help="npz")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--relaxations", nargs="+", default=RELAXATIONS[1:], help='beside "exact"')
    parser.add_argument("--sets", nargs="+", help="names, as they are printed; all by default")
    parser.add_argument("--store", default="build/ndcg_relaxations", help="folder of finished runs")
    options = parser.parse_args()
    relaxations = ("exact", *options.relaxations)
    gains = {relaxation: [] for relaxation in options.relaxations}
    for name, X, y, protocol in sets(options):
        if options.sets and name not in options.sets:
            continue
        compared = compare(
            X,
            y,
            methods={each: TALRLinear(objective="ndcg", relaxation=each) for each in relaxations},
            n_bits=LENGTHS,
            seeds=options.seeds,
            protocol=protocol,
            measures=["ndcg", "ap"],
            store=options.store,
            name=name,
        )
        for measure in ("ndcg", "ap"):
            values = {
                (run.method, run.n_bits, run.seed): run.scores[measure] for run in compared.results
            }
            print(f"{name}, {measure}")
            for relaxation in relaxations:
                found = np.array(
                    [
                        [values[relaxation, n, seed] for seed in range(options.seeds)]
                        for n in LENGTHS
                    ]
                )
                cells = [f"{row.mean():.4f} ±{row.std(ddof=1):.4f}" for row in found]
                line = f"  {relaxation:12s} {'   '.join(cells)}"
                if relaxation == "exact":
                    best = found
                else:
                    gain = (found - best).mean(axis=0)  # of the seeds: lengths share the split
                    p = ttest_1samp(gain, 0).pvalue
                    line += f"   {gain.mean():+.4f} p {p:.2g}"
                    if measure == "ndcg":
                        gains[relaxation].append(gain.mean())
                print(line, flush=True)
    for relaxation, found in gains.items():
        print(
            f"{relaxation} less exact, NDCG over {len(found)} sets: mean {np.mean(found):+.4f}, "
            f"{np.min(found):+.4f} to {np.max(found):+.4f}, ahead on {np.sum(np.array(found) > 0)}"
        )


if __name__ == "__main__":
    main()
