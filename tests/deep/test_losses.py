"""Losses are minus the objectives, in every precision."""

import copy
import pickle

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from sklearn_hashrank.affinity._euclidean import EuclideanAffinity
from sklearn_hashrank.affinity._labels import (
    HierarchicalAffinity,
    LabelAffinity,
    SharedLabelAffinity,
)
from sklearn_hashrank.affinity._neighbors import NeighborAffinity
from sklearn_hashrank.deep import PairwiseLoss, TieAwareLoss
from sklearn_hashrank.objectives import (
    DSH,
    AveragePrecision,
    Hierarchical,
    RankingObjective,
    TieValues,
)
from tests.blas import blas_threads
from tests.deep.batches import (
    CLASSES,
    LABEL_SETS,
    LOSSES,
    N_BITS,
    N_ROWS,
    PATHS,
    RANKING,
    VECTORS,
    make_loss,
    make_scores,
    value_and_gradient,
)

every_loss = pytest.mark.parametrize("name", LOSSES)


def assert_close(given, expected, tolerance):
    (value, gradient), (expected_value, expected_gradient) = given, expected
    assert abs(value - expected_value) <= tolerance * max(1, abs(expected_value))
    largest = expected_gradient.abs().max()
    assert (gradient - expected_gradient).abs().max() <= tolerance * largest


@every_loss
def test_loss_is_minus_the_objective(name):
    scores, loss = make_scores(), make_loss(name, affinity=HierarchicalAffinity())
    level = HierarchicalAffinity().fit(PATHS).pairwise(PATHS, PATHS).astype(np.uint8)
    value, gradient = loss.objective.value_and_gradient(
        scores.detach().numpy(), level, np.arange(3.0)
    )
    given = value_and_gradient(loss, scores, PATHS)
    expected = torch.tensor(-value, dtype=torch.float64), -torch.from_numpy(gradient.copy())
    assert_close(given, expected, 1e-12)


@every_loss
def test_gradients(name):
    loss, scores = make_loss(name), make_scores(n_rows=9, seed=3)
    assert torch.autograd.gradcheck(lambda x: loss(x, PATHS[:9]), scores, atol=1e-5, eps=1e-7)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["ap-simplified-linear", "ndcg-exact-linear", "dispersed"])
def test_loss_and_gradient_have_the_precision_of_the_scores(name, dtype):
    scores = make_scores(dtype)
    value, gradient = value_and_gradient(make_loss(name), scores, CLASSES)
    assert value.dtype == gradient.dtype == dtype
    wide = scores.detach().double().requires_grad_()
    expected = value_and_gradient(make_loss(name), wide, CLASSES)
    digits = torch.finfo(dtype).eps if dtype.itemsize < 4 else 1e-5
    assert_close((value.double(), gradient.double()), expected, digits)


@pytest.mark.parametrize("name", ["ap-simplified-linear", "mi-exact-linear", "dsh", "dtsh"])
def test_autocast_does_not_reach_the_objective(name):
    layer = torch.nn.Linear(4, N_BITS)
    X = torch.randn(N_ROWS, 4, generator=torch.Generator().manual_seed(0))
    loss = make_loss(name)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = layer(X)
        value = loss(scores, CLASSES)
    assert scores.dtype == value.dtype == torch.bfloat16
    assert value == loss(scores.float(), CLASSES).bfloat16()
    value.backward()
    assert layer.weight.grad.isfinite().all()
    assert layer.weight.grad.any()


def test_kernels_work_in_a_compiled_network():
    torch.compiler.reset()
    network, loss = torch.nn.Linear(4, N_BITS), TieAwareLoss()
    X = torch.randn(N_ROWS, 4, generator=torch.Generator().manual_seed(0))
    compiled = torch.compile(lambda X: loss(network(X), CLASSES), backend="aot_eager")
    assert torch.allclose(compiled(X), loss(network(X), CLASSES), atol=1e-6)


