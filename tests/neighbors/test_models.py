"""An index knows which hasher made its codes, and refuses those of another."""

import numpy as np
import pytest

from sklearn_hashrank import BinaryAutoencoderHasher, HammingNeighbors, LSHHasher
from sklearn_hashrank._files.model_names import model_name
from sklearn_hashrank.codes import load_codes
from sklearn_hashrank.neighbors import DecodedNeighbors

X = np.random.default_rng(0).normal(size=(300, 8))
OTHER = "the codes of another model"


@pytest.fixture
def mapped(tmp_path):
    """Two hashers of equal length, and codes of both in files."""
    hashers = [LSHHasher(64, random_state=seed).fit(X) for seed in (0, 1)]
    codes = []
    for number, hasher in enumerate(hashers):
        hasher.encode_blocks(X, out=tmp_path / f"{number}.npy")
        codes.append(load_codes(tmp_path / f"{number}.npy"))
    return hashers, codes


def test_queries_and_additions_of_another_hasher_are_refused(mapped):
    hashers, codes = mapped
    index = HammingNeighbors(3, n_bits=64).fit(codes[0])
    assert index.model_ == model_name(hashers[0])
    for use in (index.kneighbors, index.add, index.partial_fit, index.radius_neighbors):
        with pytest.raises(ValueError, match=OTHER):
            use(codes[1])
    index.add(codes[0][:5])
    assert (index.kneighbors(codes[0][:5])[0][:, :2] == 0).all()
    index.kneighbors(np.array(codes[1]))  # whose model nobody knows


def test_files_keep_the_name_of_the_hasher(mapped, tmp_path):
    hashers, codes = mapped
    path = tmp_path / "index.npy"
    HammingNeighbors(3, n_bits=64).fit(np.array(codes[0]), hasher=hashers[0]).save(path)
    assert HammingNeighbors.load(path).model_ == model_name(hashers[0])
    HammingNeighbors.load(path, hasher=hashers[0])
    with pytest.raises(ValueError, match=OTHER):
        HammingNeighbors.load(path, hasher=hashers[1])
    with pytest.raises(ValueError, match=OTHER):
        HammingNeighbors.load(path).kneighbors(codes[1])
    with pytest.raises(ValueError, match=OTHER):
        HammingNeighbors(3, n_bits=64).fit(codes[0], hasher=hashers[1])
    HammingNeighbors(3, n_bits=64).fit(np.array(codes[0])).save(path)
    assert HammingNeighbors.load(path, hasher=hashers[1]).model_ is None


def test_decoded_codes_are_those_of_the_hasher(tmp_path):
    hashers = [BinaryAutoencoderHasher(16, random_state=seed).fit(X) for seed in (0, 1)]
    for number, hasher in enumerate(hashers):
        hasher.encode_blocks(X, out=tmp_path / f"{number}.npy")
    codes = [load_codes(tmp_path / f"{number}.npy") for number in (0, 1)]
    DecodedNeighbors(hashers[0]).fit(codes[0])
    with pytest.raises(ValueError, match=OTHER):
        DecodedNeighbors(hashers[0]).fit(codes[1])
