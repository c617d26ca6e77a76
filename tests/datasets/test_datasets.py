"""Loaders: every format they read, and what they say where nothing can be read. No network."""

import functools
import gzip
import io
import pickle
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from sklearn_hashrank.datasets import (
    _loaders,
    fetch_cifar10,
    fetch_fashion_mnist,
    fetch_mnist,
    load_digits_gist,
)
from sklearn_hashrank.feature_extraction import GIST

IDX_PARTS = {"train": ("train", 6), "test": ("t10k", 4)}
CIFAR_BATCHES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
OFFLINE = {"download_if_missing": False}


def to_idx(array):
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes()


@functools.cache
def idx_arrays(part):
    rng = np.random.default_rng(len(part))
    n = IDX_PARTS[part][1]
    return rng.integers(0, 256, (n, 4, 5), np.uint8), rng.integers(0, 10, n, np.uint8)


def idx_files():
    """Contents of the four files of a tiny MNIST, by name without .gz."""
    files = {}
    for part, (prefix, _) in IDX_PARTS.items():
        images, labels = idx_arrays(part)
        files[f"{prefix}-images-idx3-ubyte"] = to_idx(images)
        files[f"{prefix}-labels-idx1-ubyte"] = to_idx(labels)
    return files


def write_idx(folder, compressed, files=None):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (files or idx_files()).items():
        if compressed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)


@functools.cache
def cifar_batch(name):
    """Two images, (2, 3072) plane by plane, and their labels."""
    rng = np.random.default_rng(CIFAR_BATCHES.index(name))
    return rng.integers(0, 256, (2, 3072), np.uint8), rng.integers(0, 10, 2, np.uint8)


def cifar_binary():
    return {
        f"{name}.bin": np.column_stack(cifar_batch(name)[::-1]).tobytes() for name in CIFAR_BATCHES
    }


def to_tar(files, folder):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, data in {"readme.html": b"hello", **files}.items():
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return content.getvalue()