def test_forms_of_y():
    loss, scores = TieAwareLoss("ndcg"), make_scores()
    expected = loss(scores, LABEL_SETS)
    for same in (
        LABEL_SETS.bool(),
        LABEL_SETS.float(),
        LABEL_SETS.bfloat16(),
        LABEL_SETS.double().numpy(),
        list(LABEL_SETS.half()),
        LABEL_SETS.numpy(),
        LABEL_SETS.tolist(),
        sparse.csr_array(LABEL_SETS.numpy()),
        LABEL_SETS.to_sparse(),
    ):
        assert torch.allclose(loss(scores, same), expected)
    names = np.array(["a", "b", "c", "d"])[CLASSES.numpy()]
    expected = loss(scores, CLASSES)
    for same in (CLASSES[:, None], CLASSES.double(), list(CLASSES.bfloat16()), names.tolist()):
        assert torch.allclose(loss(scores, same), expected)


def test_the_first_batch_says_what_several_columns_are():
    scores, sets = make_scores(), LABEL_SETS.double()
    loss = TieAwareLoss("ndcg")
    loss(scores, VECTORS)
    as_vectors = TieAwareLoss("ndcg", affinity=EuclideanAffinity())
    assert torch.equal(loss(scores, sets), as_vectors(scores, sets))
    loss = TieAwareLoss("ndcg")
    loss(scores, PATHS)
    as_paths = TieAwareLoss("ndcg", affinity=HierarchicalAffinity())
    assert torch.equal(loss(scores, LABEL_SETS), as_paths(scores, LABEL_SETS))
    loss = TieAwareLoss("ndcg")
    as_sets = TieAwareLoss("ndcg", affinity=SharedLabelAffinity())
    assert torch.equal(loss(scores, sets), as_sets(scores, LABEL_SETS))
    for other in (VECTORS, VECTORS.numpy(), PATHS + 2):
        with pytest.raises(ValueError, match=r"earlier batch held only 0 and 1.*EuclideanAffinity"):
            loss(scores, other)
    loss(scores, CLASSES)  # one column is class labels, whatever several are


@pytest.mark.parametrize(
    ("affinity", "y"),
    [
        (LabelAffinity(), CLASSES),
        (HierarchicalAffinity(), LABEL_SETS),
        (SharedLabelAffinity(), LABEL_SETS),
        (EuclideanAffinity((30, 10), (1, 2)), VECTORS),
        (NeighborAffinity(5, metric="euclidean"), VECTORS),
    ],
    ids=["label", "hierarchical", "shared", "euclidean", "neighbors"],
)
def test_affinities_and_their_matrices_mean_the_same(affinity, y):
    scores = make_scores()
    given = TieAwareLoss("ndcg", affinity=affinity)(scores, y)
    fitted = clone(affinity).fit(y.numpy())
    queries, index = fitted.of_queries(fitted.validate(y.numpy()), are_database=True)
    matrix = fitted.levels_[queries.level_indices(index, fitted.validate(y.numpy()))]
    if not isinstance(affinity, NeighborAffinity):
        loss = TieAwareLoss("ndcg", affinity=fitted)
        assert torch.allclose(loss(scores, y), given)
    loss = TieAwareLoss("ndcg", affinity="precomputed")
    for relevance in (matrix, torch.from_numpy(matrix)):
        assert torch.allclose(loss(scores, relevance), given)


