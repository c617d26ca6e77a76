"""Additive quantizers: beam search, descent, tables, encoding and decoding."""

import functools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_hashrank import AdditiveQuantizer, _kernels, load_hasher, save_hasher
from sklearn_hashrank._features.nearest_rows import METRICS
from sklearn_hashrank._solvers import additive
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.neighbors import DecodedNeighbors
from tests.oracle import quantization


def problem(seed, n_rows=6, n_tables=3, size=4, n_features=3):
    """Small integers, whose products have no rounding in float32."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-9, 10, (n_rows, n_features)).astype(np.float32)
    tables = rng.integers(-9, 10, (n_tables, size, n_features)).astype(np.float32)
    return rows, tables


def fields_of(rows, tables):
    entries = tables.reshape(-1, tables.shape[2])
    return rows @ entries.T - (entries**2).sum(axis=1) / 2


@functools.cache
def digits():
    return load_digits().data


@functools.cache
def fitted(n_bytes=4, **options):
    return AdditiveQuantizer(n_bytes, max_iter=4, random_state=0, **options).fit(digits()[:900])


@parametrize_with_checks([AdditiveQuantizer(1, max_iter=1, beam_width=1, random_state=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@given(st.integers(0, 10_000), st.sampled_from([1, 2, 5, 70]))
def test_the_beam_search_is_the_literal_one(seed, width):
    rows, tables = problem(seed)
    codes = np.empty((len(rows), len(tables)), np.int64)
    coupling = additive.coupling_of(tables)
    _kernels.table_beams.search(fields_of(rows, tables), coupling, width, codes)
    for row, code in zip(rows, codes):
        expected = quantization.beam_search(row, tables, width)
        errors = [quantization.error(row, each, tables) for each in (code, expected)]
        assert errors[0] == errors[1] or width < 5  # among equals, another may go on to more
        if width == 70:  # all beginnings: the best of all codes
            assert errors[0] == errors[1]


@given(st.integers(0, 10_000))
def test_a_beam_of_one_takes_the_nearest_entry_of_what_is_left(seed):
    rows, tables = problem(seed)
    codes = np.empty((len(rows), len(tables)), np.int64)
    _kernels.table_beams.search(fields_of(rows, tables), additive.coupling_of(tables), 1, codes)
    left = rows.copy()
    for table, values in zip(tables, codes.T):
        distances = ((left[:, None] - table) ** 2).sum(axis=2)
        np.testing.assert_array_equal(values, distances.argmin(axis=1))
        left -= table[values]


@given(st.integers(0, 10_000))
def test_descent_is_the_literal_one_and_never_raises_the_error(seed):
    rows, tables = problem(seed)
    codes = np.random.default_rng(seed).integers(0, tables.shape[1], (len(rows), len(tables)))
    fields, found = fields_of(rows, tables), codes.copy()
    _kernels.table_descent.descend(fields, additive.coupling_of(tables), found, 100)
    expected = [quantization.descend(*pair, tables) for pair in zip(rows, codes)]
    np.testing.assert_array_equal(found, expected)
    for row, before, after in zip(rows, codes, found):
        assert quantization.error(row, after, tables) <= quantization.error(row, before, tables)
    # what is left in the fields is what a change would cost
    of_tables = fields.reshape(len(rows), *tables.shape[:2])
    changed = found.copy()
    changed[:, 1] = (changed[:, 1] + 1) % tables.shape[1]
    every = np.arange(len(rows))
    ahead = of_tables[every, 1, found[:, 1]] - of_tables[every, 1, changed[:, 1]]
    errors = [
        [quantization.error(row, code, tables) for row, code in zip(rows, each)]
        for each in (found, changed)
    ]
    np.testing.assert_array_equal(np.subtract(*errors[::-1]), 2 * ahead)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.5, 3.0, 100.0]))
def test_tables_are_the_best_of_their_codes(seed, ridge):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(50, 3)).astype(np.float32)
    codes = rng.integers(0, 5, (50, 2))
    tables = additive.fit_tables(rows, codes, ridge)
    left = rows - quantization.decoded(tables, codes)
    for part in range(2):  # the derivative is zero
        for value in range(7):
            slope = ridge * tables[part, value] - left[codes[:, part] == value].sum(axis=0)
            np.testing.assert_allclose(slope, 0, atol=1e-4)
    best = quantization.penalized_error(rows, codes, tables, ridge)
    other = tables + rng.normal(size=tables.shape).astype(np.float32) * 0.01
    assert best <= quantization.penalized_error(rows, codes, other, ridge)


def test_directions_are_dealt_so_that_products_are_alike():
    variances = 2.0 ** -np.arange(10)
    parts = additive.deal_directions(variances, 2)
    assert sorted(np.concatenate(parts)) == list(range(10))
    logs = [np.log2(variances[part]).sum() for part in parts]
    assert abs(logs[0] - logs[1]) <= 1
    assert [len(part) for part in parts] == [5, 5]


@pytest.mark.parametrize("n_bytes", [1, 4, 17])
def test_decoding_sums_the_entries_that_codes_name(n_bytes):
    quantizer, rows = fitted(n_bytes), digits()[900:940]
    codes = quantizer.transform(rows)
    assert codes.shape == (40, n_bytes)
    assert codes.dtype == np.uint8
    expected = quantization.decoded(quantizer.decoder_, codes) + quantizer.decoder_intercept_
    np.testing.assert_allclose(quantizer.inverse_transform(codes), expected)
    assert not hasattr(quantizer, "predict")
    assert quantizer.n_bits_ == 8 * n_bytes


@pytest.mark.parametrize("n_bytes", [4, 17])
def test_no_other_byte_lowers_the_error_of_a_new_row(n_bytes):
    quantizer, rows = fitted(n_bytes), digits()[900:915]
    codes = quantizer.transform(rows)
    errors = ((rows - quantizer.inverse_transform(codes)) ** 2).sum(axis=1)
    for part in range(n_bytes):
        for value in range(0, 256, 5):
            changed = codes.copy()
            changed[:, part] = value
            other = ((rows - quantizer.inverse_transform(changed)) ** 2).sum(axis=1)
            assert np.all(other >= errors - 1e-3)


def test_the_score_is_the_share_of_the_variance_that_is_kept():
    quantizer, rows = fitted(), digits()[900:]
    decoded = quantizer.inverse_transform(quantizer.transform(rows))
    mean = digits()[:900].mean(axis=0)
    expected = 1 - ((rows - decoded) ** 2).sum() / ((rows - mean) ** 2).sum()
    assert quantizer.score(rows) == pytest.approx(expected)
    assert quantizer.score(sparse.csr_matrix(rows)) == pytest.approx(expected)


def test_errors_are_of_the_training_rows():
    quantizer = fitted()
    assert len(quantizer.errors_) == quantizer.n_iter_ + 1 == 5
    assert quantizer.errors_[-1] < quantizer.errors_[0]
    assert quantizer.errors_[-1] == pytest.approx(1 - quantizer.score(digits()[:900]), abs=0.01)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_change_nothing(n_jobs):
    X = np.tile(digits(), (2, 1))
    one = AdditiveQuantizer(2, max_iter=2, random_state=0).fit(X)
    many = AdditiveQuantizer(2, max_iter=2, random_state=0, n_jobs=n_jobs).fit(X)
    np.testing.assert_array_equal(one.decoder_, many.decoder_)
    np.testing.assert_array_equal(one.transform(X), many.transform(X))


@pytest.mark.parametrize("n_bytes", [4, 17])
def test_one_row_has_the_code_it_has_among_others(n_bytes):
    X = digits()[900:]
    codes = fitted(n_bytes).transform(X)
    alone = [fitted(n_bytes).transform(X[i : i + 1])[0] for i in range(100)]
    differ = (np.array(alone) != codes[:100]).any(axis=1)
    assert differ.mean() <= 0.02  # rounding in blocks of other sizes
    np.testing.assert_array_equal(fitted(n_bytes).transform(sparse.csr_matrix(X)), codes)


def test_more_tables_lower_the_error_of_new_rows():
    scores = [fitted(n_bytes).score(digits()[900:]) for n_bytes in (1, 2, 4, 8)]
    assert np.all(np.diff(scores) > 0)


def test_wider_beams_lower_the_error():
    X, quantizer = digits()[900:], fitted()
    narrow = AdditiveQuantizer(4, max_iter=4, random_state=0, beam_width=1).fit(digits()[:900])
    wide = pickle.loads(pickle.dumps(narrow))
    wide._beam_width = 32
    assert wide.score(X) >= narrow.score(X)
    quantizer.set_params(beam_width=1)  # not before the next fit
    assert quantizer._beam_width == 8


@pytest.mark.parametrize("n_rows", [1, 3, 60])
def test_rows_may_be_few(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 5))
    quantizer = AdditiveQuantizer(2, max_iter=3, ridge=1e-3, random_state=0).fit(X)
    decoded = quantizer.inverse_transform(quantizer.transform(X))
    np.testing.assert_allclose(decoded, X, atol=0.05)


def test_rows_may_have_any_unit_and_offset():
    X = digits()[:300]
    plain = AdditiveQuantizer(2, max_iter=2, random_state=0).fit(X)
    other = AdditiveQuantizer(2, max_iter=2, random_state=0).fit(1024 * X + 512)
    np.testing.assert_array_equal(plain.transform(X), other.transform(1024 * X + 512))


def test_large_rows_are_sampled(monkeypatch):
    monkeypatch.setattr("sklearn_hashrank.hashers.additive._MOST_ROWS", 300)
    X = digits()
    sampled = AdditiveQuantizer(2, max_iter=1, random_state=0).fit(X)
    assert sampled.score(X) > 0.3


def test_memmaps_are_sampled_and_encoded_in_blocks(tmp_path):
    np.save(tmp_path / "rows.npy", digits())
    X = np.load(tmp_path / "rows.npy", mmap_mode="r")
    quantizer = AdditiveQuantizer(2, max_iter=1, random_state=0).fit(X)
    codes = quantizer.encode_blocks(X, batch_size=100)
    np.testing.assert_array_equal(codes, quantizer.transform(digits()))


def test_files_and_pickles_leave_out_what_follows_from_the_tables(tmp_path):
    quantizer, X = fitted(17), digits()[900:]
    codes = quantizer.transform(X)
    save_hasher(tmp_path / "quantizer", quantizer)
    assert pickle.loads(pickle.dumps(quantizer))._couplings is None
    assert (tmp_path / "quantizer").stat().st_size < quantizer._couplings[0].nbytes
    for again in (pickle.loads(pickle.dumps(quantizer)), load_hasher(tmp_path / "quantizer")):
        np.testing.assert_array_equal(again.transform(X), codes)
        np.testing.assert_array_equal(again.decoder_, quantizer.decoder_)


@pytest.mark.parametrize(
    ("name", "value"),
    [("decoder_", np.zeros((4, 16, 64))), ("_tables", [np.zeros((3, 256, 64), np.float32)])],
)
def test_tables_that_do_not_fit_are_not_stored(tmp_path, name, value):
    quantizer = pickle.loads(pickle.dumps(fitted()))
    setattr(quantizer, name, value)
    with pytest.raises(ValueError, match="tables|decoder_"):
        save_hasher(tmp_path / "quantizer", quantizer)


def test_verbose_prints_the_error_of_each_alternation(capsys):
    AdditiveQuantizer(1, max_iter=2, random_state=0, verbose=1).fit(digits()[:300])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "iteration 2" in lines[-1]


@pytest.mark.parametrize("metric", METRICS)
def test_the_index_ranks_by_what_codes_decode_to(metric):
    quantizer, X = fitted(), digits()
    codes = quantizer.transform(X)
    index = DecodedNeighbors(quantizer, 12, metric=metric).fit(codes)
    distances, indices = index.kneighbors(X[:9])
    decoded = quantizer.inverse_transform(codes)
    if metric == "inner_product":
        expected = -X[:9] @ decoded.T
    elif metric == "cosine":
        lengths = np.linalg.norm(X[:9], axis=1)[:, None] * np.linalg.norm(decoded, axis=1)
        expected = 1 - X[:9] @ decoded.T / lengths
    else:
        expected = np.linalg.norm(X[:9, None] - decoded, axis=2)
    size = np.abs(expected).max()
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :12], atol=2e-5 * size)
    found = np.take_along_axis(expected, indices, axis=1)
    np.testing.assert_allclose(distances, found, atol=2e-5 * size)


def test_compare_ranks_by_decoded_rows():
    found = compare(
        digits()[:400],
        methods=["additive:distance=decoded"],
        n_bits=[16],
        seeds=1,
        measures="recall@10",
    )
    [result] = found.results
    assert result.scores["recall@10"] > 0
    with pytest.raises(ValueError, match=r"'n_bytes'.*1\.5"):
        compare(digits()[:400], methods=["additive:distance=decoded"], n_bits=[12], seeds=1)