def write_files(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


@pytest.fixture(autouse=True)
def _no_other_copy(monkeypatch, tmp_path):
    """No data set of the machine, and no network."""

    def fail(url, *arguments, **options):
        raise OSError("no network")

    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    alone = _loaders.FASHION_MNIST._replace(folders=_loaders.FASHION_MNIST.folders[:-1])
    monkeypatch.setattr(_loaders, "FASHION_MNIST", alone)
    monkeypatch.setattr(_loaders, "fetch_file", fail)


# Local copies.


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize(
    ("fetch", "folder"),
    [
        (fetch_mnist, "mnist"),
        (fetch_mnist, "MNIST/raw"),
        (fetch_mnist, "."),
        (fetch_fashion_mnist, "fashion_mnist"),
        (fetch_fashion_mnist, "FashionMNIST/raw"),
    ],
)
def test_idx_files_are_read_where_they_are(tmp_path, fetch, folder, compressed):
    write_idx(tmp_path / folder, compressed)
    for part in ("train", "test"):
        images, labels = idx_arrays(part)
        found = fetch(data_home=tmp_path, subset=part, **OFFLINE)
        assert_array_equal(found.images, images)
        assert_array_equal(found.data, images.reshape(len(images), -1))
        assert_array_equal(found.target, labels)
        assert found.data.dtype == np.uint8
        assert found.target.dtype == np.int64
    both = fetch(data_home=str(tmp_path), **OFFLINE)
    expected = [np.concatenate(arrays) for arrays in zip(idx_arrays("train"), idx_arrays("test"))]
    assert_array_equal(both.images, expected[0])
    assert_array_equal(both.target, expected[1])
    assert len(both.target_names) == 10


def test_data_home_is_that_of_scikit_learn(tmp_path):
    write_idx(tmp_path / "home" / "mnist", compressed=True)
    assert fetch_mnist(**OFFLINE).data.shape == (10, 20)
    with pytest.raises(OSError, match="CIFAR-10"):
        fetch_cifar10(**OFFLINE)


def test_the_systems_copy_is_read_if_there_is_no_other(tmp_path, monkeypatch):
    write_idx(tmp_path / "system", compressed=True)
    folders = ("fashion_mnist", str(tmp_path / "system"))
    system = _loaders.FASHION_MNIST._replace(folders=folders)
    monkeypatch.setattr(_loaders, "FASHION_MNIST", system)
    assert fetch_fashion_mnist(**OFFLINE).data.shape == (10, 20)
    assert not (tmp_path / "home").exists()  # nothing is made where nothing is downloaded
    files = idx_files()
    files["t10k-labels-idx1-ubyte"] = to_idx(np.full(4, 3, np.uint8))
    write_idx(tmp_path / "home" / "fashion_mnist", False, files)
    assert_array_equal(fetch_fashion_mnist(subset="test", **OFFLINE).target, 3)


def test_pairs(tmp_path):
    write_idx(tmp_path, compressed=False)
    X, y = fetch_mnist(data_home=tmp_path, return_X_y=True, **OFFLINE)
    assert X.shape == (10, 20)
    assert y.shape == (10,)


def cifar_as_folder(folder):
    write_files(folder / "cifar-10-batches-bin", cifar_binary())


def cifar_as_archive(folder):
    write_files(folder, {"cifar-10-binary.tar.gz": to_tar(cifar_binary(), "cifar-10-batches-bin")})


@pytest.mark.parametrize("write", [cifar_as_folder, cifar_as_archive])
@pytest.mark.parametrize("folder", ["cifar10", "."])
def test_cifar_is_read_in_every_form(tmp_path, write, folder):
    write(tmp_path / folder)
    for subset, names in (
        ("train", CIFAR_BATCHES[:5]),
        ("test", CIFAR_BATCHES[5:]),
        ("all", CIFAR_BATCHES),
    ):
        found = fetch_cifar10(data_home=tmp_path, subset=subset, **OFFLINE)
        planes = np.concatenate([cifar_batch(name)[0] for name in names])
        red, green, blue = (planes[:, colour * 1024 :][:, :1024] for colour in range(3))
        assert found.images.shape == (2 * len(names), 32, 32, 3)
        for colour, values in enumerate((red, green, blue)):
            assert_array_equal(found.images[..., colour], values.reshape(-1, 32, 32))
        assert_array_equal(found.target, np.concatenate([cifar_batch(name)[1] for name in names]))
        assert_array_equal(found.data, found.images.reshape(len(found.images), -1))
    assert_array_equal(GIST((32, 32, 3)).transform(found.data), GIST().transform(found.images))


def test_pickles_are_not_read(tmp_path):
    """The Python version of CIFAR-10 is as if it were not there."""
    pickled = {name.removesuffix(".bin"): b"cos\nmkdir\n(S'a'\ntR." for name in cifar_binary()}
    write_files(tmp_path / "cifar-10-batches-py", pickled)
    write_files(tmp_path, {"cifar-10-python.tar.gz": to_tar(pickled, "cifar-10-batches-py")})
    with pytest.raises(OSError, match="cifar-10-binary.tar.gz"):
        fetch_cifar10(data_home=tmp_path, **OFFLINE)


@pytest.mark.process
@pytest.mark.parametrize("is_packed", [False, True])
def test_pickled_cifar_comes_with_the_line_that_converts_it(tmp_path, is_packed):
    pickled = {}
    for name in CIFAR_BATCHES:
        images, labels = cifar_batch(name)
        planes = np.asarray(images).reshape(len(labels), -1)
        pickled[name] = pickle.dumps({b"labels": [*map(int, labels)], b"data": planes})
    if is_packed:
        content = to_tar(pickled, "cifar-10-batches-py")
        write_files(tmp_path, {"cifar-10-python.tar.gz": content})
    else:
        write_files(tmp_path / "cifar-10-batches-py", pickled)
    with pytest.raises(OSError, match="pickles") as refused:
        fetch_cifar10(data_home=tmp_path, **OFFLINE)
    line = str(refused.value)[str(refused.value).index("cd ") :]
    line = line.replace("python -c", f"{sys.executable} -c")
    subprocess.run(line, shell=True, check=True)
    found = fetch_cifar10(data_home=tmp_path, **OFFLINE)
    assert_array_equal(
        found.target, np.concatenate([cifar_batch(name)[1] for name in CIFAR_BATCHES])
    )
    planes = np.concatenate([cifar_batch(name)[0] for name in CIFAR_BATCHES])
    assert_array_equal(found.images, planes.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))


def test_load_digits_gist():
    digits = load_digits()
    found = load_digits_gist()
    assert found.data.shape == (1797, 512)
    assert found.data.dtype == np.float32
    assert_array_equal(found.data[:9], GIST().transform(digits.images[:9]))
    assert_array_equal(found.target, digits.target)
    assert_array_equal(found.images, digits.images)
    assert found.feature_names[-1] == "gist_s3_o7_r3_c3"
    assert_array_equal(load_digits_gist(return_X_y=True)[0], found.data)


# Bad copies.


