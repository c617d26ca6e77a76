"""A hasher of your own, which compares features with their medians."""

import numpy as np
from sklearn.base import _fit_context
from sklearn.datasets import load_digits

from sklearn_hashrank import LSHHasher
from sklearn_hashrank.base import LinearHasher
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.metrics import make_retrieval_scorer
from sklearn_hashrank.model_selection import PerClassRetrievalSplit


class MedianHasher(LinearHasher):
    """Compare the features of most variance with their medians.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. Beyond the number of features, features are used again.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`.
    """

    def __init__(self, n_bits=32, *, output="bits"):
        self.n_bits = n_bits
        self.output = output

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Choose the features and find their medians."""
        X, y = self._validate_training_data(X, y)
        rows = X.toarray() if hasattr(X, "toarray") else X
        by_variance = np.argsort(-rows.var(axis=0), kind="stable")
        chosen = np.resize(by_variance, self.n_bits)
        self._set_hyperplanes(
            np.eye(X.shape[1])[chosen], np.median(rows, axis=0).astype(np.float64), X.dtype
        )
        self._keep_database(X, y)
        return self


# use
if __name__ == "__main__":
    X, y = load_digits(return_X_y=True)
    hasher = MedianHasher(n_bits=16).fit(X, y)
    print(hasher.transform(X[:1]))
    print(f"AP   {hasher.score(X, y):.3f}")
    print(f"NDCG {make_retrieval_scorer('ndcg')(hasher, X, y):.3f}")
    comparison = compare(
        X,
        y,
        methods={"median": MedianHasher(), "lsh": LSHHasher()},
        n_bits=[16, 32],
        seeds=2,
        protocol=PerClassRetrievalSplit(n_queries=20, n_train=100),
    )
    print(comparison.to_markdown(["ap"]))
