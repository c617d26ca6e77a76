"""One small comparison that several tests look at."""

import pytest
from sklearn.datasets import load_digits

from sklearn_hashrank.comparison import compare
from sklearn_hashrank.model_selection import PerClassRetrievalSplit

PROTOCOL = PerClassRetrievalSplit(n_queries=5, n_train=30)


@pytest.fixture(scope="session")
def digits():
    return load_digits(return_X_y=True)


@pytest.fixture(scope="session")
def comparison(digits):
    return compare(
        *digits,
        methods=["lsh", "itq:max_iter=5"],
        n_bits=[8, 12],
        seeds=2,
        protocol=PROTOCOL,
        name="digits <&>",
        command="hashrank compare",
    )
