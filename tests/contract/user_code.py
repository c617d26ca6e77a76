"""What users write, as the type checker sees it and as it runs.

`make lint` reads this file by ``mypy --strict``; ``assert_type`` says which type each call must
have. A test runs it as well. Add a line for whatever is new and public.
"""

# Constructors and `fit` of estimators carry no types, as in scikit-learn.
# mypy: allow-untyped-calls

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from sklearn_hashrank import (
    BinaryAutoencoderHasher,
    DispersionHasher,
    EuclideanAffinity,
    HammingNeighbors,
    HierarchicalAffinity,
    ITQHasher,
    LabelAffinity,
    LSHHasher,
    LWHHasher,
    PCAHasher,
    PrecomputedAffinity,
    RetrievalHistogram,
    RSHHasher,
    SharedLabelAffinity,
    TALRLinear,
    retrieval_histogram,
)
from sklearn_hashrank.affinity import BaseAffinity
from sklearn_hashrank.base import LinearHasher
from sklearn_hashrank.codes import hamming_distances, load_codes, pack_codes, unpack_codes
from sklearn_hashrank.comparison import Comparison, compare, method_from_name
from sklearn_hashrank.feature_extraction import GIST
from sklearn_hashrank.metrics import (
    CodeUsage,
    PairedTest,
    TieReport,
    Ties,
    code_usage,
    holm_correction,
    local_group_average_precision_score,
    lookup_precision_score,
    make_retrieval_scorer,
    paired_test,
    precision_recall_curve,
    randomized_tukey_hsd,
    register_measure,
    tie_aware_average_precision_score,
    tie_aware_ndcg_score,
)
from sklearn_hashrank.model_selection import RandomRetrievalSplit, cross_validate_retrieval
from sklearn_hashrank.neighbors import DecodedNeighbors

Features = NDArray[np.float64]
Labels = NDArray[np.int64]
Values = NDArray[np.float64]


def data() -> tuple[Features, Labels]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    return rng.normal(size=(60, 8)) + y[:, None], y


def hashers(X: Features, y: Labels) -> list[LinearHasher]:
    fitted: list[LinearHasher] = [
        LSHHasher(4, random_state=0).fit(X),
        PCAHasher(4, random_state=0).fit(X),
        ITQHasher(4, max_iter=3, random_state=0).fit(X),
        RSHHasher(2, random_state=0).fit(X, y),
        LWHHasher(2, tol=1.0, random_state=0).fit(X, y),
        TALRLinear(4, max_iter=2, random_state=0).fit(X, y),
        DispersionHasher(4, max_iter=2, random_state=0).fit(X, y),
    ]
    for hasher in fitted:
        codes: NDArray[np.uint8] = hasher.predict(X)
        assert codes.shape == (len(X), hasher.n_bits)
        assert_type(hasher.score(X, y), float)
        projections: NDArray[Any] = hasher.decision_function(X)
        assert projections.shape == (len(X), hasher.n_bits)
    return fitted


def share_below(ties: Ties, k: int | None = None) -> Values:
    """Share of the first places that relevant items take: a measure of one's own."""
    taken = ties.relevant * ties.places(k) / np.maximum(ties.total, 1)
    share: Values = taken.sum(axis=1) / (k or 1)
    return share


