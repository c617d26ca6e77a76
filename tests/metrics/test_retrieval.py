"""One path from an estimator to a histogram: score, scorers, displays and folds agree."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer

from sklearn_hashrank import (
    BREHasher,
    DispersionHasher,
    EuclideanAffinity,
    HierarchicalAffinity,
    ITQHasher,
    LabelAffinity,
    LSHHasher,
    NeighborAffinity,
    RSHHasher,
    StructHasher,
    TALRKernel,
    TALRLinear,
    load_hasher,
    retrieval_histogram,
    save_hasher,
)
from sklearn_hashrank.base import LinearHasher
from sklearn_hashrank.codes import pack_codes
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.comparison._settings import has_setting, with_settings
from sklearn_hashrank.metrics import (
    CodeUsageDisplay,
    PrecisionRecallDisplay,
    RecallAtKDisplay,
    TieRangeDisplay,
    make_retrieval_scorer,
    tie_aware_average_precision_score,
)
from sklearn_hashrank.metrics._evaluation import mean_over_queries, mean_value
from sklearn_hashrank.metrics._retrieval import encode, retrieve, unwrap
from sklearn_hashrank.model_selection import RetrievalSplit, cross_validate_retrieval

X, Y = make_blobs(n_samples=120, n_features=6, centers=4, cluster_std=4.0, random_state=0)
PATHS = np.stack([Y // 2, Y % 2], axis=1)  # all 0 and 1: "auto" takes them for label sets
TRAIN, QUERY = np.arange(40, 120), np.arange(40)
SEARCH = {"scoring": make_retrieval_scorer("ap", zero_division=0.0), "cv": 2}
CASES = {
    "no affinity, y": (LSHHasher(5, random_state=0), Y),
    "no affinity, no y": (ITQHasher(5, random_state=0), None),
    "affinity, y": (RSHHasher(5, random_state=0), Y),
    "affinity, no y": (RSHHasher(5, random_state=0), None),
    "an affinity that auto would not take": (
        TALRLinear(5, affinity=HierarchicalAffinity(), max_iter=2, random_state=0),
        PATHS,
    ),
}
WRAPS = {
    "bare": lambda hasher: hasher,
    "pipeline": lambda hasher: make_pipeline(PCA(5, random_state=0), hasher),
    "search": lambda hasher: GridSearchCV(
        make_pipeline(PCA(5, random_state=0), hasher),
        {f"{type(hasher).__name__.lower()}__n_bits": [5]},
        **SEARCH,
    ),
}


def part(values, rows):
    return None if values is None else values[rows]


@pytest.fixture(scope="module", params=WRAPS)
def fitted(request):
    """Every case, fitted on the training rows, with its unfitted estimator and its y."""
    made = {}
    for name, (hasher, y) in CASES.items():
        estimator = WRAPS[request.param](hasher)
        trained = with_settings(estimator).fit(X[TRAIN], part(y, TRAIN))
        made[name] = estimator, trained, y
    return made


def outcome(call, *arguments, **options):
    """What a call gives, or the error it raises."""
    try:
        return call(*arguments, **options)
    except ValueError as error:
        return str(error)


def displayed(display, value):
    def from_estimator(*arguments, **options):
        return value(display.from_estimator(*arguments, **options))

    return from_estimator


FACES = {
    "scorer": lambda e, X, y, database: make_retrieval_scorer("ap", database=database)(e, X, y),
    "tie range": displayed(TieRangeDisplay, lambda found: found.expected[0]),
}
CURVES = {
    "precision": displayed(PrecisionRecallDisplay, lambda found: found.precision[0]),
    "recall": displayed(RecallAtKDisplay, lambda found: found.recall[0]),
}


@pytest.mark.filterwarnings("ignore:.*no relevant item")
@pytest.mark.parametrize("case", CASES)
def test_every_face_gives_the_same_numbers_and_the_same_errors(fitted, case):
    estimator, trained, y = fitted[case]
    labels = part(y, QUERY)
    unlabelled = y is None
    databases = {
        "self": "self",
        "fit": "fit",
        "given": (X[TRAIN], part(y, TRAIN)),
        "half": (X[TRAIN], Y[TRAIN] if unlabelled else None),
    }
    errors = {"half": "the queries come with"} | ({"fit": "fitted without y"} if unlabelled else {})
    found = {}
    for name, database in databases.items():
        arguments, options = (trained, X[QUERY], labels), {"database": database}
        histogram = outcome(retrieve, *arguments, **options)
        if isinstance(histogram, str):
            assert errors[name] in histogram
            found[name], precision, recall = histogram, histogram, histogram
        else:
            assert name not in errors
            found[name] = mean_value(histogram.average_precision())
            curves = np.stack(histogram.precision_recall_curve()[:2], axis=1)
            precision, recall = mean_over_queries(curves)
        for face in FACES.values():
            assert outcome(face, *arguments, **options) == found[name]
        for curve, values in (("precision", precision), ("recall", recall)):
            drawn = outcome(CURVES[curve], *arguments, **options)
            np.testing.assert_array_equal(drawn, values)
    hasher = unwrap(trained)[1]
    rows = encode(trained, X[QUERY]).rows
    assert hasher.score(rows, labels) == found["self"]
    assert not hasattr(hasher, "y_") or y is not None

    split = RetrievalSplit(TRAIN, QUERY, TRAIN)
    scores = cross_validate_retrieval(estimator, X, y, cv=[split], error_score="raise")
    assert scores["test_score"] == [found["given"]]
    if case == "an affinity that auto would not take" or unlabelled:
        return  # compare has an affinity of its own
    methods = {"a": estimator}
    [result] = compare(X, y, methods=methods, n_bits=[5], seeds=[0], protocol=split).results
    again = with_settings(estimator, n_bits=5, random_state=0).fit(X[TRAIN], part(y, TRAIN))
    assert result.scores["ap"] == FACES["scorer"](again, X[QUERY], labels, databases["given"])


@pytest.mark.parametrize("case", [name for name in CASES if not name.endswith("no y")])
def test_y_is_asked_for_where_fit_had_it(fitted, case):
    _, trained, _ = fitted[case]
    message = "evaluation needs y, because this .* was fitted with y"
    for face in (*FACES.values(), *CURVES.values()):
        with pytest.raises(ValueError, match=message):
            face(trained, X[QUERY], None, database="self")
    with pytest.raises(ValueError, match=message):
        unwrap(trained)[1].score(encode(trained, X[QUERY]).rows)


def test_none_is_no_affinity():
    hasher = LSHHasher(4, random_state=0).fit(X, Y)
    message = "affinity must be 'auto' or an affinity object .*Got None"
    for face in (retrieve, TieRangeDisplay.from_estimator, PrecisionRecallDisplay.from_estimator):
        with pytest.raises(ValueError, match=message):
            face(hasher, X, Y, affinity=None)
    with pytest.raises(ValueError, match=message):
        make_retrieval_scorer("ap", affinity=None)(hasher, X, Y)


def test_a_hasher_without_y_keeps_no_rows():
    for hasher in (LSHHasher(4, random_state=0), RSHHasher(4, random_state=0)):
        hasher.fit(X, Y).fit(X)
        assert not hasattr(hasher, "y_")
        assert not hasher.fitted_with_y_
        assert not any(value is X for value in vars(hasher).values())
        with pytest.raises(ValueError, match=r"fitted without y and keeps .*\(X, None\)"):
            hasher.training_database()
        codes, y = hasher.fit(X, X).training_database()
        np.testing.assert_array_equal(codes, hasher.packed_codes(X))
        np.testing.assert_array_equal(y, X)
    with pytest.raises(NotFittedError):
        LSHHasher().training_database()


def unlabelled_hashers():
    """What each learns from without y, and whether that is also what it is judged by."""
    minibatches = {"max_iter": 1, "random_state": 0}
    few = {"random_state": 0}
    auto, near = EuclideanAffinity(), NeighborAffinity(3)
    yield ITQHasher(4, random_state=0), None, False
    for hasher in (TALRLinear, DispersionHasher, partial(TALRKernel, n_anchors=9)):
        yield hasher(4, **minibatches), "nearest", False
        yield hasher(4, affinity=near, **minibatches), "the given", True
        yield hasher(4, affinity=auto, **minibatches), "the given", True
    yield RSHHasher(4, random_state=0), "nine levels", False
    yield RSHHasher(4, random_state=0, affinity=near), "the given", True
    yield StructHasher(4, **few), "thresholds", True
    yield BREHasher(4, **few), "thresholds", True


@pytest.mark.filterwarnings("ignore:.*no relevant item", "ignore:.*did not converge")
@pytest.mark.parametrize("stored", [False, True])
def test_without_y_a_hasher_says_what_it_learned_from(stored, tmp_path):
    for hasher, learned, judges in unlabelled_hashers():
        hasher.fit(X[TRAIN])
        if stored:
            save_hasher(tmp_path / "hasher.npz", hasher)
            hasher = load_hasher(tmp_path / "hasher.npz")
        wanted = {
            "nearest": NeighborAffinity((1, 2, 8)),
            "the given": getattr(hasher, "affinity", None),
            "nine levels": EuclideanAffinity(
                (90, 75, 50, 30, 20, 10, 5, 2, 1), tuple(range(1, 10))
            ),
            "thresholds": EuclideanAffinity(),
            None: None,
        }[learned]
        assert repr(getattr(hasher, "affinity_", None)) == repr(wanted), hasher
        judged, compared = hasher.relevance(X)
        assert compared is X
        if judges:
            assert judged is hasher.affinity_
            continue
        # All others alike: thresholds of the rows that are searched, or what the form of y says.
        assert repr(judged) == "EuclideanAffinity()"
        assert not judged.__sklearn_is_fitted__()
        codes = hasher.predict(X)
        by_rows = tie_aware_average_precision_score(X, codes, affinity=EuclideanAffinity())
        assert hasher.score(X) == by_rows
        assert hasher.score(X, Y) == tie_aware_average_precision_score(Y, codes)


@pytest.mark.filterwarnings("ignore:.*no relevant item")
def test_a_hasher_that_learned_from_thresholds_says_how_to_judge_by_labels():
    hasher = RSHHasher(4, affinity=EuclideanAffinity(), random_state=0).fit(X)
    assert hasher.score(X, X) == hasher.score(X)
    message = (
        "this RSHHasher was fitted without y and judges by its fitted EuclideanAffinity: y has 1 "
        r"features; .* fitted with 6. To judge by y, score with make_retrieval_scorer\(\.\.\., aff"
    )
    for face in FACES.values():
        with pytest.raises(ValueError, match=message):
            face(hasher, X, Y, database="self")
    with pytest.raises(ValueError, match=message):
        hasher.score(X, Y)
    scorer = make_retrieval_scorer("ap", affinity=LabelAffinity())
    assert scorer(hasher, X, Y) == tie_aware_average_precision_score(Y, hasher.predict(X))


def test_thresholds_come_from_the_fit_or_from_the_rows_of_the_database():
    learned = StructHasher(4, random_state=0).fit(X[TRAIN])
    affinity, rows = learned.relevance(X[QUERY])
    assert rows is not None
    np.testing.assert_array_equal(
        affinity.thresholds_, EuclideanAffinity().fit(X[TRAIN]).thresholds_
    )
    other = LSHHasher(4, random_state=0).fit(X[TRAIN])
    expected = retrieval_histogram(
        other.predict(X[QUERY]),
        other.predict(X[TRAIN]),
        X[QUERY],
        X[TRAIN],
        affinity=EuclideanAffinity(),
    )
    found = retrieve(other, X[QUERY], database=(X[TRAIN], None))
    np.testing.assert_array_equal(found.counts, expected.counts)
    sparse_rows = retrieve(LSHHasher(4, random_state=0).fit(X), sparse.csr_array(X))
    assert len(sparse_rows.levels) == 5  # distances, not the labels of a multilabel indicator


class Signs(BaseEstimator):
    """An outsider's hasher: fit and transform, codes in a format of its choice."""

    def __init__(self, how="signs", says_n_bits=False):
        self.how, self.says_n_bits = how, says_n_bits

    def fit(self, X, y=None):
        self.center_ = X.mean(axis=0)
        if self.says_n_bits:
            self.n_bits_ = X.shape[1]
        return self

    def transform(self, X):
        above = self.center_ < X
        if self.how == "packed":
            return np.packbits(above, axis=1)
        return np.where(above, 1, -1) if self.how == "signs" else above


