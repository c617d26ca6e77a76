"""Loaders: every format they read, every way a download can go wrong. No network."""

import dataclasses
import functools
import gzip
import hashlib
import io
import re
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import urlopen

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from sklearn_hashrank.datasets import (
    _download,
    _loaders,
    _sets,
    fetch_cifar10,
    fetch_fashion_mnist,
    fetch_mnist,
    load_digits_gist,
)
from sklearn_hashrank.datasets._download import RemoteFile, download
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
    """No data set of the machine, and no network but the one of a test."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    for name in ("FASHION_MNIST", "MNIST", "CIFAR10"):
        alone = dataclasses.replace(getattr(_sets, name), system_folders=())
        monkeypatch.setattr(_sets, name, alone)
    monkeypatch.setattr(_download, "urlopen", None)


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
    assert both.feature_names[:6] == [
        *(f"pixel_0_{column}" for column in range(5)),
        "pixel_1_0",
    ]
    assert both.frame is None
    assert "MNIST" in both.DESCR


def test_data_home_is_that_of_scikit_learn(tmp_path):
    write_idx(tmp_path / "home" / "mnist", compressed=True)
    assert fetch_mnist(**OFFLINE).data.shape == (10, 20)
    with pytest.raises(OSError, match="CIFAR-10 is not on this machine"):
        fetch_cifar10(**OFFLINE)


def test_the_systems_copy_is_read_if_there_is_no_other(tmp_path, monkeypatch):
    write_idx(tmp_path / "system", compressed=True)
    system = dataclasses.replace(_sets.FASHION_MNIST, system_folders=(str(tmp_path / "system"),))
    monkeypatch.setattr(_sets, "FASHION_MNIST", system)
    assert fetch_fashion_mnist(**OFFLINE).data.shape == (10, 20)
    assert not (tmp_path / "home").exists()  # nothing is made where nothing is downloaded
    files = idx_files()
    files["t10k-labels-idx1-ubyte"] = to_idx(np.full(4, 3, np.uint8))
    write_idx(tmp_path / "home" / "fashion_mnist", False, files)
    assert_array_equal(fetch_fashion_mnist(subset="test", **OFFLINE).target, 3)


def test_pairs_and_data_frames(tmp_path):
    write_idx(tmp_path, compressed=False)
    X, y = fetch_mnist(data_home=tmp_path, return_X_y=True, **OFFLINE)
    assert X.shape == (10, 20)
    frames = fetch_mnist(data_home=tmp_path, as_frame=True, **OFFLINE)
    assert_array_equal(frames.data, X)
    assert_array_equal(frames.target, y)
    assert list(frames.frame.columns) == [*frames.feature_names, "target"]
    assert frames.data.dtypes.iloc[0] == np.uint8
    data, target = fetch_mnist(data_home=tmp_path, as_frame=True, return_X_y=True, **OFFLINE)
    assert data.equals(frames.data)
    assert target.name == "target"


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
    assert found.feature_names[:4] == ["pixel_0_0_0", "pixel_0_0_1", "pixel_0_0_2", "pixel_0_1_0"]
    assert_array_equal(GIST((32, 32, 3)).transform(found.data), GIST().transform(found.images))


def test_pickles_are_not_read(tmp_path):
    """The Python version of CIFAR-10 is as if it were not there."""
    pickled = {name.removesuffix(".bin"): b"cos\nmkdir\n(S'a'\ntR." for name in cifar_binary()}
    write_files(tmp_path / "cifar-10-batches-py", pickled)
    write_files(tmp_path, {"cifar-10-python.tar.gz": to_tar(pickled, "cifar-10-batches-py")})
    with pytest.raises(OSError, match="Place cifar-10-binary.tar.gz or cifar-10-batches-bin into"):
        fetch_cifar10(data_home=tmp_path, **OFFLINE)


def test_load_digits_gist(monkeypatch):
    digits = load_digits()
    found = load_digits_gist()
    assert found.data.shape == (1797, 512)
    assert found.data.dtype == np.float32
    assert_array_equal(found.data[:9], GIST().transform(digits.images[:9]))
    assert_array_equal(found.target, digits.target)
    assert_array_equal(found.images, digits.images)
    assert found.feature_names[-1] == "gist_s3_o7_r3_c3"
    assert "GIST" in found.DESCR
    few = digits | {"images": digits.images[:50], "target": digits.target[:50]}
    monkeypatch.setattr(_loaders, "load_digits", lambda: Bunch(**few))
    frame, target = load_digits_gist(return_X_y=True, as_frame=True)
    assert frame.columns[0] == "gist_s0_o0_r0_c0"
    assert_array_equal(target, digits.target[:50])


# Bad copies.


def spoilt(name, change):
    """Idx files of which one is changed."""
    files = idx_files()
    return {**files, name: change(files[name])}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[:-3], r"it holds 77 values, 80 were announced"),
        (lambda content: content + b"more", r"it holds 84 values, 80 were announced"),
        (lambda content: b"<html>", "it is not an idx file of 3-dimensional bytes"),
        (lambda content: b"", "it is not an idx file of 3-dimensional bytes"),
        (lambda content: content[:3], "not an idx file"),
        (lambda content: to_idx(np.zeros(4, np.uint8)), "not an idx file of 3-dim"),
        (lambda content: content[:9], "not an idx file"),
        (lambda content: content[:2] + b"\x0d" + content[3:], "not an idx file"),
        (lambda content: gzip.compress(content)[:-20], "Compressed file ended"),
        (lambda content: gzip.compress(content)[:-8] + bytes(8), "CRC check failed"),
        (lambda content: gzip.compress(content)[:10] + b"\xff" * 90, "invalid block type"),
    ],
)
def test_a_damaged_idx_file_is_named(tmp_path, change, message):
    name = "t10k-images-idx3-ubyte"
    write_idx(tmp_path, False, spoilt(name, change))
    with pytest.raises(ValueError, match=f"{name} cannot be read: .*{message}.*Delete it"):
        fetch_mnist(data_home=tmp_path, **OFFLINE)
    fetch_mnist(data_home=tmp_path, subset="train", **OFFLINE)


@pytest.mark.parametrize("labels", [[1, 2, 3], [0, 1, 10, 2]])
def test_files_that_do_not_belong_together_are_refused(tmp_path, labels):
    content = to_idx(np.array(labels, np.uint8))
    write_idx(tmp_path, False, spoilt("t10k-labels-idx1-ubyte", lambda _: content))
    with pytest.raises(
        ValueError, match=rf"does not hold MNIST: 4 images and {len(labels)} labels"
    ):
        fetch_mnist(data_home=tmp_path, subset="test", **OFFLINE)


@pytest.mark.parametrize(
    "files", [{"test_batch.bin": b"x" * 3072}, {"test_batch": b""}, {"data_batch_1.bin": b""}]
)
def test_a_damaged_batch_is_named(tmp_path, files):
    write_files(tmp_path, {"cifar-10-binary.tar.gz": to_tar(files, "bin")})
    found = re.escape(str(tmp_path / "cifar-10-binary.tar.gz"))
    with pytest.raises(ValueError, match=f"{found}.* cannot be read: "):
        fetch_cifar10(data_home=tmp_path, subset="test", **OFFLINE)


def test_a_damaged_archive_is_named(tmp_path):
    content = to_tar(cifar_binary(), "cifar-10-batches-bin")
    for spoilt_content in (content[: len(content) // 2], b"<html>"):
        write_files(tmp_path, {"cifar-10-binary.tar.gz": spoilt_content})
        with pytest.raises(ValueError, match=r"cifar-10-binary.tar.gz cannot be read"):
            fetch_cifar10(data_home=tmp_path, **OFFLINE)


def test_a_missing_batch_is_named(tmp_path):
    files = cifar_binary()
    del files["data_batch_3.bin"]
    write_files(tmp_path / "cifar-10-batches-bin", files)
    with pytest.raises(ValueError, match=r"it has no data_batch_3.bin"):
        fetch_cifar10(data_home=tmp_path, **OFFLINE)
    assert fetch_cifar10(data_home=tmp_path, subset="test", **OFFLINE).data.shape == (2, 3072)


@pytest.mark.parametrize("fetch", [fetch_mnist, fetch_fashion_mnist, fetch_cifar10])
def test_parameters_are_checked(fetch):
    with pytest.raises(ValueError, match=f"The 'subset' parameter of {fetch.__name__} must be"):
        fetch(subset="validation")
    with pytest.raises(ValueError, match="The 'n_retries' parameter of .* Got -1 instead"):
        fetch(n_retries=-1)


# Downloads.


class Handler(BaseHTTPRequestHandler):
    """Serves the files of its server, as badly as `server.behaviour` says."""

    def do_GET(self):
        server = self.server
        server.requests.append((self.path, self.headers["Range"]))
        behaviour = server.behaviour.pop(0) if server.behaviour else "good"
        content = server.files.get(self.path.lstrip("/"))
        if content is None or behaviour == "gone":
            self.send_error(404)
            return
        if behaviour == "busy":
            self.send_error(503)
            return
        start = 0
        if self.headers["Range"] and server.ranges:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        body = content[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if behaviour == "wrong":
            body = bytes(len(body))
        self.wfile.write(body[: len(body) // 2] if behaviour == "broken off" else body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(_download, "urlopen", urlopen)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.files, httpd.behaviour, httpd.requests, httpd.ranges = {}, [], [], True
    httpd.url = f"http://127.0.0.1:{httpd.server_address[1]}/"
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
    thread.start()
    yield httpd
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def publish(server, name, content):
    server.files[name] = content
    return RemoteFile(server.url + name, hashlib.md5(content).hexdigest())


CONTENT = bytes(range(256)) * 40


def test_a_download_is_checked_and_complete(server, tmp_path):
    remote = publish(server, "data.gz", CONTENT)
    path = download(remote, tmp_path / "new" / "folder", n_retries=0, delay=0)
    assert path == tmp_path / "new" / "folder" / "data.gz"
    assert path.read_bytes() == CONTENT
    assert server.requests == [("/data.gz", None)]
    assert [file.name for file in path.parent.iterdir()] == ["data.gz"]


def test_a_broken_download_goes_on_where_it_stopped(server, tmp_path):
    remote = publish(server, "data.gz", CONTENT)
    server.behaviour = ["broken off", "busy", "broken off"]
    path = download(remote, tmp_path, n_retries=3, delay=0)
    assert path.read_bytes() == CONTENT
    half, three_quarters = len(CONTENT) // 2, len(CONTENT) * 3 // 4
    asked = [asked for _, asked in server.requests]
    assert asked == [None, f"bytes={half}-", f"bytes={half}-", f"bytes={three_quarters}-"]


def test_another_call_goes_on_too(server, tmp_path):
    remote = publish(server, "data.gz", CONTENT)
    server.behaviour = ["broken off"]
    with pytest.raises(OSError, match=r"received 5120 of 10240 bytes"):
        download(remote, tmp_path, n_retries=0, delay=0)
    assert (tmp_path / "data.gz.part").read_bytes() == CONTENT[:5120]
    assert not (tmp_path / "data.gz").exists()
    assert download(remote, tmp_path, n_retries=0, delay=0).read_bytes() == CONTENT


def test_a_server_that_cannot_resume_sends_all_again(server, tmp_path):
    remote = publish(server, "data.gz", CONTENT)
    server.ranges, server.behaviour = False, ["broken off"]
    assert download(remote, tmp_path, n_retries=1, delay=0).read_bytes() == CONTENT


@pytest.mark.parametrize("part", [CONTENT, CONTENT + b"more", b"not at all the same"])
def test_whatever_a_part_file_holds_the_result_is_right(server, tmp_path, part):
    remote = publish(server, "data.gz", CONTENT)
    (tmp_path / "data.gz.part").write_bytes(part)
    assert download(remote, tmp_path, n_retries=1, delay=0).read_bytes() == CONTENT


def test_downloads_at_once_do_not_meet(server, tmp_path):
    """One goes on with what is there, and all give the whole file."""
    remote = publish(server, "data.gz", CONTENT)
    (tmp_path / "data.gz.part").write_bytes(CONTENT[:5120])
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: download(remote, tmp_path, 0, 0), range(8)))
    assert {path.read_bytes() for path in paths} == {CONTENT}
    assert sorted(asked or "" for _, asked in server.requests) == [""] * 7 + ["bytes=5120-"]
    assert [path.name for path in tmp_path.iterdir()] == ["data.gz"]


def test_a_link_in_place_of_a_part_file_is_not_followed(server, tmp_path):
    remote = publish(server, "data.gz", CONTENT)
    (tmp_path / "victim").write_bytes(b"mine")
    (tmp_path / "data.gz.part").symlink_to("victim")
    assert download(remote, tmp_path, n_retries=0, delay=0).read_bytes() == CONTENT
    assert (tmp_path / "victim").read_bytes() == b"mine"


def test_wrong_content_is_thrown_away(server, tmp_path):
    remote = publish(server, "data.gz", CONTENT)
    server.behaviour = ["wrong", "wrong"]
    with pytest.raises(OSError, match=rf"MD5 checksum is \w{{32}}, expected {remote.md5}"):
        download(remote, tmp_path, n_retries=1, delay=0)
    assert not list(tmp_path.iterdir())
    server.behaviour = ["wrong"]
    assert download(remote, tmp_path, n_retries=1, delay=0).read_bytes() == CONTENT


def test_what_is_not_there_is_not_asked_for_again(server, tmp_path):
    remote = publish(server, "data.gz", CONTENT)
    server.behaviour = ["gone"]
    with pytest.raises(OSError, match=r"could not download http.*data.gz: HTTP Error 404"):
        download(remote, tmp_path, n_retries=3, delay=0)
    assert len(server.requests) == 1


def serve_mnist(server, monkeypatch, tmp_path):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    files = {
        part: [
            publish(server, f"{prefix}-{kind}-ubyte.gz", gzip.compress(to_idx(array)))
            for kind, array in zip(("images-idx3", "labels-idx1"), idx_arrays(part))
        ]
        for part, (prefix, _) in IDX_PARTS.items()
    }
    monkeypatch.setattr(_sets, "MNIST", dataclasses.replace(_sets.MNIST, files=files))


def test_what_is_missing_is_downloaded_once(server, monkeypatch, tmp_path):
    serve_mnist(server, monkeypatch, tmp_path)
    X, y = fetch_mnist(subset="test", return_X_y=True)
    assert_array_equal(y, idx_arrays("test")[1])
    assert [path for path, _ in server.requests] == [
        "/t10k-images-idx3-ubyte.gz",
        "/t10k-labels-idx1-ubyte.gz",
    ]
    server.files.clear()
    assert_array_equal(fetch_mnist(subset="test").data, X)
    with pytest.raises(OSError, match="MNIST is not on this machine, and could not download"):
        fetch_mnist(n_retries=0)
    assert sorted(path.name for path in (tmp_path / "mnist").iterdir()) == [
        "t10k-images-idx3-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
    ]


def test_cifar_is_downloaded_as_records(server, monkeypatch, tmp_path):
    archive = publish(
        server, "cifar-10-binary.tar.gz", to_tar(cifar_binary(), "cifar-10-batches-bin")
    )
    here = dataclasses.replace(_sets.CIFAR10, files={"train": [archive], "test": [archive]})
    monkeypatch.setattr(_sets, "CIFAR10", here)
    found = fetch_cifar10(data_home=tmp_path)
    assert found.data.shape == (12, 3072)
    assert (tmp_path / "cifar10" / "cifar-10-binary.tar.gz").exists()


def test_without_a_network_the_error_says_what_to_do(server, monkeypatch, tmp_path):
    serve_mnist(server, monkeypatch, tmp_path)
    closed = [RemoteFile("http://127.0.0.1:9/train-images-idx3-ubyte.gz", "0" * 32)]
    monkeypatch.setattr(_sets, "MNIST", dataclasses.replace(_sets.MNIST, files={"train": closed}))
    message = (
        r"MNIST is not on this machine, and could not download http://127.0.0.1:9/train-images.*"
        rf"Place train-images-idx3-ubyte.gz into {re.escape(str(tmp_path / 'mnist'))}; see http"
    )
    with pytest.raises(OSError, match=message):
        fetch_mnist(subset="train", n_retries=1, delay=0)


def test_the_error_names_every_file(tmp_path):
    message = (
        r"MNIST is not on this machine, and download_if_missing is False. Place "
        r"train-images-idx3-ubyte.gz and train-labels-idx1-ubyte.gz and t10k-images-idx3-ubyte.gz "
        rf"and t10k-labels-idx1-ubyte.gz into {re.escape(str(tmp_path / 'mnist'))}"
    )
    with pytest.raises(OSError, match=message):
        fetch_mnist(data_home=tmp_path, **OFFLINE)
    message = r"Place cifar-10-binary.tar.gz or cifar-10-batches-bin into"
    with pytest.raises(OSError, match=message):
        fetch_cifar10(data_home=tmp_path, **OFFLINE)


def test_published_files_have_addresses_and_checksums():
    for about in (_sets.FASHION_MNIST, _sets.MNIST, _sets.CIFAR10):
        for remote in (remote for files in about.files.values() for remote in files):
            assert re.fullmatch(r"https?://\S+\.gz", remote.url)
            assert re.fullmatch(r"[0-9a-f]{32}", remote.md5)
