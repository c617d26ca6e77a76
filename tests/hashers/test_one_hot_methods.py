"""Every method learns from an indicator with one label in every row what it learns from labels."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_hashrank.comparison import method_from_name
from tests.instances import METHODS_HERE

RNG = np.random.default_rng(0)
NAMES = np.array(["x", "b", "m", "a", "z"])  # not in the order of the columns
Y = RNG.integers(0, 5, 150)
X = RNG.normal(size=(150, 12)) + 2 * np.eye(5, 12)[Y]
LEVELS_NEEDED = ("hierarchical", "hierarchical-paper")
ONE_OF_EACH_CLASS = {
    type(method_from_name(name)): name
    for name in reversed(METHODS_HERE)
    if name not in LEVELS_NEEDED
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ONE_OF_EACH_CLASS.values())
def test_codes_are_those_of_labels(name):
    hasher = method_from_name(name)
    quick = {"n_bits": 4, "n_bytes": 1, "random_state": 0, "max_iter": 3, "n_estimators": 3}
    for parameter, value in quick.items():
        if parameter in hasher.get_params():
            hasher.set_params(**{parameter: value})
    columns = np.argsort(NAMES, kind="stable")  # as label binarizers sort them
    expected = hasher.fit(X, NAMES[Y]).transform(X)
    for dtype in (float, bool):
        indicator = np.eye(5, dtype=dtype)[Y][:, columns]
        assert_array_equal(hasher.fit(X, indicator).transform(X), expected)


@pytest.mark.parametrize("name", LEVELS_NEEDED)
def test_methods_of_several_levels_refuse_both(name):
    for y in (Y, np.eye(5)[Y]):
        with pytest.raises(ValueError, match="level"):
            method_from_name(name).set_params(n_bits=8).fit(X, y)