@pytest.mark.parametrize("wrap", ["bare", "pipeline"])
@pytest.mark.parametrize(
    "outsider", [Signs(), Signs("bits"), Signs("packed", says_n_bits=True)], ids=repr
)
def test_codes_of_outsiders_are_read_in_every_format(outsider, wrap):
    estimator = WRAPS[wrap](outsider).fit(X)
    rows = encode(estimator, X).rows
    bits = outsider.center_ < rows
    assert encode(estimator, X).n_bits == rows.shape[1]
    np.testing.assert_array_equal(encode(estimator, X).codes, pack_codes(bits))
    expected = tie_aware_average_precision_score(Y, bits)
    for face in FACES.values():
        assert face(estimator, X, Y, database="self") == expected
    with pytest.raises(ValueError, match="training_database.* Signs does not"):
        retrieve(estimator, X, Y, database="fit")
    usage = CodeUsageDisplay.from_estimator(estimator, X).usages[0]
    assert usage.counts.sum() == len(X)


def test_packed_codes_of_outsiders_need_their_length():
    with pytest.raises(ValueError, match="codes of Signs must hold.*its attribute n_bits_"):
        encode(Signs("packed").fit(X), X)
    packed = Signs("packed").fit(X)
    packed.n_bits = 6  # a parameter will do, where the width is that of packed codes
    assert encode(packed, X).n_bits == 6
    packed.n_bits_ = 17
    with pytest.raises(ValueError, match="codes of Signs have 1 columns; codes of n_bits=17"):
        encode(packed, X)


