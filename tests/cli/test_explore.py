"""``hashrank explore``: files in, a page out."""

import csv
import re

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sklearn_hashrank import ITQHasher, LSHHasher, save_hasher
from sklearn_hashrank.cli import main
from tests.explore.test_page_writer import array, read
from tests.hostile import HOSTILE


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:200], y[:200]


@pytest.fixture
def folder(tmp_path, monkeypatch, digits):
    monkeypatch.chdir(tmp_path)
    X, y = digits
    np.savez("digits.npz", X=X, y=y, words=np.array([f"digit {word}" for word in y]))
    np.save("X.npy", X)
    np.save("y.npy", y)
    save_hasher("itq.npz", ITQHasher(8, random_state=0).fit(X))
    save_hasher("lsh.npz", LSHHasher(12, random_state=0).fit(X))
    return tmp_path


def explore(capsys, *arguments, output="page.html"):
    code = main(["explore", *arguments, "--output", output])
    return code, *capsys.readouterr()


def test_named_data_show_their_pictures(folder, capsys):
    code, out, _ = explore(capsys, "--data", "digits", "--model", "itq.npz,lsh.npz")
    data = read(folder / "page.html")
    assert code == 0
    assert re.fullmatch(r"page\.html: 1,797 items, 1,000 queries, 0\.\d MB\n", out)
    assert [model["name"] for model in data["models"]] == ["itq", "lsh"]
    assert (data["items"]["kind"], data["items"]["width"]) == ("pictures", 8)
    assert data["title"] == "digits"


def test_a_sample_is_said(folder, capsys):
    code, out, err = explore(
        capsys, "--data", "digits.npz", "--model", "itq.npz", "--items", "50", "--queries", "5"
    )
    assert (code, out.split(",")[:2]) == (0, ["page.html: 50 items", " 5 queries"])
    assert "50 of 200 rows, sampled" in err
    assert read(folder / "page.html")["sampledFrom"] == 200


def test_labels_and_image_shape(folder, capsys):
    pytest.importorskip("PIL")
    explore(
        capsys, "--data", "X.npy", "--labels", "y.npy", "--model", "itq.npz", "--image-shape", "8,8"
    )
    data = read(folder / "page.html")
    assert data["labels"]["words"] == list("0123456789")
    assert data["items"]["height"] == 8


def test_a_folder_of_pictures_belongs_to_the_rows(folder, capsys):
    Image = pytest.importorskip("PIL.Image")
    (folder / "pictures").mkdir()
    for row in range(200):
        Image.new("L", (4, 4), row).save(folder / "pictures" / f"{row:03}.png")
    (folder / "pictures" / "readme.txt").write_text("no picture")
    code, _, err = explore(capsys, "--data", "X.npy", "--model", "itq.npz", "--images", "pictures")
    assert code == 0
    assert "from pictures/000.png to pictures/199.png" in err
    assert read(folder / "page.html")["items"]["names"][7] == "007.png"
    (folder / "pictures" / "000.png").unlink()
    code, _, err = explore(capsys, "--data", "X.npy", "--model", "itq.npz", "--images", "pictures")
    assert code == 2
    assert "199 pictures for 200 rows" in err
    code, _, err = explore(capsys, "--data", "X.npy", "--model", "itq.npz", "--images", "gone")
    assert (code, "0 pictures for 200 rows" in err) == (2, True)


