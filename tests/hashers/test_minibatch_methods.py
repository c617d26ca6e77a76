"""mihash, dpsh, dtsh, hashnet: that they learn, and what tells them apart."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_hashrank import LSHHasher, TALRLinear
from sklearn_hashrank._solvers.stochastic import SOLVERS
from sklearn_hashrank.comparison import method_from_name
from sklearn_hashrank.comparison._method_table import parameters_to_set
from sklearn_hashrank.objectives import DPSH, DTSH, HashNet, MutualInformation
from tests.retrieval import retrieve, shuffled_digits

OBJECTIVES = {"mihash": MutualInformation, "dpsh": DPSH, "dtsh": DTSH, "hashnet": HashNet}
NAMES = {"mihash": "mi", "dpsh": "dpsh", "dtsh": "dtsh", "hashnet": "hashnet"}

every_method = pytest.mark.parametrize("method", OBJECTIVES)


def make(method, n_bits=32, **options):
    """A method by name, with parameters of its hasher."""
    return method_from_name(method).set_params(n_bits=n_bits, **options)


@pytest.fixture(scope="module")
def digits():
    return shuffled_digits()


@pytest.mark.learning
@every_method
def test_learns(digits, method):
    X, y, X_query, y_query = digits
    hasher = make(method, 16, max_iter=20, random_state=0).fit(X, y)
    random = LSHHasher(16, random_state=0).fit(X, y)
    learned, random = (retrieve(h, X, y, X_query, y_query) for h in (hasher, random))
    assert learned > random + (1 - random) / 3
    values = hasher.history_["objective"]
    assert values[0] < values[-1]


@every_method
def test_a_method_is_its_objective_in_60_passes(digits, method):
    X, y, *_ = digits
    hasher = make(method)
    assert hasher.max_iter == 60
    assert isinstance(hasher.objective, OBJECTIVES[method])
    options = {"max_iter": 3, "random_state": 0}
    expected = make(method, 8, **options).fit(X, y)
    for objective in (NAMES[method], OBJECTIVES[method]()):
        given = TALRLinear(8, objective=objective, **options).fit(X, y)
        assert_array_equal(given.components_, expected.components_)


@pytest.mark.parametrize(
    ("notation", "name", "value"),
    [
        ("hashnet:scale=3", "scale", 3),
        ("hashnet:alpha=2", "alpha", 2),
        ("hashnet:alpha_end=None", "alpha_end", None),
        ("dpsh:regularization=.2", "regularization", 0.2),
        ("dtsh:margin=.5", "margin", 0.5),
        ("mihash:n_bins=4", "n_bins", 4),
        ("talr-ap:alpha=4", "alpha", 4),
        ("talr-paper:graded=True", "graded", True),
        ("talr-paper:relaxation=arxiv", "relaxation", "arxiv"),
    ],
)
def test_parameters_of_the_objective_go_by_their_own_names(digits, notation, name, value):
    X, y, *_ = digits
    method = notation.partition(":")[0]
    hasher = make(notation, 8, max_iter=2, random_state=0)
    assert getattr(hasher.objective, name) == value
    assert getattr(make(method).objective, name) != value
    learned = hasher.fit(X, y).components_
    assert np.any(learned != make(method, 8, max_iter=2, random_state=0).fit(X, y).components_)


@every_method
def test_levels_above_zero_are_relevant(digits, method):
    X, y, *_ = digits
    paths = np.column_stack([y // 4, y])
    options = {"n_bits": 6, "max_iter": 2, "random_state": 0}
    graded, binary = make(method, **options).fit(X, paths), make(method, **options).fit(X, y // 4)
    assert_array_equal(graded.codes_, binary.codes_)


@pytest.mark.learning
@every_method
def test_partial_fit_learns_from_blocks(digits, method):
    X, y, X_query, y_query = digits
    streamed = make(method, 16, batch_size=128, random_state=0)
    rng = np.random.default_rng(0)
    for _ in range(10):
        for rows in np.array_split(rng.permutation(len(X)), 4):
            streamed.partial_fit(sparse.csr_matrix(X[rows]), y[rows])
    random = LSHHasher(16, random_state=0).fit(X, y)
    streamed.codes_ = None
    learned, random = (retrieve(h, X, y, X_query, y_query) for h in (streamed, random))
    assert learned > random + (1 - random) / 4


@every_method
@pytest.mark.parametrize("solver", sorted(SOLVERS))
@pytest.mark.parametrize("n_classes", [2, 99])
def test_odd_data_gives_finite_projections(digits, method, solver, n_classes):
    X = digits[0][:100]
    for batch_size in ("auto", 2):
        hasher = make(method, 20, solver=solver, batch_size=batch_size, max_iter=3, random_state=0)
        assert np.isfinite(hasher.fit(X, np.arange(100) % n_classes).components_).all()


@pytest.mark.learning
@every_method
def test_stochastic_gradient_ascent_learns_too(digits, method):
    X, y, X_query, y_query = digits
    hasher = make(method, 16, solver="sgd", max_iter=20, random_state=0).fit(X, y)
    assert retrieve(hasher, X, y, X_query, y_query) > 0.6


def test_parameters_that_belong_to_other_objectives_are_unknown():
    with pytest.raises(ValueError, match="'dpsh'.*'alpha'.* regularization"):
        make("dpsh:alpha=3")
    shown = parameters_to_set(make("hashnet"))
    assert shown["scale"] == 5.0
    assert not {"objective__scale", "relaxation", "n_bits"} & set(shown)


def test_what_a_hasher_and_its_objective_both_have_is_set_in_both():
    hasher = make("hashnet:n_jobs=2")
    assert hasher.n_jobs == hasher.objective.n_jobs == 2
    assert make("talr-ap:n_jobs=2").n_jobs == 2


def test_steepness_grows_to_its_end(digits):
    X, y, *_ = digits
    objective, steepness = HashNet(alpha=2.0, alpha_end=5.0), []
    for progress in (0, 0.25, 0.5, 1):
        objective.anneal(progress)
        steepness.append(objective.alpha_)
    assert objective.alpha == 2
    assert steepness[0] == 2
    assert steepness[-1] == 5
    assert np.allclose(np.diff(np.square(steepness)), np.array([0.25, 0.25, 0.5]) * 21)
    steady = make("hashnet:alpha_end=None", 8, max_iter=2, random_state=0).fit(X, y)
    growing = make("hashnet", 8, max_iter=2, random_state=0).fit(X, y)
    assert np.any(steady.components_ != growing.components_)


@pytest.mark.parametrize(
    ("objective", "name"),
    [
        (MutualInformation(alpha=0), "alpha"),
        (MutualInformation(n_bins=0), "n_bins"),
        (MutualInformation(alpha_end=0), "alpha_end"),
        (DPSH(regularization=-1), "regularization"),
        (DTSH(margin=-1), "margin"),
        (HashNet(scale=0), "scale"),
        (HashNet(alpha_end=0), "alpha_end"),
    ],
)
def test_bad_options_are_refused(digits, objective, name):
    X, y, *_ = digits
    with pytest.raises(ValueError, match=f"'{name}'"):
        TALRLinear(objective=objective).fit(X, y)
