"""Sets in a local folder, as small files of the published formats."""

import functools
import hashlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.io import savemat

from sklearn_hashrank import HierarchicalAffinity, SharedLabelAffinity
from sklearn_hashrank.affinity._auto import auto_affinity
from sklearn_hashrank.datasets import _local, load_cifar100, load_labelme, load_nus_wide
from tests.datasets.test_datasets import to_tar, write_files

PARTS = {"train": 4, "test": 3}
NAMES = {"coarse": [f"super_{i}" for i in range(20)], "fine": [f"class_{i}" for i in range(100)]}


@functools.cache
def batch(part):
    """Images plane by plane, and their coarse and fine labels."""
    rng = np.random.default_rng(len(part))
    fine = rng.integers(0, 100, PARTS[part]).astype(np.uint8)
    return rng.integers(0, 256, (PARTS[part], 3072), np.uint8), fine // 5, fine


def binary():
    files = {f"{part}.bin": np.column_stack([*batch(part)[1:], batch(part)[0]]) for part in PARTS}
    files = {name: array.astype(np.uint8).tobytes() for name, array in files.items()}
    texts = {f"{level}_label_names.txt": "\n".join(NAMES[level]) + "\n\n" for level in NAMES}
    return files | {name: text.encode() for name, text in texts.items()}


def as_folder(home, name, files):
    write_files(home / name, files)
    return home


def as_archive(home, name, files):
    write_files(home, {f"{name}.tar.gz": to_tar(files, name)})
    return home


def as_the_folder_itself(home, name, files):
    return as_folder(home, name, files) / name


NAME = "cifar-100-binary"
small = functools.partial(load_cifar100, verify=False)


@pytest.mark.parametrize("write", [as_folder, as_archive, as_the_folder_itself])
def test_cifar100_is_read_in_every_form(tmp_path, write):
    home = write(tmp_path, NAME, binary())
    for subset, parts in {"train": ["train"], "test": ["test"], "all": ["train", "test"]}.items():
        found = small(home, subset=subset)
        planes, coarse, fine = (np.concatenate(part) for part in zip(*map(batch, parts)))
        assert_array_equal(found.target, np.column_stack([coarse, fine]))
        assert_array_equal(found.images.transpose(0, 3, 1, 2).reshape(len(planes), -1), planes)
        assert_array_equal(found.data, found.images.reshape(len(planes), -1))
        assert found.coarse_names == NAMES["coarse"]
        assert found.fine_names == NAMES["fine"]
    for level, expected in (("coarse", coarse), ("fine", fine)):
        assert_array_equal(small(home, levels=level).target, expected)
    X, y = small(home, return_X_y=True)
    assert X.shape == (7, 3072)
    assert isinstance(auto_affinity(y), HierarchicalAffinity)


def test_cifar100_is_verified(tmp_path, monkeypatch):
    archive = as_archive(tmp_path / "a", NAME, binary())
    message = r"binary.tar.gz is not the published file: its MD5 checksum is [0-9a-f]{32}, expected"
    with pytest.raises(ValueError, match=message):
        load_cifar100(archive)
    content = (archive / f"{NAME}.tar.gz").read_bytes()
    monkeypatch.setattr(_local, "_CIFAR100_MD5", hashlib.md5(content).hexdigest())
    assert len(load_cifar100(archive).data) == 7


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        ({"test.bin": b"x" * 3072}, "test.bin cannot be read"),
        ({"test.bin": None}, "it has no test.bin"),
        ({"fine_label_names.txt": b"a\nb"}, "it names 2 fine classes, not 100"),
        ({"coarse_label_names.txt": None}, "does not name its coarse classes"),
        ({"coarse_label_names.txt": b"\xff" * 20}, "cannot be read: 'ascii' codec"),
        ({"test.bin": bytes([20, 1]) + b"x" * 3072}, "a coarse label is not below 20"),
    ],
)
def test_cifar100_that_is_damaged(tmp_path, spoilt, message):
    files = {k: v for k, v in (binary() | spoilt).items() if v is not None}
    with pytest.raises(ValueError, match=message):
        small(as_folder(tmp_path, NAME, files))


