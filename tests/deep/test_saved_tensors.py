"""Tensors that torch saved: dense ones come back, and nothing else does."""

import os
import pickle
import zipfile

import numpy as np
import pytest
import torch

from sklearn_hashrank._files.reading import MalformedFileError
from sklearn_hashrank._files.tensors import read_tensors

SIGNS = np.random.default_rng(0).choice([-1.0, 1.0], (20, 16)).astype(np.float32)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "codes.pt"


def test_dense_tensors_by_name(path):
    signs = torch.from_numpy(SIGNS)
    saved = {
        "codes": signs,
        "half": signs.half(),
        "b": signs.bfloat16(),
        "part": signs[::2, 1:3].t(),
        "parameter": torch.nn.Parameter(signs.double()),
        "empty": signs[:0],
        "bits": signs > 0,
        "word": "text",
        "sparse": signs.to_sparse(),
        "complex": signs * 1j,
    }
    torch.save(saved, path)
    found = read_tensors(path)
    assert list(found) == ["codes", "half", "b", "part", "parameter", "empty", "bits"]
    for name, array in found.items():
        np.testing.assert_array_equal(array, saved[name].detach().float().numpy())
    assert found["b"].dtype == np.float32
    assert found["bits"].dtype == bool
    torch.save(signs, path)
    np.testing.assert_array_equal(read_tensors(path)[""], SIGNS)


class _Calls:
    def __reduce__(self):
        return os.system, ("touch ran",)


class _Stored:
    """A tensor of any claims about the numbers of another."""

    def __init__(self, *claims):
        self.claims = claims

    def __reduce__(self):
        return torch._utils._rebuild_tensor_v2, (_Storage(), *self.claims, False, {})


class _Storage:
    pass


class _Pickler(pickle.Pickler):
    def persistent_id(self, value):
        return ("storage", torch.FloatStorage, "0", "cpu", 320) if type(value) is _Storage else None


def _replace_pickle(path, saved):
    """Put another pickle beside the numbers of SIGNS."""
    torch.save(torch.from_numpy(SIGNS), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            with archive.open(name, "w") as file:
                if name.endswith("data.pkl"):
                    _Pickler(file, 2).dump(saved)
                else:
                    file.write(content)


def test_numbers_in_another_pickle(path):
    _replace_pickle(path, _Stored(0, (20, 16), (16, 1)))
    np.testing.assert_array_equal(read_tensors(path)[""], SIGNS)


@pytest.mark.parametrize(
    "saved",
    [
        *(_Calls(), {"codes": _Calls()}, "words", [], {}, [_Stored(0, (20, 16), (16, 1))]),
        _Stored(1, (20, 16), (16, 1)),
        _Stored(0, (20, 16), (17, 1)),
        _Stored(0, (20, 16), (-1, 1)),
        _Stored(-1, (20, 16), (16, 1)),
        _Stored(0, (400, 400), (0, 0)),
        _Stored(0, (1 << 40, 1 << 40), (0, 0)),
        {number: _Stored(0, (20, 16), (16, 1)) for number in range(50)},
    ],
    ids=lambda saved: type(saved).__name__,
)
def test_nothing_else_comes_out_of_a_file(path, saved):
    _replace_pickle(path, saved)
    with pytest.raises(MalformedFileError, match="codes.pt"):
        read_tensors(path)
    assert os.listdir() == [path.name]


def test_archives_that_torch_does_not_write(path):
    torch.save(torch.from_numpy(SIGNS), path, _use_new_zipfile_serialization=False)
    with pytest.raises(MalformedFileError, match="not a zip archive"):
        read_tensors(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("codes/data.pkl", b"x")
    with pytest.raises(MalformedFileError, match="compressed"):
        read_tensors(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"x")
    with pytest.raises(MalformedFileError, match="codes.pt"):
        read_tensors(path)