def spoilt(name, change):
    """Idx files of which one is changed."""
    files = idx_files()
    return {**files, name: change(files[name])}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[:-3], "80 values"),
        (lambda content: content + b"more", "80 values"),
        (lambda content: b"<html>", "idx file"),
        (lambda content: b"", "idx file"),
        (lambda content: content[:3], "idx file"),
        (lambda content: to_idx(np.zeros(4, np.uint8)), "idx file"),
        (lambda content: content[:9], "idx file"),
        (lambda content: content[:2] + b"\x0d" + content[3:], "idx file"),
    ],
)
def test_a_damaged_idx_file_is_named(tmp_path, change, message):
    name = "t10k-images-idx3-ubyte"
    write_idx(tmp_path, False, spoilt(name, change))
    with pytest.raises(ValueError, match=f"{name}.*{message}"):
        fetch_mnist(data_home=tmp_path, **OFFLINE)
    fetch_mnist(data_home=tmp_path, subset="train", **OFFLINE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[:-20], "Compressed file ended"),
        (lambda content: content[:-8] + bytes(8), "CRC check failed"),
        (lambda content: content[:10] + b"\xff" * 90, "invalid block type"),
    ],
)
def test_a_damaged_compressed_file_is_named(tmp_path, change, message):
    write_idx(tmp_path, compressed=True)
    path = tmp_path / "t10k-images-idx3-ubyte.gz"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=f"{path.name}.*{message}"):
        fetch_mnist(data_home=tmp_path, **OFFLINE)


@pytest.mark.parametrize("labels", [[1, 2, 3], [0, 1, 10, 2]])
def test_files_that_do_not_belong_together_are_refused(tmp_path, labels):
    content = to_idx(np.array(labels, np.uint8))
    write_idx(tmp_path, False, spoilt("t10k-labels-idx1-ubyte", lambda _: content))
    with pytest.raises(ValueError, match=rf"4 images and {len(labels)} labels"):
        fetch_mnist(data_home=tmp_path, subset="test", **OFFLINE)


@pytest.mark.parametrize(
    "files", [{"test_batch.bin": b"x" * 3072}, {"test_batch": b""}, {"data_batch_1.bin": b""}]
)
def test_a_damaged_batch_is_named(tmp_path, files):
    write_files(tmp_path, {"cifar-10-binary.tar.gz": to_tar(files, "bin")})
    found = re.escape(str(tmp_path / "cifar-10-binary.tar.gz"))
    with pytest.raises(ValueError, match=found):
        fetch_cifar10(data_home=tmp_path, subset="test", **OFFLINE)


def test_a_damaged_archive_is_named(tmp_path):
    content = to_tar(cifar_binary(), "cifar-10-batches-bin")
    for spoilt_content in (content[: len(content) // 2], b"<html>"):
        write_files(tmp_path, {"cifar-10-binary.tar.gz": spoilt_content})
        with pytest.raises(ValueError, match="cifar-10-binary.tar.gz"):
            fetch_cifar10(data_home=tmp_path, **OFFLINE)


def test_a_missing_batch_is_named(tmp_path):
    files = cifar_binary()
    del files["data_batch_3.bin"]
    write_files(tmp_path / "cifar-10-batches-bin", files)
    with pytest.raises(OSError, match=r"data_batch_3.bin"):
        fetch_cifar10(data_home=tmp_path, **OFFLINE)
    assert fetch_cifar10(data_home=tmp_path, subset="test", **OFFLINE).data.shape == (2, 3072)


@pytest.mark.parametrize("fetch", [fetch_mnist, fetch_fashion_mnist, fetch_cifar10])
def test_parameters_are_checked(fetch):
    with pytest.raises(ValueError, match=f"'subset' .*{fetch.__name__}"):
        fetch(subset="validation")


# Downloads.


def test_what_is_missing_is_downloaded(tmp_path, monkeypatch):
    served, asked = tmp_path / "served", []
    write_idx(served, compressed=True)

    def fetch_file(url, folder, sha256):
        name = url.rpartition("/")[2]
        asked.append((url, sha256))
        Path(folder, name).write_bytes((served / name).read_bytes())
        return Path(folder, name)

    monkeypatch.setattr(_loaders, "fetch_file", fetch_file)
    home = tmp_path / "home"
    X = fetch_mnist(subset="test", data_home=home).data
    names = ["t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"]
    about = _loaders.MNIST
    assert asked == [(about.url + name, about.checksums[name]) for name in names]
    assert_array_equal(fetch_mnist(subset="test", data_home=home, **OFFLINE).data, X)
    assert sorted(path.name for path in (home / "mnist").iterdir()) == names


def test_the_error_names_files_and_folder(tmp_path):
    names = " and ".join(_loaders.MNIST.checksums)
    place = re.escape(str(tmp_path / "mnist"))
    for options, reason in (
        (OFFLINE, "download_if_missing is False"),
        ({}, r"https://.*train-images-idx3-ubyte.gz .*no network"),
    ):
        message = rf"{reason}.* {names} .*{place}"
        with pytest.raises(OSError, match=message):
            fetch_mnist(data_home=tmp_path, **options)
    with pytest.raises(OSError, match="cifar-10-binary.tar.gz"):
        fetch_cifar10(data_home=tmp_path, **OFFLINE)


def test_published_files_have_addresses_and_checksums():
    for about in (_loaders.FASHION_MNIST, _loaders.MNIST, _loaders.CIFAR10):
        assert re.fullmatch(r"https?://\S+/", about.url)
        assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in about.checksums.values())
