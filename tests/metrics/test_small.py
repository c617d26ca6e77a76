"""Small evaluations run on numpy alone: the same numbers, and nothing is compiled or loaded."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_hashrank import RetrievalHistogram, _kernels, retrieval_histogram
from sklearn_hashrank.metrics import distance_histogram, list_measures
from tests.metrics.test_histogram import KINDS, draw_rows

FIRST_EVALUATIONS = """
import sys, time
import scipy.sparse
from sklearn_hashrank import RetrievalHistogram, metrics
for call in sys.argv[1:]:
    start = time.process_time()
    eval(call)
    assert time.process_time() - start < 0.05, call
    loaded = [name for name in sys.modules if name.partition(".")[0] in ("numba", "llvmlite")]
    assert not loaded, call
"""
CALLS = [
    "RetrievalHistogram.from_scores([[1, 0, 0, 1, 0, 0]], [[0.5] * 6]).ndcg()",
    "RetrievalHistogram.from_run({'q': {'a': 1}}, {'q': {'b': 1, 'a': 1}}).recall(k=1)",
    "metrics.distance_histogram([[0.1, 0.5]], [1], [1, 2]).measure('ap')",
    "metrics.tie_aware_average_precision_score([1, 1, 2], [[0, 1], [0, 0], [1, 1]])",
    "metrics.tie_aware_ndcg_score([[1, 1], [1, 0]] * 3, [[0, 1], [0, 0]] * 3)",
    "metrics.tie_aware_ndcg_score([[0.1, 1], [1, 0.2]] * 3, [[0, 1], [0, 0]] * 3)",
    "metrics.local_group_average_precision_score([1, 1, 2], [[0, 1] * 40] * 3)",
    "metrics.code_usage([[0, 1] * 40] * 3)",
]


def test_first_evaluations_load_no_numba_and_take_no_time():
    command = [sys.executable, "-c", FIRST_EVALUATIONS, *CALLS]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def by_both(monkeypatch_context, evaluate):
    """What numpy alone gives, and what the kernels do."""
    results = []
    for pays in (False, True):
        with monkeypatch_context.context() as patch:
            patch.setattr(_kernels, "pays", lambda name, n_pairs, pays=pays: pays)
            results.append(evaluate())
    return results


def assert_equal_measures(one, other):
    np.testing.assert_array_equal(one.counts, other.counts)
    for measure in list_measures():
        if measure.radius is None or hasattr(one.table, "peaks"):
            for ties in ("expected", "optimistic", "pessimistic"):
                if measure.needs_codes and one.kept_codes is None:
                    continue
                np.testing.assert_allclose(
                    one.measure(measure, ties=ties), other.measure(measure, ties=ties), atol=1e-14
                )


@given(seed=st.integers(0, 2**32 - 1), data=st.data())
@settings(deadline=None, max_examples=60)
def test_rankings_are_the_same_by_kernels(seed, data):
    rng = np.random.default_rng(seed)
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 12)))
    kind = data.draw(st.sampled_from(["few", "floats", "ints", "huge", "infinite"]))
    scores = rng.integers(0, 4, shape).astype(
        {"few": np.float32, "ints": np.int8, "huge": np.int64}.get(kind, float)
    )
    if kind == "floats":
        scores += rng.random(shape)
    if kind == "huge":
        scores += 2**62
    if kind == "infinite":
        scores[rng.random(shape) < 0.3] = rng.choice([-np.inf, np.inf])
    relevance = rng.integers(0, 3, shape) * (rng.random(shape) < 0.6)
    order = data.draw(st.sampled_from(["similarity", "distance"]))
    with pytest.MonkeyPatch.context() as patch:
        assert_equal_measures(
            *by_both(patch, lambda: RetrievalHistogram.from_scores(relevance, scores, order=order))
        )


@given(seed=st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_runs_are_the_same_by_kernels(seed):
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in "ab":
        docs = [f"d{i}" for i in range(int(rng.integers(1, 12)))]
        run[query] = {doc: int(rng.integers(0, 3)) for doc in docs if rng.random() < 0.8}
        qrels[query] = {doc: int(rng.integers(-1, 3)) for doc in docs if rng.random() < 0.7}
    qrels["a"]["d0"] = run["a"]["d0"] = 1

    def evaluate():
        return RetrievalHistogram.from_run(qrels, run)

    with pytest.MonkeyPatch.context() as patch:
        one, other = by_both(patch, evaluate)
    assert_equal_measures(one, other)
    for name in ("totals", "unjudged", "places", "numbers"):
        by_id = (getattr(h.table.by_id, name) for h in (one, other))
        np.testing.assert_array_equal(*by_id)


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(KINDS), is_self=st.booleans())
@settings(deadline=None, max_examples=60)
def test_codes_are_the_same_by_kernels(seed, kind, is_self):
    rng = np.random.default_rng(seed)
    n_queries, n, n_bits = (int(x) for x in rng.integers(1, (6, 20, 70)))
    y, affinity = draw_rows(kind, rng, n + 2)
    codes = rng.integers(0, 2, (n + 2, n_bits), dtype=np.uint8)[rng.integers(0, n + 2, n + 2)]
    part = slice(None) if is_self else slice(min(n_queries, n))

    def evaluate():
        return retrieval_histogram(
            codes[part],
            codes,
            y[part],
            y,
            affinity=affinity,
            n_bits=n_bits,
            exclude_self=is_self,
            keep_codes=True,
        )

    with pytest.MonkeyPatch.context() as patch:
        one, other = by_both(patch, evaluate)
        np.testing.assert_array_equal(one.levels, other.levels)
        assert_equal_measures(one, other)


def test_distances_are_the_same_by_kernels():
    rng = np.random.default_rng(0)
    distances, y = rng.integers(0, 5, (20, 20)), rng.integers(0, 3, 20)
    with pytest.MonkeyPatch.context() as patch:
        assert_equal_measures(
            *by_both(patch, lambda: distance_histogram(distances, y, exclude_self=True))
        )
