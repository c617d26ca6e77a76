"""Tensors that torch saved are read without torch."""

import numpy as np
import pytest
import torch

from sklearn_hashrank._files.reading import MalformedFileError
from sklearn_hashrank._files.torch_archive import read_tensors

SIGNS = np.random.default_rng(0).choice([-1.0, 1.0], (20, 16)).astype(np.float32)


def test_tensors_of_torch(tmp_path):
    path = tmp_path / "codes.pt"
    signs = torch.from_numpy(SIGNS)
    saved = {
        "codes": signs,
        "half": signs.half(),
        "b": signs.bfloat16(),
        "part": signs[::2, 1:3].t(),
        "parameter": torch.nn.Parameter(signs),
        "word": "text",
    }
    torch.save(saved, path)
    found = read_tensors(path)
    assert list(found) == [name for name in saved if name != "word"]
    for name, array in found.items():
        np.testing.assert_array_equal(array, saved[name].detach().float().numpy())
    torch.save([signs > 0], path)
    np.testing.assert_array_equal(read_tensors(path)["0"], SIGNS > 0)
    torch.save(signs, path, _use_new_zipfile_serialization=False)
    with pytest.raises(MalformedFileError, match="no zip archive; save it by torch 1.6 or later"):
        read_tensors(path)