def test_any_last_step_that_gives_codes_will_do():
    pipeline = make_pipeline(PCA(5), Binarizer()).fit(X)
    assert encode(pipeline, X).n_bits == 5
    assert retrieve(pipeline, X, Y).counts.sum() == 120 * 119
    with pytest.raises(TypeError, match="codes of FunctionTransformer must be a dense array"):
        encode(FunctionTransformer(lambda X: sparse.csr_array(X > 0)), X)


class Stepwise(BaseEstimator):
    """Not a pipeline, although it has steps."""

    def __init__(self, n_bits=3, steps=5):
        self.n_bits, self.steps = n_bits, steps

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[:, : self.n_bits] > 0


def test_a_parameter_called_steps_makes_no_pipeline():
    assert encode(Stepwise().fit(X), X).n_bits == 3
    assert with_settings(Stepwise(), n_bits=4, output="packed").n_bits == 4


def test_steps_that_pass_through_are_no_hasher():
    hasher = LSHHasher(5, random_state=0).fit(X, Y)
    for last in ("passthrough", None):
        pipeline = Pipeline([("hasher", hasher), ("last", last)])
        assert unwrap(pipeline)[1] is hasher
        assert retrieve(pipeline, X, Y, database="fit").counts.sum() == 120 * 120


@pytest.mark.parametrize("wrong", [LSHHasher, None, "passthrough", Pipeline([("a", None)])])
def test_what_is_no_fitted_estimator_is_refused(wrong):
    with pytest.raises(TypeError, match="retrieval needs a fitted hasher, or another estimator"):
        retrieve(wrong, X, Y)