@pytest.mark.parametrize("values", [[0, 1, 3], [0.0, 0.25, 2.5], [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("name", ["ndcg-exact-linear", "hierarchical", "nested", "dtsh"])
def test_levels_of_a_matrix(name, values):
    """Whole numbers are levels themselves, so that a batch without one of them means the same."""
    random = np.random.default_rng(0)
    matrix = np.array(values)[random.integers(0, 3, (N_ROWS, N_ROWS))]
    levels = np.arange(4.0) if not np.any(matrix % 1) else np.array(values)
    loss, scores = make_loss(name, affinity="precomputed"), make_scores()
    level = np.searchsorted(levels, matrix).astype(np.uint8)
    value, _ = loss.objective.value_and_gradient(scores.detach().numpy(), level, levels)
    for y in (matrix, torch.from_numpy(matrix)):
        assert torch.allclose(loss(scores, y), torch.tensor(-value, dtype=torch.float64))


def test_steepness_is_annealed():
    loss, scores = TieAwareLoss(AveragePrecision(alpha=1.0, alpha_end=4.0)), make_scores()
    loss.anneal(0.5)
    assert loss.objective.alpha_ == 2.0
    assert loss(scores, CLASSES) == TieAwareLoss(AveragePrecision(alpha=2.0))(scores, CLASSES)
    loss.anneal(1)
    assert loss.objective.alpha_ == 4.0
    assert loss.objective.alpha == 1.0
    constant = TieAwareLoss(AveragePrecision(alpha=3.0))
    constant.anneal(0.5)
    assert constant.objective.alpha_ == 3.0
    given = AveragePrecision(alpha_end=4.0)
    loss = TieAwareLoss(given)
    loss.anneal(1)
    assert (loss.objective.alpha_, given.alpha_) == (4.0, 2.0)
    loss = PairwiseLoss("hashnet")
    loss.anneal(1)
    assert loss.objective.alpha_ == 3.0


class FirstBin(RankingObjective):
    """An objective of a user: the share of relevant items in the nearest bin."""

    def tie(self, ties):
        first = (ties.before == 0).astype(ties.gain.dtype)
        return TieValues(ties.gain * first, first, None, None, None)


def test_objectives_of_users():
    scores, loss = make_scores(), TieAwareLoss(FirstBin(alpha=1.0))
    assert -1 < loss(scores, CLASSES) < 0


def test_objects_are_what_names_stand_for():
    scores = make_scores()
    assert TieAwareLoss(AveragePrecision())(scores, CLASSES) == TieAwareLoss()(scores, CLASSES)
    assert PairwiseLoss(DSH())(scores, CLASSES) == PairwiseLoss("dsh")(scores, CLASSES)
    assert PairwiseLoss(DSH(margin=0.1))(scores, CLASSES) != PairwiseLoss("dsh")(scores, CLASSES)


@every_loss
def test_a_query_alone_has_a_loss(name):
    loss = make_loss(name, affinity=HierarchicalAffinity())
    scores = make_scores(n_rows=1)
    value, gradient = value_and_gradient(loss, scores, PATHS[:1])
    assert value.isfinite()
    assert gradient.isfinite().all()


@pytest.mark.parametrize("name", RANKING)
def test_equal_and_saturated_codes_have_finite_gradients(name):
    scores = (100 * make_scores().detach().sign()).requires_grad_()
    rows = torch.cat([scores, scores, torch.zeros(2, N_BITS, dtype=scores.dtype)])
    y = torch.cat([CLASSES, CLASSES, CLASSES[:2]])
    value, gradient = value_and_gradient(make_loss(name), rows, y)
    assert value.isfinite()
    assert gradient.isfinite().all()


def test_copies_and_pickles():
    scores = make_scores()
    for name in ("ap-exact-linear", "hashnet"):
        loss = make_loss(name)
        expected = loss(scores, CLASSES)
        assert copy.deepcopy(loss)(scores, CLASSES) == expected
        assert pickle.loads(pickle.dumps(loss))(scores, CLASSES) == expected
        assert not loss.state_dict()
    assert "AveragePrecision" in repr(TieAwareLoss())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: TieAwareLoss("dsh"),
            "'objective' .* of TieAwareLoss .* {'ap', 'mi', 'ndcg'} or an object",
        ),
        (
            lambda: TieAwareLoss(AveragePrecision(relaxation="best")),
            "'relaxation' parameter of AveragePrecision .*'simplified'",
        ),
        (
            lambda: TieAwareLoss(AveragePrecision),
            r"Got the class AveragePrecision; pass AveragePrecision\(",
        ),
        (
            lambda: TieAwareLoss(AveragePrecision(n_bins=0)),
            "'n_bins' parameter of AveragePrecision",
        ),
        (
            lambda: TieAwareLoss(AveragePrecision(alpha_end=-1.0)),
            "'alpha_end' parameter of AveragePrecision",
        ),
        (lambda: TieAwareLoss(affinity="labels"), "affinity must be 'auto', 'precomputed' or"),
        (lambda: TieAwareLoss().anneal(2.0), "progress must be within 0 and 1. Got 2.0"),
        (lambda: PairwiseLoss("ap"), "'objective' .* among {'dispersed', 'dpsh'"),
        (lambda: PairwiseLoss(3), "objective must be a name or an object with value_and_gradient"),
    ],
)
def test_wrong_parameters(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (CLASSES[:5], r"y must have one row for each of the 24 rows of scores. Got shape \(5,\)"),
        (CLASSES + 0.5, "y holds non-integral numbers such as"),
        (LABEL_SETS[:, :, None], "y must be 1-d or 2-d"),
        (torch.tensor(1), "y must have one row"),
    ],
)
def test_wrong_y(y, message):
    with pytest.raises(ValueError, match=message):
        TieAwareLoss()(make_scores(), y)


