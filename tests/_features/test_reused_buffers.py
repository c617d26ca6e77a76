"""Callers may read every block into one buffer: what is looked at later is a copy."""

import numpy as np
import pytest

from sklearn_hashrank import LSHHasher, retrieval_histogram

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 50, 5)) + RNG.normal(size=(6, 1, 5))
Y = RNG.integers(0, 3, (6, 50))
CODES = RNG.integers(0, 256, (6, 50, 8), dtype=np.uint8)


def reused(*parts):
    """Blocks, each of which is in the buffers of the one before."""
    buffers = [part[0].copy() for part in parts]
    for block in zip(*parts):
        for buffer, content in zip(buffers, block):
            buffer[:] = content
        yield tuple(buffers) if len(parts) > 1 else buffers[0]
    for buffer in buffers:
        buffer[:] = 0


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_rows_are_encoded_as_they_were_given(n_jobs):
    hasher = LSHHasher(64, random_state=0).fit(X[0])
    codes = hasher.encode_blocks(reused(X), n_jobs=n_jobs)
    np.testing.assert_array_equal(codes, hasher.packed_codes(X.reshape(-1, 5)))
    pairs = hasher.encode_blocks(reused(X, Y), n_jobs=n_jobs)
    for (block, y), rows, expected in zip(pairs, X, Y, strict=True):
        np.testing.assert_array_equal(block, hasher.packed_codes(rows))
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("keep_codes", [False, True])
def test_a_database_is_counted_as_it_was_given(n_jobs, keep_codes):
    options = {"n_bits": 64, "n_jobs": n_jobs, "keep_codes": keep_codes}
    found, expected = (
        retrieval_histogram(CODES[0], blocks, Y[0], **options)
        for blocks in (reused(CODES, Y), iter([(c.copy(), y) for c, y in zip(CODES, Y)]))
    )
    np.testing.assert_array_equal(found.counts, expected.counts)
    if keep_codes:
        np.testing.assert_array_equal(found.code_usage().counts, expected.code_usage().counts)