def affinities(y: Labels) -> list[BaseAffinity]:
    relevance = np.equal.outer(y, y).astype(float)
    return [
        LabelAffinity().fit(y),
        SharedLabelAffinity().fit(np.eye(3, dtype=int)[y]),
        HierarchicalAffinity().fit(np.stack([y // 2, y], axis=1)),
        EuclideanAffinity(percentiles=(20, 5), levels=(1, 2)).fit(y[:, None].astype(float)),
        PrecomputedAffinity(relevance).fit(np.arange(len(y))),
    ]


def histograms(codes: NDArray[np.uint8], y: Labels) -> RetrievalHistogram:
    first = retrieval_histogram(codes, codes[:40], y, y[:40])
    second = retrieval_histogram(codes, codes[40:], y, y[40:], affinity=LabelAffinity())
    both = assert_type(first + second, RetrievalHistogram)
    assert_type(both.n_bits, int)
    values: Values = both.average_precision(k=10, ties="pessimistic")
    values = both.ndcg(gain="linear", discount="log2")
    values = both.lookup_precision(radius=1)
    values = both.measure("average_precision", ties="optimistic")
    assert values.shape == (len(y),)
    ranked = RetrievalHistogram.from_scores([[1, 0]], [[0.5, 0.2]], query_ids=["q"])
    ranked += RetrievalHistogram.from_run({"r": {"a": 1}}, {"r": {"a": 0.5}}, queries="both")
    values = ranked.rank_biased_precision(p=0.5, min_relevance=1)
    values = ranked.hit_rate(k=1)
    values = ranked.measure("ap@10:min_relevance=1")
    assert_type(ranked.tie_report("rr", k=3), TieReport)
    assert len(values) == 2
    register_measure("share_below", share_below, label="share of the first places")
    values = both.measure("share_below", k=3)
    assert np.all((values >= 0) & (values <= 1))
    return both


def files(folder: Path, hasher: LinearHasher, X: Features) -> None:
    path = folder / "codes.npy"
    hasher.encode_blocks(iter([X[:40], X[40:]]), out=path)
    codes: NDArray[np.uint8] = load_codes(path)
    assert codes.dtype == np.uint8


def metrics(codes: NDArray[np.uint8], y: Labels) -> None:
    for value in (
        tie_aware_average_precision_score(y, codes, k=10),
        tie_aware_ndcg_score(y, codes, database=(y, codes), ties="optimistic"),
        lookup_precision_score(y, codes, radius=1),
        local_group_average_precision_score(y, codes),
    ):
        assert isinstance(value, float)
    each = tie_aware_average_precision_score(y, codes, average=False)
    assert isinstance(each, np.ndarray)
    assert_type(code_usage(codes), CodeUsage)
    result = assert_type(paired_test([0.1, 0.2], [0.2, 0.3], method="student"), PairedTest)
    corrected: Values = holm_correction([result.pvalue])
    between: Values = randomized_tukey_hsd([[0.1, 0.2], [0.2, 0.3]], n_resamples=9)
    assert corrected.shape == (1,)
    assert between.shape == (2, 2)
    precision, recall, *_ = precision_recall_curve(y, codes)
    assert len(precision) == len(recall)


def codes_and_search(codes: NDArray[np.uint8]) -> None:
    packed: NDArray[np.uint8] = pack_codes(codes)
    bits: NDArray[np.uint8] = unpack_codes(packed, codes.shape[1])
    assert np.array_equal(bits, codes)
    assert hamming_distances(codes, codes).shape == (len(codes), len(codes))
    index = HammingNeighbors(3, n_bits=codes.shape[1]).fit(packed)
    distances, indices = index.kneighbors(packed)
    assert distances.shape == indices.shape == (len(codes), 3)


def decoded(X: Features) -> None:
    hasher = BinaryAutoencoderHasher(4, max_iter=1, random_state=0).fit(X)
    index = DecodedNeighbors(hasher, 3, metric="euclidean").fit(hasher.transform(X))
    rows: NDArray[Any] = hasher.inverse_transform(index.codes_)
    distances, indices = index.kneighbors(rows)
    assert distances.shape == indices.shape == (len(X), 3)


def model_selection(X: Features, y: Labels) -> None:
    scorer = make_retrieval_scorer("tie_aware_ap", database="fit")
    score = scorer(LSHHasher(4, random_state=0).fit(X, y), X, y)
    assert isinstance(score, float)
    split = RandomRetrievalSplit(n_queries=10, random_state=0)
    found = cross_validate_retrieval(LSHHasher(4, random_state=0), X, y, cv=split)
    assert len(found["test_score"])
    methods = {"lsh": method_from_name("lsh"), "own": ITQHasher(4, max_iter=3)}
    comparison = assert_type(
        compare(X, y, methods=methods, n_bits=[4], seeds=1, protocol=split), Comparison
    )
    assert_type(comparison.best().method, str)
    assert_type(comparison.to_csv(), str)


def refused() -> None:
    """What no test runs. mypy takes no call for `Any`: an ignored error that it misses is one."""
    h = retrieval_histogram([[0]], [[1]], [0], [0])
    h.n_bits.upper()  # type: ignore[attr-defined]
    h.average_precision(ties="expect")  # type: ignore[arg-type]
    tie_aware_average_precision_score([0], [[1]], tie="expected")  # type: ignore[call-arg]


def use(folder: Path) -> None:
    X, y = data()
    hasher = hashers(X, y)[0]
    codes = hasher.predict(X)
    files(folder, hasher, X)
    assert len(affinities(y)) == 5
    histograms(codes, y)
    metrics(codes, y)
    codes_and_search(codes)
    decoded(X)
    model_selection(X, y)
    assert GIST(image_shape=(8, 8)).fit(np.ones((2, 64))) is not None
