"""Displays: what they hold, what they draw, and what they say without matplotlib."""

import builtins

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_hashrank import LSHHasher, RSHHasher, retrieval_histogram
from sklearn_hashrank.metrics import (
    CodeUsageDisplay,
    PrecisionRecallDisplay,
    RecallAtKDisplay,
    TieRangeDisplay,
    code_usage,
    make_retrieval_scorer,
    precision_recall_curve,
    tie_aware_ndcg_score,
)
from tests.retrieval import shuffled_digits

matplotlib = pytest.importorskip("matplotlib")
NAME = r"$\foo$ \$"  # no formula
CURVES = [PrecisionRecallDisplay, RecallAtKDisplay]


@pytest.fixture
def plt():
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.fixture(scope="module")
def digits():
    X, y, X_query, y_query = shuffled_digits()
    return X[:300], y[:300], X_query[:60], y_query[:60]


@pytest.fixture(scope="module")
def hashers(digits):
    X, y, _, _ = digits
    return {
        "LSH": LSHHasher(8, random_state=0).fit(X, y),
        "PCA first": make_pipeline(PCA(10), LSHHasher(6, random_state=0)).fit(X, y),
        "RSH": RSHHasher(8, random_state=0, output="packed").fit(X, y),
    }


def codes_of(hashers, X):
    return {name: hasher.predict(X) for name, hasher in hashers.items()}


def with_database(hashers, digits):
    X, y, X_query, y_query = digits
    return (y_query, codes_of(hashers, X_query)), {"database": (y, codes_of(hashers, X))}


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("display", [TieRangeDisplay, *CURVES])
def test_estimators_codes_and_histograms_give_the_same(display, hashers, digits):
    X, y, X_query, y_query = digits
    arguments, options = with_database(hashers, digits)
    histograms = {
        name: retrieval_histogram(model.predict(X_query), model.predict(X), y_query, y)
        for name, model in hashers.items()
    }
    found = [
        display.from_estimator(hashers, X_query, y_query, database=(X, y)),
        display.from_estimator(hashers, X_query, y_query, database="fit"),
        display.from_codes(*arguments, **options),
        display.from_histograms(histograms),
    ]
    for other in found:
        assert other.names == list(hashers)
        for attribute in ("expected", "optimistic", "pessimistic", "precision", "recall", "k"):
            if hasattr(other, attribute):
                values = [getattr(each, attribute) for each in (found[0], other)]
                np.testing.assert_array_equal(*values)


def test_displays_hold_the_values_of_the_metrics(hashers, digits):
    _, _, X_query, y_query = digits
    codes = codes_of(hashers, X_query)
    ranges = TieRangeDisplay.from_estimator(
        hashers, X_query, y_query, measure=tie_aware_ndcg_score, k=10
    )
    for ties, values in (
        ("expected", ranges.expected),
        ("optimistic", ranges.optimistic),
        ("pessimistic", ranges.pessimistic),
    ):
        expected = [tie_aware_ndcg_score(y_query, c, k=10, ties=ties) for c in codes.values()]
        np.testing.assert_array_equal(values, expected)
    assert ranges.label == "mean NDCG at k = 10"
    curves = PrecisionRecallDisplay.from_codes(y_query, codes["LSH"], ties="optimistic")
    precision, recall, _ = precision_recall_curve(y_query, codes["LSH"], ties="optimistic")
    np.testing.assert_array_equal(curves.precision[0], precision)
    np.testing.assert_array_equal(curves.recall[0], recall)
    curves = RecallAtKDisplay.from_codes(y_query, codes["LSH"], k=[2, 5])
    np.testing.assert_array_equal(
        (curves.recall[0], curves.k[0]), precision_recall_curve(y_query, codes["LSH"], k=[2, 5])[1:]
    )
    usage = CodeUsageDisplay.from_estimator(hashers["LSH"], X_query)
    assert usage.names == ["LSHHasher"]
    np.testing.assert_array_equal(usage.usages[0].counts, code_usage(codes["LSH"]).counts)


def test_measures_of_codes_have_ranges_too(hashers, digits):
    arguments, options = with_database(hashers, digits)
    ranges = TieRangeDisplay.from_codes(*arguments, **options, measure="mlgap", radius=1)
    np.testing.assert_array_equal(ranges.optimistic, ranges.pessimistic)
    assert ranges.label == "mean LGAP at radius = 1"


def test_affinity_of_the_hasher_is_used_unless_another_is_given(digits):
    X, y, X_query, y_query = digits
    paths, query_paths = (np.column_stack([rows % 2, rows]) for rows in (y, y_query))
    hasher = RSHHasher(8, random_state=0).fit(X, paths)
    arguments = (hasher, X_query, query_paths)
    graded = TieRangeDisplay.from_estimator(*arguments, database="fit", measure="ndcg")
    other = TieRangeDisplay.from_estimator(
        *arguments, database="fit", measure="ndcg", affinity="auto"
    )
    assert graded.expected == other.expected
    assert hasher.affinity_.levels_.size == 3


