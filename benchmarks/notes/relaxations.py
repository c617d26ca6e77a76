"""How far each relaxation is from the measure that it stands for, on codes that are not relaxed.

    python -m benchmarks.notes.relaxations [--seeds 5]

Codes of -1 and +1 of the digits, from hashers that were fitted to other rows, are batches of 256.
The difference is the value of the objective less the tie-aware measure of the same rankings, so
that 0 means that what is maximised is what is measured. The last line of each block is of relaxed
codes: the share of relevant items in bins that hold less than one of them, where equations (7) and
(8) of the papers take a negative number of other relevant items.
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_hashrank import LSHHasher, TALRLinear, retrieval_histogram
from sklearn_hashrank.objectives import SoftHistogram
from sklearn_hashrank.objectives._objective_names import OBJECTIVES

BATCH = 256
SATURATED = 50.0  # tanh of it is 1
MEASURES = {"ap": "average_precision", "ndcg": "ndcg"}


def differences(codes, y, n_bins):
    """Value of every objective less the measure that it is named after."""
    levels = np.array([0.0, 1.0])
    level = (y[:, None] == y).astype(np.uint8)
    counts = retrieval_histogram(codes, codes, y, y, exclude_self=True)
    scores = SATURATED * (2.0 * codes - 1)
    found = {}
    for (name, relaxation), make in OBJECTIVES.items():
        if name in MEASURES:
            value, _ = make(n_bins=n_bins).value_and_gradient(scores, level, levels)
            measured = getattr(counts, MEASURES[name])().mean()
            found[name, relaxation] = value - measured
    return found


def share_in_small_bins(hasher, X, y):
    """Share of relevant items in bins of less than one, of the codes that training relaxes."""
    codes = np.tanh(hasher.alpha * hasher.decision_function(X))
    level = (y[:, None] == y).astype(np.uint8)
    relevant = SoftHistogram().counts(codes, level, 2)[0][:, 1]
    return relevant[relevant < 1].sum() / relevant.sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    X, y = load_digits(return_X_y=True)
    for method, make in {"lsh": LSHHasher, "talr-ap": TALRLinear}.items():
        for n_bits in (12, 24, 48):
            for n_bins in sorted({n_bits, min(n_bits, 16)}, reverse=True):
                rows, shares = [], []
                for seed in range(options.seeds):
                    X_fit, X_batch, y_fit, y_batch = train_test_split(
                        X, y, test_size=BATCH, random_state=seed, stratify=y
                    )
                    hasher = make(n_bits, random_state=seed).fit(X_fit, y_fit)
                    rows.append(differences(hasher.transform(X_batch), y_batch, n_bins))
                    if method == "talr-ap" and n_bins == n_bits:
                        shares.append(share_in_small_bins(hasher, X_batch, y_batch))
                print(f"{method}, {n_bits} bits, {n_bins} bins")
                for key in rows[0]:
                    values = np.array([row[key] for row in rows])
                    print(f"  {' '.join(key):20s}{values.mean():+.4f} ±{values.std(ddof=1):.4f}")
                if shares:
                    mean, deviation = np.mean(shares), np.std(shares, ddof=1)
                    print(f"  in small bins       {mean:.4f} ±{deviation:.4f}")


if __name__ == "__main__":
    main()
