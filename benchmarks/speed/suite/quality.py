"""Mean tie-aware average precision on held-out digits, so that no change makes codes worse."""

import numpy as np
from sklearn.base import clone

from sklearn_hashrank.metrics import tie_aware_average_precision_score

from .data import digits
from .learning import HASHERS

SEEDS = range(3)


class Digits:
    params = [list(HASHERS), [8, 16, 32]]
    param_names = ["hasher", "n_bits"]
    timeout = 300

    def track_average_precision(self, name, n_bits):
        scores = []
        for seed in SEEDS:
            X, X_query, y, y_query = digits(seed)
            hasher = clone(HASHERS[name]).set_params(n_bits=n_bits, random_state=seed).fit(X, y)
            scores.append(
                tie_aware_average_precision_score(
                    y_query, hasher.predict(X_query), database=(y, hasher.predict(X))
                )
            )
        return float(np.mean(scores))

    track_average_precision.unit = "AP"