def test_a_folder_without_cifar100(tmp_path):
    (tmp_path / "cifar-100-python").mkdir()
    (tmp_path / "cifar-100-python" / "train").write_bytes(b"cos\nmkdir\n(S'a'\ntR.")
    with pytest.raises(OSError, match="there is no cifar-100-binary, .* its files are pickles"):
        small(tmp_path)


CONCEPTS = ["sky", "person", "water", "cat"]
OF_PART = {None: slice(None), "Train": slice(0, 6), "Test": slice(6, None)}


@functools.cache
def nus_wide():
    rng = np.random.default_rng(0)
    labels = (rng.random((10, 4)) < [0.9, 0.2, 0.6, 0.3]).astype(int)
    labels[3] = [0, 0, 0, 1]
    labels[8] = 0
    return rng.integers(0, 9, (10, 5)), rng.normal(size=(10, 3)).round(4), labels


def write_nus_wide(home, flat=False):
    counts, colours, labels = nus_wide()
    files = {"ConceptsList/Concepts81.txt": "\n".join(CONCEPTS) + "\n"}
    for part, rows in OF_PART.items():
        prefix = "" if part is None else part
        names = [f"actor\\000{row}_1.jpg" for row in range(10)][rows]
        files[f"ImageList/{prefix}Imagelist.txt"] = "\r\n".join(names) + "\r\n"
        for column, concept in enumerate(CONCEPTS):
            path = "AllLabels/Labels_{}.txt" if part is None else "TrainTestLabels/Labels_{}_{}.txt"
            text = "\n".join(map(str, labels[rows, column]))
            files[f"Groundtruth/{path.format(concept, part)}"] = text + "\n"
        bow = "BoW_int.dat" if part is None else f"BoW_{part}_int.dat"
        colour = "Normalized_CH.dat" if part is None else f"{part}_Normalized_CH.dat"
        for name, rows_of in ((bow, counts[rows]), (colour, colours[rows])):
            lines = (" ".join(map(str, row)) + " \n" for row in rows_of.tolist())
            files[f"Low_Level_Features/{name}"] = "".join(lines)
    for name, text in files.items():
        path = home / (name.rpartition("/")[2] if flat else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return home


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize(("subset", "part"), [("all", None), ("train", "Train"), ("test", "Test")])
def test_nus_wide(tmp_path, flat, subset, part):
    home = write_nus_wide(tmp_path, flat)
    counts, colours, labels = (array[OF_PART[part]] for array in nus_wide())
    found = load_nus_wide(home, subset=subset, n_labels=None)
    assert_array_equal(found.data, counts.astype(np.float32))
    assert found.data.dtype == np.float32
    assert_array_equal(found.target, labels)
    assert found.target_names == CONCEPTS
    assert len(found.image_names) == len(counts)
    both = load_nus_wide(home, subset=subset, n_labels=None, features=["ch", "bow"])
    assert_array_equal(both.data, np.hstack([colours, counts]).astype(np.float32))

    frequent = np.argsort(-nus_wide()[2].sum(axis=0), kind="stable")[:2]
    kept = labels[:, frequent].any(axis=1)
    found = load_nus_wide(home, subset=subset, n_labels=2)
    assert found.target_names == [CONCEPTS[place] for place in frequent] == ["sky", "cat"]
    assert_array_equal(found.target, labels[kept][:, frequent])
    assert_array_equal(found.data, counts[kept])
    X, y = load_nus_wide(home, subset=subset, n_labels=3, return_X_y=True)
    assert len(X) == len(y)
    assert isinstance(auto_affinity(y), SharedLabelAffinity)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("Groundtruth/AllLabels/Labels_cat.txt", lambda t: t + b"1\n", "cat.txt has 11 rows, the"),
        ("Groundtruth/AllLabels/Labels_cat.txt", lambda t: b"2" + t[1:], "neither 0 nor 1"),
        ("ImageList/Imagelist.txt", lambda t: t[:40], "Imagelist.txt has"),
        ("Low_Level_Features/BoW_int.dat", lambda t: t[:-12], "BoW_int.dat"),
        ("Low_Level_Features/BoW_int.dat", lambda t: b"x" + t, "BoW_int.dat cannot be read"),
        ("Low_Level_Features/BoW_int.dat", lambda t: b"nan" + t[1:], "a feature is not finite"),
        ("ConceptsList/Concepts81.txt", lambda t: b"", "names no concepts"),
        ("ConceptsList/Concepts81.txt", lambda t: b"\xff\xfe", "Concepts81.txt cannot be read"),
    ],
)
def test_nus_wide_that_is_damaged(tmp_path, name, change, message):
    path = write_nus_wide(tmp_path) / name
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=message):
        load_nus_wide(tmp_path)