def test_unlabelled_rows_are_their_own_y(digits):
    X, _, X_query, _ = digits
    hasher = LSHHasher(8, random_state=0).fit(X)
    options = {"zero_division": 0}
    given = TieRangeDisplay.from_estimator(hasher, X_query, X_query, database=(X, X), **options)
    display = TieRangeDisplay.from_estimator(hasher, X_query, database=(X, None), **options)
    np.testing.assert_array_equal(display.expected, given.expected)


@pytest.mark.parametrize("before", [StandardScaler(), PCA(10)])
def test_without_y_rows_are_compared_as_the_hasher_sees_them(before, digits):
    X, _, X_query, _ = digits
    model = make_pipeline(before, RSHHasher(8, random_state=0)).fit(X)
    for database in ("self", (X, None)):
        options = {"database": database, "zero_division": 0}
        display = TieRangeDisplay.from_estimator(model, X_query, **options)
        score = make_retrieval_scorer("ap", **options)(model, X_query)
        np.testing.assert_array_equal(display.expected, score)


@pytest.mark.filterwarnings("ignore:.*no relevant item")
def test_a_score_before_does_not_change_a_display(digits):
    X, y = digits[:2]
    hasher = LSHHasher(8, random_state=0).fit(X)
    before = TieRangeDisplay.from_estimator(hasher, X, y)
    hasher.score(X)
    after = TieRangeDisplay.from_estimator(hasher, X, y)
    np.testing.assert_array_equal(after.expected, before.expected)


def test_tie_range_draws_a_bar_and_a_dot_for_each_model(plt, hashers, digits):
    arguments, options = with_database(hashers, digits)
    display = TieRangeDisplay.from_codes(*arguments, **options)
    _, ax = plt.subplots()
    assert display.plot(ax=ax, color="red") is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert [label.get_text() for label in ax.get_yticklabels()] == list(hashers)
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first on top
    for line, low, high in zip(display.lines_, display.pessimistic, display.optimistic):
        np.testing.assert_array_equal(line.get_xdata(), [low, high])
        assert line.get_color() == "red"
    np.testing.assert_array_equal(display.points_.get_xdata(), display.expected)
    assert ax.get_xlabel().startswith("mean AP\n")
    assert TieRangeDisplay(0.1, 0.2, 0.3).plot().ax_ is not ax


@pytest.mark.parametrize("display", CURVES)
def test_curves_draw_a_line_for_each_model(plt, display, hashers, digits):
    arguments, options = with_database(hashers, digits)
    drawn = display.from_codes(*arguments, **options).plot(linewidth=3)
    assert labels(drawn.ax_) == list(hashers)
    assert all(line.get_linewidth() == 3 for line in drawn.lines_)
    assert len({line.get_color() for line in drawn.lines_}) == 3
    alone = display.from_codes(arguments[0], arguments[1]["LSH"]).plot(ax=plt.subplots()[1])
    assert alone.ax_.get_legend() is None
    assert len(alone.lines_) == 1


def test_many_models_look_different(plt):
    k = np.arange(1, 5)
    display = RecallAtKDisplay([k / 5] * 28, k, names=range(28)).plot()
    looks = {(line.get_color(), line.get_linestyle()) for line in display.lines_}
    assert len(looks) == 28
    assert labels(display.ax_) == [str(i) for i in range(28)]


def test_code_usage_in_the_order_of_codes(plt, hashers, digits):
    display = CodeUsageDisplay.from_codes(codes_of(hashers, digits[0])).plot()
    assert len(display.axes_) == 3
    for ax, lines, usage in zip(display.axes_, display.lines_, display.usages):
        if usage.n_bits == 8:
            [codes] = usage.codes.T
            segments = np.array(lines.get_segments())
            np.testing.assert_array_equal(segments[:, 0, 0], codes)
            np.testing.assert_array_equal(segments[:, 1, 1], usage.counts)
        else:
            places = [bar.get_x() + bar.get_width() / 2 for bar in lines]
            np.testing.assert_allclose(places, usage.codes[:, 0] >> 2)
        assert ax.get_title().endswith(f"{usage.n_distinct} of {2**usage.n_bits} codes")
    _, axes = plt.subplots(1, 3)
    assert list(display.plot(ax=axes).axes_) == list(axes)
    _, ax = plt.subplots()
    divided = display.plot(ax=ax)
    assert len(divided.axes_) == 3
    assert divided.figure_ is ax.figure
    many = CodeUsageDisplay([display.usages[0]] * 7).plot()
    assert len(many.axes_) == len(many.figure_.axes) == 7


