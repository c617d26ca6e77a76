"""Pictures, texts and tables of pages."""

import base64
import io

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sklearn_hashrank import LSHHasher
from sklearn_hashrank.explore import write_page
from tests.explore.test_page_writer import read
from tests.hostile import HOSTILE

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "page.html"


def page_of(path, n, **options):
    X = np.random.default_rng(0).normal(size=(n, 4))
    write_page(path, LSHHasher(4).fit(X), X, **options)
    return read(path)["items"]


def pictures_of(items):
    """The pictures of a page, cut out of its sheets as the script does it."""
    sheets = [
        np.asarray(Image.open(io.BytesIO(base64.b64decode(sheet)))) for sheet in items["sheets"]
    ]
    height, width, columns = items["cellHeight"], items["cellWidth"], items["columns"]
    of_sheets = []
    for sheet in sheets:
        for top in range(0, sheet.shape[0], height):
            for left in range(0, columns * width, width):
                cell = sheet[top : top + height, left : left + width]
                of_sheets.append(cell[: items["height"], : items["width"]])
    return of_sheets


def test_grey_pictures_are_kept_to_the_pixel(path):
    images = np.random.default_rng(0).integers(0, 256, (1100, 5, 7), dtype=np.uint8)
    items = page_of(path, 1100, images=images)
    assert (items["kind"], items["format"], len(items["sheets"])) == ("pictures", "image/png", 2)
    np.testing.assert_array_equal(pictures_of(items)[:1100], images)


def test_numbers_are_stretched_to_bytes(path):
    X, y = load_digits(return_X_y=True)
    write_page(path, LSHHasher(4).fit(X), X, y, image_shape=(8, 8))
    expected = np.round(X * 255 / 16).reshape(-1, 8, 8)
    np.testing.assert_array_equal(pictures_of(read(path)["items"])[: len(X)], expected)
    flat = page_of(path, 10, images=np.full((10, 3, 3), 2.5))
    assert not np.any(pictures_of(flat)[0])


def test_coloured_pictures_do_not_run_into_each_other(path):
    rng = np.random.default_rng(0)
    colours = rng.integers(0, 256, (40, 3), dtype=np.uint8)
    images = np.broadcast_to(colours[:, None, None], (40, 10, 10, 3))
    items = page_of(path, 40, images=images)
    assert items["format"] == "image/jpeg"
    for picture, colour in zip(pictures_of(items), colours):
        assert np.abs(picture.astype(int) - colour).max() <= 6


def test_a_folder_of_pictures(path, tmp_path):
    folder = tmp_path / "pictures"
    (folder / "in").mkdir(parents=True)
    red = Image.new("RGB", (300, 100), (255, 0, 0))
    red.save(folder / "in" / "1 <b>.png")
    Image.new("L", (20, 20), 200).save(folder / "2.jpg")
    Image.new("RGBA", (64, 64), (0, 0, 0, 0)).save(folder / "3.png")
    Image.new("P", (64, 64), 0).save(folder / "4.gif")
    paths = [folder / "in" / "1 <b>.png", *(folder / n for n in ("2.jpg", "3.png", "4.gif"))]
    items = page_of(path, 4, images=list(map(str, paths)))
    assert items["names"] == ["in/1 <b>.png", "2.jpg", "3.png", "4.gif"]
    wide, grey, clear, black = (picture.astype(int) for picture in pictures_of(items)[:4])
    assert wide.shape == (64, 64, 3)
    assert np.abs(wide[32, 32] - (255, 0, 0)).max() < 12
    assert np.abs(wide[5, 32] - 128).max() < 12
    assert np.abs(grey[32, 32] - 200).max() < 12
    assert np.abs(clear - 128).max() < 12
    assert black[32, 32].max() < 12


def test_what_is_no_picture_is_named(path, tmp_path):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    with pytest.raises(ValueError, match="broken.png: cannot be read as a picture"):
        page_of(path, 3, images=[broken] * 3)
    with pytest.raises(ValueError, match="gone.png: cannot be read as a picture"):
        page_of(path, 3, images=[tmp_path / "gone.png"] * 3)
    assert not path.exists()


def test_long_texts_are_cut(path):
    items = page_of(path, 3, texts=["a" * 1000, "short", "line\nline"])
    assert items["texts"] == ["a" * 299 + "\N{HORIZONTAL ELLIPSIS}", "short", "line line"]


def test_tables_show_their_first_columns(path):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({f"c{i}": [i + 0.123456, 2.0, np.nan] for i in range(9)})
    items = page_of(path, 3, table=table)
    assert items["columns"] == [f"c{i}" for i in range(8)]
    assert items["cells"][1] == ["1.123", "2", "nan"]


def test_file_names_are_no_markup(path, tmp_path):
    names = [name for name in HOSTILE if name.strip() and "/" not in name and "\n" not in name]
    paths = [tmp_path / f"{number}{name}.png" for number, name in enumerate(names)]
    for each in paths:
        Image.new("L", (4, 4)).save(each)
    items = page_of(path, len(paths), images=paths)
    assert items["names"][0] == f"{paths[0].name}"
    assert path.read_text("utf-8").count("<script") == 2


@pytest.mark.parametrize(("shape", "most"), [((28, 28), 10_000), ((64, 64, 3), 1_900)])
def test_as_many_pictures_as_fit(path, shape, most):
    n = most + 700
    images = np.broadcast_to(np.zeros(1, np.uint8), (n, *shape))
    X = np.zeros((n, 4))
    X[:, 0] = np.arange(n) - n / 2
    page = write_page(path, LSHHasher(4).fit(X), X, X[:, 0] > 0, images=images, metric=None)
    assert page.is_sampled
    assert most <= page.n_items < most + 300
