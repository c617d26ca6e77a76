"""An indicator with exactly one label in every training row is class labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sklearn_hashrank import (
    HierarchicalAffinity,
    LabelAffinity,
    RetrievalHistogram,
    RSHHasher,
    SharedLabelAffinity,
    TALRLinear,
    load_hasher,
    retrieval_histogram,
    save_hasher,
)
from sklearn_hashrank.metrics import tie_aware_average_precision_score, tie_aware_ndcg_score
from tests.instances import ENCODERS

RNG = np.random.default_rng(0)
N_CLASSES = 4
Y = RNG.integers(0, N_CLASSES, 120)
Y[:N_CLASSES] = range(N_CLASSES)
X = RNG.normal(size=(120, 6)) + np.eye(N_CLASSES, 6)[Y]
ONE_HOT = np.eye(N_CLASSES)[Y]
FORMS = {
    "floats": ONE_HOT,
    "ints": ONE_HOT.astype(np.int8),
    "bools": ONE_HOT > 0,
    "lists": ONE_HOT.astype(int).tolist(),
    "csr": sparse.csr_array(ONE_HOT.astype(int)),
}
SETS = ONE_HOT + (np.arange(N_CLASSES) == (Y[:, None] + 1) % N_CLASSES) * (Y[:, None] == 2)


@pytest.mark.parametrize("hasher", ENCODERS, ids=repr)
def test_every_hasher_learns_the_same_codes(hasher):
    hasher = clone(hasher).set_params(n_bits=6)
    by_labels = clone(hasher).fit(X, Y)
    by_indicator = clone(hasher).fit(X, ONE_HOT)
    np.testing.assert_array_equal(by_indicator.transform(X), by_labels.transform(X))
    assert by_indicator.score(X, ONE_HOT) == by_labels.score(X, Y)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_an_indicator(form):
    hasher = TALRLinear(8, max_iter=3, random_state=0)
    np.testing.assert_array_equal(
        clone(hasher).fit(X, FORMS[form]).transform(X), clone(hasher).fit(X, Y).transform(X)
    )


def test_blocks():
    for hasher in (TALRLinear(6, max_iter=2, random_state=0), RSHHasher(6, random_state=0)):
        by_labels, by_indicator = clone(hasher), clone(hasher)
        for part in (slice(0, 60), slice(60, 120)):
            by_labels.partial_fit(X[part], Y[part])
            by_indicator.partial_fit(X[part], ONE_HOT[part])
        np.testing.assert_array_equal(by_indicator.transform(X), by_labels.transform(X))


@pytest.mark.parametrize("hasher", [TALRLinear(6, max_iter=2), RSHHasher(6)], ids=repr)
def test_dask_arrays(hasher):
    da = pytest.importorskip("dask.array")
    hasher = clone(hasher).set_params(random_state=0)
    rows = da.from_array(X, chunks=(40, -1))
    by_labels = clone(hasher).fit(rows, da.from_array(Y, chunks=40))
    by_indicator = clone(hasher).fit(rows, da.from_array(ONE_HOT, chunks=(40, -1)))
    np.testing.assert_array_equal(by_indicator.transform(X), by_labels.transform(X))


def test_a_file_keeps_what_the_columns_are(tmp_path):
    hasher = TALRLinear(6, max_iter=2, random_state=0).fit(X, ONE_HOT)
    save_hasher(tmp_path / "hasher", hasher)
    assert load_hasher(tmp_path / "hasher").score(X, ONE_HOT) == hasher.score(X, ONE_HOT)


@pytest.mark.parametrize("score", [tie_aware_average_precision_score, tie_aware_ndcg_score])
def test_metrics_are_equal(score):
    codes = (X > 0).astype(np.uint8)
    assert score(ONE_HOT, codes) == score(Y, codes)
    assert score(ONE_HOT[:9], codes[:9], database=(ONE_HOT, codes)) == score(
        Y[:9], codes[:9], database=(Y, codes)
    )


def test_an_evaluation_may_meet_more_labels_than_its_first_block_has():
    codes = (X > 0).astype(np.uint8)
    blocks = ((codes[part], SETS[part]) for part in (slice(0, 2), slice(2, 120)))
    assert (SETS[:2].sum(axis=1) == 1).all()
    assert isinstance(retrieval_histogram(codes[:5], blocks, SETS[:5]), RetrievalHistogram)


def test_a_label_more_makes_label_sets():
    hasher = TALRLinear(6, max_iter=2, random_state=0).fit(X, SETS)
    assert isinstance(hasher.affinity_, SharedLabelAffinity)
    assert isinstance(clone(hasher).fit(X, ONE_HOT).affinity_, LabelAffinity)


def test_an_explicit_affinity_decides():
    hasher = TALRLinear(6, affinity=SharedLabelAffinity(), max_iter=2, random_state=0)
    assert isinstance(hasher.fit(X, ONE_HOT).affinity_, SharedLabelAffinity)
    assert isinstance(
        hasher.set_params(affinity=HierarchicalAffinity()).fit(X, ONE_HOT.astype(int)).affinity_,
        HierarchicalAffinity,
    )


@pytest.mark.parametrize("wrong", [SETS, np.zeros((2, N_CLASSES)), 0.5 * (SETS[Y == 2])])
def test_classes_accept_one_label_in_each_row(wrong):
    fitted = LabelAffinity().fit(ONE_HOT)
    with pytest.raises(ValueError, match="SharedLabelAffinity"):
        fitted.validate(wrong)


def test_classes_accept_as_many_columns_as_they_were_fitted_with():
    with pytest.raises(ValueError, match=f"3 labels.*{N_CLASSES}"):
        LabelAffinity().fit(ONE_HOT).validate(np.eye(3))