@pytest.fixture
def table(folder, digits):
    """A table of texts, labels and two features, and a model that was fitted on the features."""
    X, y = digits
    texts = [HOSTILE[row % len(HOSTILE)] for row in range(200)]
    with open("items.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "a", "b", "class"])
        writer.writerows(zip(texts, X[:, 10], X[:, 20], y))
    with open("numbers.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["a", "b", "class"], *zip(X[:, 10], X[:, 20], y)])
    fit = "fit --data numbers.csv --label-column class --bits 2 --output m.npz"
    assert main(fit.split()) == 0
    return texts


def test_texts_of_a_column(folder, table, capsys):
    options = "--data items.csv --label-column class --texts text --model m.npz"
    code, _, err = explore(capsys, *options.split())
    assert code == 0, err
    shown = read(folder / "page.html")["items"]["texts"]
    assert shown[0] == table[0]
    assert len(shown) == 200


def test_texts_of_the_file_of_labels(folder, table, capsys):
    code, _, err = explore(
        capsys, "--data", "X.npy", "--labels", "items.csv", "--label-column", "class",
        "--texts", "text", "--model", "itq.npz",
    )  # fmt: skip
    assert code == 0, err
    assert read(folder / "page.html")["items"]["texts"][1] == table[1]
    code, _, err = explore(capsys, "--data", "digits.npz", "--texts", "words", "--model", "itq.npz")
    assert read(folder / "page.html")["items"]["texts"][1] == "digit 1"


def test_texts_of_lines(folder, capsys):
    (folder / "texts.txt").write_text("".join(f"text {row}\n" for row in range(200)), "utf-8")
    code, *_ = explore(capsys, "--data", "X.npy", "--texts", "texts.txt", "--model", "itq.npz")
    assert (code, read(folder / "page.html")["items"]["texts"][199]) == (0, "text 199")
    (folder / "texts.txt").write_text("one\n", "utf-8")
    code, _, err = explore(capsys, "--data", "X.npy", "--texts", "texts.txt", "--model", "itq.npz")
    assert (code, "1 texts for 200 rows" in err) == (2, True)


def test_texts_in_parquet(folder, digits, capsys):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X, y = digits
    columns = {f"f{place}": X[:, place] for place in range(64)}
    texts = [None, *["words"] * 199]
    parquet.write_table(pa.table({**columns, "text": texts, "y": y}), "items.parquet")
    code, _, err = explore(
        capsys, "--data", "items.parquet", "--label-column", "y", "--texts", "text",
        "--model", "itq.npz", "--neighbors-output", "found.parquet",
    )  # fmt: skip
    assert code == 0, err
    assert read(folder / "page.html")["items"]["texts"][:2] == ["", "words"]
    found = parquet.read_table("found.parquet")
    assert found.column_names == ["text", "label", "neighbors"]
    assert len(found.column("neighbors")[0].as_py()["ids"]) == 50


def test_rows_of_a_table_are_shown(folder, table, capsys):
    code, *_ = explore(
        capsys, "--data", "numbers.csv", "--label-column", "class", "--model", "m.npz"
    )
    items = read(folder / "page.html")["items"]
    assert (code, items["kind"], items["columns"]) == (0, "table", ["a", "b"])


def test_near_rows_are_relevant_and_labels_name_the_items(folder, capsys):
    explore(capsys, "--data", "digits.npz", "--model", "itq.npz", "--neighbors", "5")
    data = read(folder / "page.html")
    assert "5 nearest rows are relevant" in data["relevance"]["description"]
    assert data["labels"]["words"] == list("0123456789")
    levels = array(data["relevance"]["rows"]).reshape(200, 200)
    np.fill_diagonal(levels := levels.copy(), 0)
    assert (levels.sum(axis=1) >= 5).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "itq.npz,itq.npz"], "names itq.npz twice"),
        (
            ["--model", "itq.npz,lsh.npz,m.npz"],
            "--model and --codes must name one file or two. Got 3",
        ),
        (["--model", "itq.npz", "--image-shape", "7,7"], "image_shape=(7, 7) does not fit"),
        (["--model", "itq.npz", "--texts", "nothing"], "--texts nothing must be a column of"),
        (["--model", "gone.npz"], "gone.npz"),
        (["--model", "itq.npz", "--neighbors-output", "n.csv"], "must end in .parquet"),
    ],
)
def test_errors_are_one_line(folder, capsys, options, message):
    code, _, err = explore(capsys, "--data", "X.npy", *options)
    assert code == 2
    assert message in err
    assert not (folder / "page.html").exists()


def test_a_model_of_labels_needs_labels_or_near_rows(folder, digits, capsys):
    save_hasher("labels.npz", ITQHasher(8).fit(*digits))
    code, _, err = explore(capsys, "--data", "X.npy", "--model", "labels.npz")
    assert (code, "labels.npz was fitted with labels: give --labels" in err) == (2, True)
    code, *_ = explore(capsys, "--data", "X.npy", "--model", "labels.npz", "--neighbors", "10")
    assert code == 0


def test_the_output_is_a_page_and_no_input(folder, capsys):
    code, _, err = explore(capsys, "--data", "X.npy", "--model", "itq.npz", output="page.txt")
    assert (code, "must end in .html" in err) == (2, True)


def test_models_of_other_columns_are_refused(folder, capsys):
    for name in ("a,b", "a,c"):
        (folder / f"{name[-1]}.csv").write_text(f"{name}\n1,2\n3,5\n")
        main(["fit", "--data", f"{name[-1]}.csv", "--bits", "2", "--output", f"{name[-1]}.npz"])
    capsys.readouterr()
    code, _, err = explore(capsys, "--data", "b.csv", "--model", "b.npz,c.npz")
    assert code == 2
    assert "trained on different columns" in err


