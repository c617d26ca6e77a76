"""Input that no hasher can take: a message that says what was given, never a raw error."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sklearn_hashrank import DispersionHasher, LSHHasher, TALRKernel, TALRLinear
from tests.instances import ENCODERS, HAS_TORCH

X = np.random.default_rng(0).normal(size=(40, 6))
Y = np.arange(40) % 4
# One door takes all rows, but those of networks.
ONE_OF_EACH_DOOR = {type(each)._check_rows: each for each in reversed(ENCODERS)}.values()
every_door = pytest.mark.parametrize("hasher", ONE_OF_EACH_DOOR, ids=repr)


@pytest.mark.parametrize("hasher", ENCODERS, ids=repr)
def test_bits_are_bounded(hasher):
    with pytest.raises(ValueError, match="n_bits.*10000000"):
        clone(hasher).set_params(n_bits=10**7).fit(X, Y)


@every_door
def test_images_are_no_rows_of_features(hasher):
    if type(hasher).__name__ == "DeepHasher":
        pytest.skip("takes images")
    with pytest.raises(ValueError, match=r"\(40, 2, 3\).*GIST.*reshape.*DeepHasher"):
        clone(hasher).fit(X.reshape(40, 2, 3), Y)


@every_door
@pytest.mark.parametrize("dtype", [None, object])
def test_integers_beyond_all_floats(hasher, dtype):
    rows = np.array([[10**400, 1], *np.arange(78).reshape(39, 2).tolist()], dtype=object)
    with pytest.raises(ValueError, match="X holds integers"):
        clone(hasher).fit(rows if dtype else rows.tolist(), Y)


@every_door
def test_parameters_beyond_64_bits(hasher):
    for name, value in hasher.get_params(deep=False).items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            with pytest.raises(ValueError, match=name):
                clone(hasher).set_params(**{name: 10**400}).fit(X, Y)


@every_door
def test_sparse_arrays_of_one_axis(hasher):
    # Older versions of scipy say "1d".
    with pytest.raises(ValueError, match=r"\(40,\)|1d"):
        clone(hasher).fit(sparse.coo_array(np.arange(40.0)), Y)
    with pytest.raises(ValueError, match=r"y.*\(40,\)"):
        clone(hasher).fit(X, sparse.coo_array(Y))


@pytest.mark.skipif(not HAS_TORCH, reason="needs torch")
@every_door
def test_tensors_without_values(hasher):
    import torch

    with pytest.raises(ValueError, match="X .*'meta'"):
        clone(hasher).fit(torch.zeros(40, 6, device="meta"), Y)
    with pytest.raises(ValueError, match="y .*'meta'"):
        clone(hasher).fit(X, torch.zeros(40, device="meta"))


@pytest.mark.parametrize(
    ("hasher", "name", "instead"),
    [
        (TALRLinear(objective="ap"), "objective__alpha", r"AveragePrecision\(alpha=3\)"),
        (TALRLinear(), "objective__alpha", r"AutoRanking\(alpha=3\)"),
        (TALRKernel(objective="mi"), "objective__n_bins", r"MutualInformation\(n_bins=3\)"),
        (DispersionHasher(), "objective__margin", r"Dispersed\(margin=3\)"),
        (TALRLinear(), "affinity__percentiles", "affinity='auto'"),
    ],
)
def test_names_have_no_parameters(hasher, name, instead):
    with pytest.raises(ValueError, match=instead):
        hasher.set_params(**{name: 3})


def test_names_and_objects_are_set_at_once():
    from sklearn_hashrank.objectives import AveragePrecision

    hasher = TALRLinear().set_params(objective=AveragePrecision(), objective__alpha=3)
    assert hasher.objective.alpha == 3
    with pytest.raises(ValueError, match="no_such"):
        LSHHasher().set_params(no_such=3)