class Nested(BaseEstimator):
    def __init__(self, inner=None, affinity=None, n_bits=3):
        self.inner, self.affinity, self.n_bits = inner, affinity, n_bits


def test_settings_reach_every_estimator_that_has_them():
    hasher = RSHHasher(affinity=EuclideanAffinity())
    search = GridSearchCV(make_pipeline(PCA(), hasher), {"pca__n_components": [2]})
    found = with_settings(search, n_bits=7, random_state=5, output="packed")
    inner = found.estimator
    assert (inner[0].random_state, inner[1].random_state) == (5, 5)
    assert (inner[1].n_bits, inner[1].output) == (7, "packed")
    assert inner[1].affinity.random_state == 0  # what is relevant is no matter of seeds
    assert hasher.n_bits == 32
    nested = with_settings(Nested(Nested(LSHHasher())), n_bits=9, output="packed")
    assert nested.n_bits == nested.inner.n_bits == nested.inner.inner.n_bits == 9
    assert nested.inner.inner.output == "bits"
    assert has_setting(search, "n_bits")
    assert not has_setting(make_pipeline(PCA(), Binarizer()), "n_bits")


class Unlabelled(LinearHasher):
    """A subclass that remembers nothing but its hyperplanes, as one read from a file."""

    def __init__(self, output="bits"):
        self.output = output

    def fit(self, X, y=None):
        return self


def test_a_hasher_without_a_memory_of_its_fit_is_judged_by_the_form_of_y():
    hasher = Unlabelled()
    hasher.components_, hasher.intercept_, hasher.n_features_in_ = np.eye(6), np.zeros(6), 6
    expected = tie_aware_average_precision_score(Y, X > 0)
    assert hasher.score(X, Y) == FACES["scorer"](hasher, X, Y, "self") == expected
    assert hasher.relevance(X, Y)[0] == "auto"
    assert isinstance(hasher.relevance(X)[0], EuclideanAffinity)
    assert isinstance(LSHHasher(2).fit(X, Y).relevance(X, Y)[0], LabelAffinity)