def test_codes_of_something_else_beside_a_model(folder, capsys, digits):
    X, _ = digits
    bits = (X[:, 10:18] > X[:, 10:18].mean(axis=0)).astype(np.uint8)
    np.save("bits.npy", bits)
    code, _, _ = explore(
        capsys, "--data", "digits.npz", "--model", "itq.npz", "--codes", "mine=bits.npy"
    )
    data = read(folder / "page.html")
    assert code == 0
    assert [(each["name"], each["nBits"]) for each in data["models"]] == [("itq", 8), ("mine", 8)]
    codes = array(data["models"][1]["codes"])
    assert (codes == np.packbits(bits, axis=1)[:, 0]).all()


def test_codes_of_tables_and_addresses_belong_to_the_rows(folder, capsys, digits):
    """In the order of their ids; a folder has the codes of one model."""
    fsspec, parquet = pytest.importorskip("fsspec"), pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    ids = np.arange(200) + 7
    columns = {f"f{place}": values for place, values in enumerate(digits[0].T)}
    parquet.write_table(pa.table({"id": ids, **columns}), "items.parquet")
    parquet.write_table(pa.table({"id": ids[::-1], **columns}), "reversed.parquet")
    for name in ("items", "reversed"):
        files = ["--data", f"{name}.parquet", "--output", f"{name}.codes.parquet"]
        assert main(["encode", "--model", "itq.npz", *files]) == 0
    with fsspec.open("memory://codes/itq.npy", "wb") as file:
        np.save(file, np.load("X.npy")[:, :9] > 3)
    for command in (["explore", "--output", "p.html"], ["compare", "--methods", "lsh"]):
        words = [*command, "--data", "items.parquet", "--codes"]
        assert main([*words, "a=reversed.codes.parquet"]) == 2
        assert "row 0 is 7, and of reversed.codes.parquet it is 206" in capsys.readouterr().err
    codes = ["a=items.codes.parquet", "--codes", "b=memory://codes/itq.npy"]
    assert (
        main(["explore", "--data", "items.parquet", "--codes", *codes, "--output", "p.html"]) == 0
    )
    assert [each["nBits"] for each in read(folder / "p.html")["models"]] == [8, 9]


@pytest.mark.parametrize("looks", ["images.npy", "pictures"])
def test_codes_labels_and_pictures_need_no_features(folder, capsys, digits, looks):
    image = pytest.importorskip("PIL.Image")
    X, _ = digits
    pictures = X.reshape(-1, 8, 8)
    np.save("tanh.npy", np.tanh(X[:, :12] - 3))
    np.save("images.npy", pictures)
    (folder / "pictures").mkdir()
    for number, picture in enumerate(pictures):
        image.fromarray((16 * picture).clip(0, 255).astype(np.uint8)).save(
            folder / "pictures" / f"{number:03}.png"
        )
    options = ["--codes", "net=tanh.npy", "--threshold", "0", "--labels", "y.npy"]
    code, out, err = explore(capsys, *options, "--images", looks)
    assert (code, out.split(",")[0]) == (0, "page.html: 200 items"), err
    data = read(folder / "page.html")
    assert data["exact"] is None
    assert data["models"][0]["nBits"] == 12
    assert data["items"]["kind"] == "pictures"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ([], "--model and --codes"),
        (["--codes", "a=bits.npy", "--codes", "a=bits.npy", "--labels", "y.npy"], "'a' twice"),
        (["--model", "itq.npz", "--codes", "itq=bits.npy", "--data", "X.npy"], "itq twice"),
        (["--codes", "a=bits.npy"], "needs --labels"),
        (["--model", "itq.npz"], "--model needs --data"),
        (["--codes", "a=bits.npy", "--labels", "y.npy", "--neighbors", "3"], "needs --data"),
        (
            ["--codes", "a=bits.npy", "--data", "X.npy", "--neighbors-output", "f.parquet"],
            "--model",
        ),
    ],
)
def test_what_codes_alone_do_not_give(folder, capsys, digits, options, named):
    np.save("bits.npy", (digits[0][:, :9] > 3).astype(np.uint8))
    code, _, err = explore(capsys, *options)
    assert (code, named in err) == (2, True), err