def test_labels_are_no_paths():
    with pytest.raises(ValueError, match=r"one label path per row, \(n, depth\). Got \(24,\)"):
        TieAwareLoss(affinity=HierarchicalAffinity())(make_scores(), CLASSES)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros((N_ROWS, 2)), r"of shape \(24, 24\). Got shape \(24, 2\)"),
        (np.full((N_ROWS, N_ROWS), -1.0), "finite and not negative. Got values from -1.0"),
        (np.random.default_rng(0).random((N_ROWS, N_ROWS)), "at most 256 distinct levels"),
        (np.full((N_ROWS, N_ROWS), "a"), "numbers. Got dtype"),
    ],
)
def test_wrong_matrices(y, message):
    with pytest.raises(ValueError, match=message):
        TieAwareLoss(affinity="precomputed")(make_scores(), y)


def test_wrong_scores():
    for scores in (torch.zeros(3), torch.zeros(3, 2, dtype=torch.int64), [[1.0, 2.0]]):
        with pytest.raises(ValueError, match="scores .*tensor of floats"):
            TieAwareLoss()(scores, [0] * 3)
    for shape in ((0, 8), (3, 0)):
        with pytest.raises(ValueError, match="scores .*one row and one bit"):
            TieAwareLoss()(torch.zeros(shape), [0] * shape[0])
    with pytest.raises(ValueError, match="scores contain NaN"):
        PairwiseLoss()(torch.full((3, 2), torch.nan), [0, 0, 1])
    for objective in ("hierarchical", Hierarchical()):
        with pytest.raises(ValueError, match=r"Hierarchical needs superclasses.*Got LabelAffinity"):
            PairwiseLoss(objective)(make_scores(), CLASSES)


@every_loss
def test_a_step_has_one_blas_thread(name, monkeypatch):
    seen = []
    loss = make_loss(name, affinity=HierarchicalAffinity())
    evaluate = type(loss.objective).value_and_gradient

    def watched(self, *given):
        seen.append(blas_threads())
        return evaluate(self, *given)

    monkeypatch.setattr(type(loss.objective), "value_and_gradient", watched)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        loss(make_scores(), PATHS).backward()
        assert blas_threads() == before
    assert seen == [{1}] * len(seen)
    assert seen


@pytest.mark.parametrize("name", sorted(set(LOSSES) - {"hierarchical", "nested"}))
@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32])
def test_one_hot_rows_are_classes(name, dtype):
    scores = make_scores()
    one_hot = torch.nn.functional.one_hot(CLASSES).to(dtype)
    value, gradient = value_and_gradient(make_loss(name), scores, CLASSES)
    found, found_gradient = value_and_gradient(make_loss(name), scores, one_hot)
    assert found == value
    assert torch.equal(found_gradient, gradient)
