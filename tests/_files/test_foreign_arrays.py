"""Tensors of torch, matrices of MATLAB and arrays that are codes."""

import sys
import zipfile

import numpy as np
import pytest
from scipy.io import savemat

from sklearn_hashrank._files.matlab import read_matrices
from sklearn_hashrank._files.reading import MalformedFileError
from sklearn_hashrank.codes import read_codes
from sklearn_hashrank.codes._reading import codes_of_array

SIGNS = np.random.default_rng(0).choice([-1.0, 1.0], (20, 16)).astype(np.float32)


def test_files_of_tensors_need_torch(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with zipfile.ZipFile(tmp_path / "codes.pt", "w") as archive:
        archive.writestr("codes/data.pkl", b"")
    with pytest.raises(MalformedFileError, match=r"codes.pt: torch is needed .* \.npy"):
        read_codes(tmp_path / "codes.pt")


@pytest.mark.parametrize("is_compressed", [False, True])
def test_all_matrices_of_a_matlab_file(tmp_path, is_compressed):
    path = tmp_path / "a.mat"
    saved = {
        "B": SIGNS,
        "flags": SIGNS > 0,
        "cells": np.array(["a", {"x": 1}], dtype=object),
        "words": "text",
        "big": np.arange(6, dtype=np.int64).reshape(2, 3),
        "complex": np.eye(2) * 1j,
    }
    savemat(path, saved, do_compression=is_compressed)
    found = read_matrices(path)
    assert set(found) == {"B", "flags", "big"}
    for name, matrix in found.items():
        np.testing.assert_array_equal(matrix, saved[name])


def test_newer_matlab_files_say_how_to_save_again(tmp_path):
    path = tmp_path / "a.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512) + b"\x89HDF")
    with pytest.raises(MalformedFileError, match='save it again by save.*"-v7"'):
        read_matrices(path)


def test_types_of_numbers_that_matlab_does_not_have(tmp_path):
    """They lead scipy to an address."""
    path = tmp_path / "a.mat"
    savemat(path, {"B": SIGNS})
    content = bytearray(path.read_bytes())
    place = content.index(SIGNS.T.tobytes()) - 8
    for kind in (0, 8, 43, 256, 0xFFFF):
        content[place : place + 4] = kind.to_bytes(4, "little")
        path.write_bytes(content)
        assert read_matrices(path) == {}


def test_arrays_that_are_codes():
    for wrong in (True, "0", np.nan, np.inf):
        with pytest.raises(ValueError, match="threshold"):
            codes_of_array(SIGNS, threshold=wrong)
    assert codes_of_array(SIGNS.tolist()).n_bits == 16
    assert codes_of_array(np.full((3, 2), 255, np.uint8), n_bits=16).n_bits == 16
    assert codes_of_array(np.zeros((3, 9), np.uint8)).n_bits == 9
    for packed in (np.packbits(SIGNS > 0, axis=1), SIGNS.astype(np.int8).astype(np.uint8)):
        with pytest.raises(ValueError, match="threshold"):
            codes_of_array(packed, threshold=0)
    assert codes_of_array((SIGNS > 0).astype(np.uint8), threshold=0.5).n_bits == 16
    with pytest.raises(ValueError, match="7 columns.* n_bits"):
        codes_of_array(np.zeros((3, 7), np.uint8))
