"""Metrics of tensors: on the host or not, in half precision, sparse, or part of a gradient."""

import numpy as np
import pytest
import torch

from sklearn_hashrank.codes import hamming_distances, weighted_distances
from sklearn_hashrank.metrics import (
    code_usage,
    distance_histogram,
    index_recall_score,
    tie_aware_average_precision_score,
)
from tests.foreign_arrays import ENTRIES

RNG = np.random.default_rng(0)
BITS, Y = RNG.integers(0, 2, (50, 16)), RNG.integers(0, 3, 50)
FORMS = {
    "bits": torch.tensor(BITS),
    "half": torch.tensor(2 * BITS - 1, dtype=torch.bfloat16),
    "gradient": torch.tensor(2.0 * BITS - 1, requires_grad=True),
    "sparse": torch.tensor(BITS).to_sparse(),
}


@pytest.mark.parametrize("codes", FORMS.values(), ids=FORMS)
def test_codes_may_be_tensors(codes):
    y = torch.tensor(Y)
    expected = tie_aware_average_precision_score(Y, BITS)
    assert tie_aware_average_precision_score(y, codes) == expected
    database = (y, codes)
    found = tie_aware_average_precision_score(y[:9], codes.to_dense()[:9], database=database)
    assert found == tie_aware_average_precision_score(Y[:9], BITS[:9], database=(Y, BITS))
    assert code_usage(codes).n_distinct == code_usage(BITS).n_distinct
    np.testing.assert_array_equal(hamming_distances(codes, codes), hamming_distances(BITS, BITS))


def test_distances_and_weights_may_be_part_of_a_gradient():
    distances = torch.cdist(torch.tensor(2.0 * BITS), torch.tensor(2.0 * BITS)).requires_grad_()
    found = distance_histogram(distances, torch.tensor(Y), exclude_self=True)
    expected = distance_histogram(distances.detach().numpy(), Y, exclude_self=True)
    np.testing.assert_array_equal(found.counts, expected.counts)
    assert index_recall_score(distances, distances) > 0
    weights = torch.arange(16.0, requires_grad=True)
    expected = weighted_distances(BITS, BITS, np.arange(16.0))
    np.testing.assert_array_equal(weighted_distances(BITS, BITS, weights), expected)


KINDS = {
    "plain": torch.tensor,
    "bfloat16": lambda a: torch.tensor(a, dtype=torch.bfloat16 if a.dtype.kind == "f" else None),
    "gradient": lambda a: torch.tensor(a, requires_grad=a.dtype.kind == "f"),
    "sparse": lambda a: torch.tensor(a).to_sparse(),
    "view": lambda a: torch._neg_view(torch.tensor(-a)) if a.dtype.kind == "f" else torch.tensor(a),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_tensors_are_read_wherever_arrays_come_in(name):
    """Numbers that bfloat16 does not hold are not among them."""
    entry = ENTRIES[name]
    expected = entry(np.asarray)
    for kind, convert in KINDS.items():
        np.testing.assert_array_equal(entry(convert), expected, err_msg=kind)