def test_code_usage_from_the_fullest(plt, digits):
    X = digits[0]
    codes = {name: LSHHasher(24, random_state=name).fit_transform(X) for name in (0, 1)}
    for display in (
        CodeUsageDisplay.from_codes(codes).plot(),
        CodeUsageDisplay.from_codes(codes).plot(ax=plt.subplots()[1], order="fullest"),
    ):
        assert list(display.axes_) == [display.ax_]
        for line, usage in zip(display.lines_, display.usages):
            np.testing.assert_array_equal(line.get_ydata(), np.sort(usage.counts)[::-1])
        assert labels(display.ax_)[0].startswith("0: ")


def test_code_usage_of_a_histogram(digits):
    X, y, X_query, y_query = digits
    hasher = LSHHasher(8, random_state=0).fit(X)
    codes = hasher.predict(X)
    h = retrieval_histogram(hasher.predict(X_query), codes, y_query, y, keep_codes=True)
    [usage] = CodeUsageDisplay.from_histograms(h).usages
    np.testing.assert_array_equal(usage.counts, code_usage(codes).counts)


@pytest.mark.parametrize(
    "display",
    [
        PrecisionRecallDisplay([0.5, 0.4], [0.1, 0.2], names=[NAME]),
        RecallAtKDisplay([0.1, 0.2], [1, 2], names=[NAME]),
        TieRangeDisplay([0.1], [0.2], [0.3], names=[NAME]),
        CodeUsageDisplay(code_usage([[0] * 2]), names=[NAME]),
        CodeUsageDisplay(code_usage([[0] * 20]), names=[NAME]),
    ],
    ids=lambda display: type(display).__name__,
)
def test_names_are_drawn_as_they_are(plt, display):
    figure = display.plot().figure_
    figure.canvas.draw()
    named = [t for t in figure.findobj(matplotlib.text.Text) if NAME in t.get_text()]
    [text] = [t for t in named if t.get_visible()]
    assert not text.get_parse_math()


@pytest.mark.parametrize(
    "display",
    [
        PrecisionRecallDisplay([np.nan] * 2, [np.nan] * 2),
        RecallAtKDisplay([np.nan] * 2, [1, 2]),
        TieRangeDisplay([np.nan], [np.nan], [np.nan]),
        CodeUsageDisplay(code_usage([[0] * 20])),
    ],
    ids=lambda display: type(display).__name__,
)
def test_what_is_undefined_can_be_drawn(plt, display):
    display.plot().figure_.canvas.draw()
    _, ax = plt.subplots()
    display.plot(ax=ax).figure_.canvas.draw()


def test_without_matplotlib_only_plot_fails(monkeypatch, digits, hashers):
    real = builtins.__import__

    def without_matplotlib(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    X, y = digits[:2]
    for display in (
        *(d.from_estimator(hashers, X, y) for d in (TieRangeDisplay, *CURVES)),
        CodeUsageDisplay.from_estimator(hashers, X),
    ):
        name = type(display).__name__
        with pytest.raises(ImportError, match=rf"{name}.plot needs matplotlib, .*\[plot\]"):
            display.plot()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TieRangeDisplay([1, 2], [1], [1]), "must be 1-d and of one length"),
        (lambda: TieRangeDisplay([1], [1], [1], names=["a", "b"]), "each of 1 models. Got 2"),
        (
            lambda: TieRangeDisplay.from_codes([0, 0], [[0], [1]], measure="map"),
            "Got 'map' instead",
        ),
        (lambda: TieRangeDisplay.from_codes([0, 0], {}), "codes is an empty mapping"),
        (
            lambda: TieRangeDisplay.from_codes([0], {"a": [[0]]}, database=([0], {"b": [[0]]})),
            r"same models as codes. Got \['b'\] and \['a'\]",
        ),
        (lambda: TieRangeDisplay.from_codes([0], [[0]], database=[0]), "must be None or a tuple"),
        (lambda: PrecisionRecallDisplay([1, 2], [1]), r"same lengths. Got \[2\] and \[1\]"),
        (lambda: RecallAtKDisplay([[[1]]], [[1]]), "recall must be one 1-d array"),
        (lambda: CodeUsageDisplay([1]), "usages must be what code_usage returns"),
        (lambda: CodeUsageDisplay(code_usage([[0]])).plot(order="up"), "Got 'up' instead"),
        (lambda: CodeUsageDisplay(code_usage([[0] * 17])).plot(order="code"), "Got codes of 17"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bad_databases_are_refused(hashers, digits):
    with pytest.raises(ValueError, match="'self', 'fit' or a tuple .*Got 'train' instead"):
        TieRangeDisplay.from_estimator(hashers, *digits[:2], database="train")
    display = CodeUsageDisplay.from_estimator(hashers, digits[0])
    with pytest.raises(ValueError, match="one for each of 3 models. Got 2"):
        display.plot(ax=np.empty(2, dtype=object))