def test_a_folder_without_nus_wide(tmp_path):
    with pytest.raises(OSError, match=r"does not hold NUS-WIDE: there is no .*Concepts81.txt"):
        load_nus_wide(tmp_path)
    write_nus_wide(tmp_path)
    with pytest.raises(OSError, match=r"there is no .*Normalized_WT.dat"):
        load_nus_wide(tmp_path, features="wt")
    with pytest.raises(ValueError, match=r"features must be among \['bow', .* Got 'gist'"):
        load_nus_wide(tmp_path, features=["gist"])


@pytest.mark.parametrize("compressed", [True, False])
def test_labelme(tmp_path, compressed):
    rng = np.random.default_rng(0)
    gist, images = rng.random((22, 512)), rng.integers(0, 256, (32, 32, 3, 22), np.uint8)
    path = tmp_path / "LabelMe_gist.mat"
    savemat(
        path,
        {"gist": gist, "img": images, "ndxtrain": np.arange(1.0, 20.0)},
        do_compression=compressed,
    )
    for place in (path, tmp_path, str(path)):
        found = load_labelme(place)
        assert found.dtype == np.float32
        assert_array_equal(found, gist.astype(np.float32))
    assert load_labelme(path, variable="ndxtrain").shape == (1, 19)
    for variable, message in (
        ("no", "holds no variable 'no'"),
        ("img", "'img' is not a matrix of numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            load_labelme(path, variable=variable)


@pytest.mark.parametrize("dtype", ["f8", "f4", "u1", "i2", "u2", "i4", "i8"])
@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (1, 3), (200, 7)])
@pytest.mark.parametrize("compressed", [True, False])
def test_matrices_are_those_that_scipy_writes(tmp_path, dtype, shape, compressed):
    path = tmp_path / "a.mat"
    matrix = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    others = {"text": "hello", "a_longer_name": np.eye(3) * 1j, "cell": {"a": [1, 2]}}
    savemat(path, others | {"x": matrix, "z": np.ones(3)}, do_compression=compressed)
    assert_array_equal(load_labelme(path, variable="x"), matrix.astype(np.float32))
    for name in others:
        with pytest.raises(ValueError, match=f"its '{name}' is not a matrix of numbers"):
            load_labelme(path, variable=name)


def test_nothing_but_a_matrix_is_read_of_a_file(tmp_path):
    """Not objects, which other readers make of such variables."""
    path = tmp_path / "a.mat"
    objects = np.array([{"a": 1}, "text"], dtype=object)
    savemat(path, {"x": np.eye(3), "cell": objects, "sparse": sparse.eye(3, format="csc")})
    assert load_labelme(path, variable="x").shape == (3, 3)
    for name in ("cell", "sparse", "__header__", "__globals__"):
        with pytest.raises(ValueError, match="is not a matrix of numbers|holds no variable"):
            load_labelme(path, variable=name)


def test_labelme_that_is_damaged(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_labelme(tmp_path)
    for content in (b"", b"MATLAB 5.0 MAT-file", b"\x89HDF\r\n\x1a\n" + b"x" * 600):
        (tmp_path / "LabelMe_gist.mat").write_bytes(content)
        with pytest.raises(ValueError, match=r"LabelMe_gist.mat cannot be read: .*\. Put a good"):
            load_labelme(tmp_path)
    savemat(tmp_path / "LabelMe_gist.mat", {"gist": np.array([[1.0, np.inf]])})
    with pytest.raises(ValueError, match="empty or not finite"):
        load_labelme(tmp_path)
