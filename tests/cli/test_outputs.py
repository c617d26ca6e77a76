"""Outputs of the command: looked at before anything is read, and never its own input."""

import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from sklearn_hashrank import ITQHasher, load_hasher, save_hasher
from sklearn_hashrank.cli import main
from tests.instances import METHODS_HERE

X = np.random.default_rng(0).normal(size=(60, 5))
QUICKER = {
    "additive": "additive:max_iter=2",
    "autoencoder": "autoencoder:max_iter=2",
    "fasthash": "fasthash:n_estimators=3",
    "structhash": "structhash:C=1.0",
    "structhash-trees": "structhash-trees:n_estimators=3",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Data, a model and codes; and nothing may be read or computed."""
    monkeypatch.chdir(tmp_path)
    np.save("data.npy", X)
    np.savez("data.npz", X=X, y=np.arange(60) % 3)
    np.savez("labels.npz", y=np.arange(60) % 3)
    hasher = ITQHasher(4, random_state=0).fit(X)
    save_hasher("model.npz", hasher)
    hasher.encode_blocks(X, out="codes.npy")
    hasher.encode_blocks(X, out="q.npy")
    (tmp_path / "report").mkdir()
    Path("report/runs.csv").write_text("a,b\n1,2\n3,4\n")
    return tmp_path


@pytest.fixture
def nothing_is_read(monkeypatch):
    def fail(*arguments, **options):
        raise AssertionError("too late")

    for place in (
        "_command_compare.load_data",
        "_command_encode.load_model",
        "_command_fit.load_data",
        "_command_search.load_model",
        "_command_search.read_codes",
    ):
        monkeypatch.setattr(f"sklearn_hashrank.cli.{place}", fail)


def test_names_that_are_not_utf8_are_refused_first(folder, nothing_is_read, capsys):
    name = os.fsdecode(b"caf\xe9")
    for arguments in (
        ["fit", "--data", "data.npz", "--output", f"{name}.npz"],
        ["encode", "--data", f"{name}.npy", "--model", "model.npz", "--output", "c.npy"],
        ["compare", "--data", f"{name}.npz"],
        ["compare", "--data", "data.npz", "--output", name],
    ):
        assert main(arguments) == 2
        err = capsys.readouterr().err
        assert r"caf\udce9" in err
        assert "is not UTF-8. Rename the file or the folder." in err
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "--data", "data.npz", "--output", "m.npz"],
        ["encode", "--model", "model.npz", "--data", "data.npy", "--output", "c.npy"],
        ["search", "--database", "codes.npy", "--queries", "q.npy", "--output", "f.csv"],
        ["compare", "--data", "data.npz", "--output", "report"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_folders_that_cannot_be_written_to_are_told_first(
    folder, nothing_is_read, capsys, monkeypatch, arguments
):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert "its folder cannot be written to" in err or "Permission denied" in err
    assert err.count("\n") == 1


def test_a_link_as_output_is_written_through(folder):
    (folder / "far").mkdir()
    Path("m.npz").symlink_to("far/model.npz")
    fit = ["fit", "--data", "data.npz", "--method", "lsh", "--bits", "4", "--output", "m.npz"]
    assert main(fit) == 0
    assert Path("m.npz").is_symlink()
    assert load_hasher("far/model.npz").n_bits == 4


@pytest.mark.parametrize("method", METHODS_HERE)
def test_every_method_is_fitted_to_files_and_encodes_them(method, folder, capsys):
    paths = np.stack([np.arange(60) % 2, np.arange(60) % 4], axis=1)
    np.save("paths.npy", paths if method.startswith("hierarchical") else paths[:, 1])
    bits = "8" if method == "additive" else "4"
    method = QUICKER.get(method, method)
    fit = ["fit", "--data", "data.npy", "--labels", "paths.npy", "--bits", bits]
    fit += ["--method", method]
    assert main([*fit, "--output", "m.npz"]) == 0
    assert main(["encode", "--model", "m.npz", "--data", "data.npy", "--output", "c.npy"]) == 0
    assert capsys.readouterr().out.endswith(f"c.npy: 60 codes of {bits} bits\n")
    np.testing.assert_array_equal(np.load("c.npy"), load_hasher("m.npz").packed_codes(X))
    search = ["search", "--database", "c.npy", "--model", "m.npz", "--data", "data.npy", "-k", "1"]
    assert main([*search, "--output", "found.npz"]) == 0
    np.testing.assert_array_equal(np.load("found.npz")["distances"], 0)


def test_the_command_knows_names(folder, capsys):
    """Feature names are in the hasher."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.to_csv("t.csv", index=False)
    fit = ["fit", "--data", "t.csv", "--bits", "4", "--output", "m.npz"]
    assert main(fit) == 0
    np.testing.assert_array_equal(load_hasher("m.npz").feature_names_in_, list("abcde"))
    encode = ["encode", "--model", "m.npz", "--output", "c.npy", "--data"]
    capsys.readouterr()
    for data in ("t.csv", "data.npy"):
        assert main([*encode, data]) == 0
        assert capsys.readouterr().err == ""
        np.testing.assert_array_equal(np.load("c.npy"), load_hasher("m.npz").encode_blocks(frame))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_tables_are_printed_whatever_the_terminal_can_show(
    encoding, folder, monkeypatch, no_pictures
):
    """Files are written as ever; a character that the encoding lacks is an escape."""
    np.savez("d.npz", X=np.random.default_rng(0).normal(size=(60, 4)), y=np.arange(60) % 3)
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    words = "compare --data d.npz --methods lsh --bits 4 --seeds 2 --queries 5 --training 10"
    assert main([*words.split(), "--output", "found"]) == 0
    stream.flush()
    assert b"\\u2013" in stream.buffer.getvalue()
    assert "report: found" in stream.buffer.getvalue().decode(encoding)
    assert stream.errors == "strict"


def test_messages_hold_no_control_characters(folder, capsys):
    """A name in a file cannot send commands to a terminal."""
    np.savez("d.npz", a=np.zeros(3), **{"\x1b[2J\u202eX": np.zeros(3)})
    assert main(["fit", "--data", "d.npz", "--output", "m.npz"]) == 2
    message = capsys.readouterr().err
    assert r"\x1b[2J\u202eX (3,)" in message
    assert "\x1b" not in message


@pytest.mark.parametrize("value", ["(" * 300, "-" * 5000 + "1", "[" * 100_000])
def test_values_that_are_nested_deeply_are_refused(value, folder, capsys):
    np.savez("d.npz", X=np.zeros((3, 2)))
    words = ["fit", "--data", "d.npz", "--output", "m.npz", "--method", f"talr-ap:alpha={value}"]
    assert main(words) == 2
    assert "The 'alpha' parameter" in capsys.readouterr().err
