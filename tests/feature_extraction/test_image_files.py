"""GIST of image files and folders."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sklearn_hashrank._files.reading import MalformedFileError
from sklearn_hashrank.feature_extraction import GIST, list_images, read_images

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def folder(tmp_path):
    """Digits in sub-folders by label, as images of 32 x 24 pixels."""
    X, y = load_digits(return_X_y=True)
    for number in range(12):
        pixels = np.kron(X[number].reshape(8, 8) * 15, np.ones((4, 3))).astype(np.uint8)
        label = tmp_path / f"digit {y[number] % 3}"
        label.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(label / f"{number:02d}.png")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "digit 0" / "notes.txt").write_text("no image")
    return tmp_path


def test_labels_are_those_of_sub_folders(folder):
    paths, labels = list_images(folder)
    assert len(paths) == 12
    assert labels == [path.parent.name for path in paths]
    assert labels == sorted(labels)
    alone = list_images(folder / "digit 1")
    assert alone.labels is None
    assert alone.paths == [path for path in paths if path.parent.name == "digit 1"]


def test_gist_of_files_is_that_of_their_pixels(folder, monkeypatch):
    paths, _ = list_images(folder)
    images = read_images(paths, (32, 24))
    assert images.shape == (12, 32, 24, 3)
    np.testing.assert_array_equal(images[3, ..., 0], np.asarray(Image.open(paths[3])))
    monkeypatch.setattr("sklearn_hashrank.feature_extraction._gist._FILES", 5)
    gist = GIST(image_shape=(32, 24, 3))
    expected = gist.fit_transform(images)
    for given in (folder, str(folder), paths, np.array(list(map(str, paths)))):
        np.testing.assert_array_equal(gist.fit_transform(given), expected)
    gray = GIST(image_shape=(32, 24)).fit_transform(paths)
    np.testing.assert_allclose(gray, expected, atol=1e-5)
    assert GIST().fit_transform(paths[:2]).shape == (2, 512)


def test_broken_images_are_named(folder):
    path = folder / "digit 0" / "00.png"
    for content in (b"nothing", path.read_bytes()[:60], b""):
        path.write_bytes(content)
        with pytest.raises(MalformedFileError, match="00.png"):
            GIST().fit_transform(folder)
    with pytest.raises(FileNotFoundError):
        read_images([folder / "gone.png"])


def test_folders_that_say_nothing_are_refused(folder, tmp_path):
    Image.new("L", (8, 8)).save(folder / "stray.png")
    with pytest.raises(ValueError, match="stray.png"):
        list_images(folder)
    with pytest.raises(ValueError, match="holds no images: .bmp, .gif"):
        list_images(folder / ".hidden")
    with pytest.raises(ValueError, match="no such folder"):
        list_images(folder / "gone")
    with pytest.raises(ValueError, match="size"):
        read_images([], (0, 3))
    with pytest.raises(ValueError, match="-1"):
        GIST(image_shape=(-1, 8)).fit([folder / "stray.png"])


def test_pillow_is_named_where_it_is_missing(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match="PIL.*pip install"):
        read_images([Path("a.png")])
