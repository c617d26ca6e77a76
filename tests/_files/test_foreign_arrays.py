"""Tensors of torch and matrices of MATLAB, read without running anything."""

import os
import zipfile

import numpy as np
import pytest
from scipy.io import savemat

from sklearn_hashrank._files.matlab import read_matrices
from sklearn_hashrank._files.reading import MalformedFileError
from sklearn_hashrank._files.torch_archive import read_tensors
from sklearn_hashrank.codes import codes_of_array, read_codes
from tests.saved_tensors import save, tensor, text

SIGNS = np.random.default_rng(0).choice([-1.0, 1.0], (20, 16)).astype(np.float32)
LABELS = np.arange(20) % 3


@pytest.fixture
def path(tmp_path):
    return tmp_path / "codes.pt"


def test_a_tensor_and_a_dict_of_tensors(path):
    save(path, tensor(SIGNS, 0), [SIGNS])
    np.testing.assert_array_equal(read_tensors(path)[""], SIGNS)
    codes, n_bits = read_codes(path)
    np.testing.assert_array_equal(codes, SIGNS)
    assert n_bits == 16
    body = b"}(" + text("codes") + tensor(SIGNS > 0, 0) + text("y") + tensor(LABELS, 1) + b"u"
    save(path, body, [SIGNS > 0, LABELS])
    found = read_tensors(path)
    assert found["codes"].dtype == bool
    np.testing.assert_array_equal(found["y"], LABELS)
    np.testing.assert_array_equal(read_codes(f"{path}:codes").codes, SIGNS > 0)


def test_views_of_a_storage(path):
    body = tensor(SIGNS, 0, offset=17, shape=(2, 5), strides=(1, 32))
    save(path, body, [SIGNS])
    np.testing.assert_array_equal(read_tensors(path)[""], SIGNS[1:10:2, 1:3].T)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"cos\nsystem\n" + b"(" + text("touch ran") + b"tR", "it holds os.system; save tensors"),
        (b"cbuiltins\neval\n" + b"(" + text("1") + b"tR", "it holds builtins.eval"),
        (b"ctorch.storage\n_load_from_bytes\n(tR", "it holds torch.storage._load_from_bytes"),
        (b"]", "it holds no tensor"),
        (text("words"), "it holds no tensor"),
        (tensor(SIGNS, 0, offset=1), "lies outside of its storage"),
        (tensor(SIGNS, 0, strides=(17, 1)), "lies outside of its storage"),
        (tensor(SIGNS, 0, strides=(-1, 1)), "a tensor of shape"),
        (tensor(SIGNS, 0, shape=(400, 400), strides=(0, 0)), "lies outside of its storage"),
        (tensor(SIGNS, 0, n_numbers=7), "storage 0 has not as many numbers"),
        (tensor(SIGNS, 5), "There is no item named 'archive/data/5'"),
        (tensor(SIGNS, "../../x"), "refers to something that is no storage"),
    ],
)
def test_nothing_else_comes_out_of_a_file_of_tensors(path, monkeypatch, body, message):
    monkeypatch.chdir(path.parent)
    save(path, body, [SIGNS])
    with pytest.raises(MalformedFileError, match=message):
        read_tensors(path)
    assert os.listdir() == [path.name]


def test_archives_that_torch_does_not_write(path):
    save(path, tensor(SIGNS, 0), [SIGNS], compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(MalformedFileError, match="its members are compressed"):
        read_tensors(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"x")
    with pytest.raises(MalformedFileError, match="it has no data.pkl"):
        read_tensors(path)


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


def test_arrays_that_are_codes():
    for wrong in (True, "0", np.nan, np.inf):
        with pytest.raises(ValueError, match="threshold must be a finite float or None"):
            codes_of_array(SIGNS, threshold=wrong)
    assert codes_of_array(SIGNS.tolist()).n_bits == 16
    assert codes_of_array(np.full((3, 2), 255, np.uint8), n_bits=16).n_bits == 16
    assert codes_of_array(np.zeros((3, 9), np.uint8)).n_bits == 9
    for packed in (np.packbits(SIGNS > 0, axis=1), SIGNS.astype(np.int8).astype(np.uint8)):
        with pytest.raises(ValueError, match="are bytes beyond 0 and 1, .* have no threshold"):
            codes_of_array(packed, threshold=0)
    assert codes_of_array((SIGNS > 0).astype(np.uint8), threshold=0.5).n_bits == 16
    with pytest.raises(ValueError, match="are bytes in 7 columns, bits or packed"):
        codes_of_array(np.zeros((3, 7), np.uint8))
