"""Seeded data of realistic size."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def random_codes(n, n_bytes=8, n_classes=10, seed=0):
    """Uniformly random packed codes, with labels."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (n, n_bytes), dtype=np.uint8), rng.integers(0, n_classes, n)


def class_features(n, n_features=512, n_classes=10, seed=0):
    """Rows around class centres that overlap, float32."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, n_features)) + 0.3 * rng.normal(size=(n_classes, n_features))[y]
    return X.astype(np.float32), y


def digits(seed):
    """Database and query rows of the digits: X, X_query, y, y_query."""
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=500, stratify=y, random_state=seed)
