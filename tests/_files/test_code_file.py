"""Files of codes: every byte is checked, and what is wrong is named."""

import contextlib
import os

import numpy as np
import pytest

from sklearn_hashrank import HammingNeighbors, LSHHasher, load_hasher
from sklearn_hashrank._files.arrays import read_array, read_arrays
from sklearn_hashrank._files.codes import code_file, note_of_codes
from sklearn_hashrank._files.model_names import model_name
from sklearn_hashrank.cli import main
from sklearn_hashrank.codes import load_codes

X = np.random.default_rng(0).normal(size=(40, 7))
N_BITS = 12
HASHER = LSHHasher(N_BITS, random_state=0).fit(X)
CODES = HASHER.encode_blocks(X)


@pytest.fixture
def path(tmp_path):
    HASHER.encode_blocks(X, out=tmp_path / "codes.npy")
    return tmp_path / "codes.npy"


def test_what_was_written_is_read(path):
    for found in (load_codes(path, n_bits=N_BITS), load_codes(str(path))):
        np.testing.assert_array_equal(found, CODES)
        assert isinstance(found, np.memmap)
        assert not found.flags.writeable
    np.testing.assert_array_equal(np.load(path, mmap_mode="r"), CODES)
    assert note_of_codes(path) == (N_BITS, model_name(HASHER))
    with pytest.raises(ValueError, match=r"codes.npy' .*n_bits=12.* 16"):
        load_codes(path, n_bits=16)


def test_codes_do_not_replace_their_own_features(tmp_path):
    np.save(tmp_path / "X.npy", X)
    (tmp_path / "link.npy").symlink_to("X.npy")
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for rows in (mapped, mapped[5:]):
        with pytest.raises(ValueError, match="is the file that is read from"):
            HASHER.encode_blocks(rows, out=tmp_path / "link.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "X.npy"), X)


@pytest.mark.parametrize("n_rows", [0, 1, 10**5])
@pytest.mark.parametrize("n_bits", [1, 8, 700])
def test_any_shape(tmp_path, n_rows, n_bits):
    codes = np.random.default_rng(0).integers(0, 256, (n_rows, -(-n_bits // 8)), dtype=np.uint8)
    codes = codes[: 10**6 // codes.shape[1]]
    with code_file(tmp_path / "c", n_bits) as file:
        file.write(codes[: n_rows // 2])
        file.write(codes[n_rows // 2 :])
    np.testing.assert_array_equal(load_codes(tmp_path / "c", n_bits), codes)
    np.testing.assert_array_equal(np.load(tmp_path / "c"), codes)


def test_a_truncated_file_is_called_truncated(path):
    whole = path.read_bytes()
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        for read in (load_codes, note_of_codes):
            with pytest.raises(ValueError, match="codes.npy' is truncated"):
                read(path)


@pytest.mark.parametrize("flipped", [1, 4, 128])
def test_every_byte_matters(path, flipped):
    """The length of a code too: 12 and 16 bits take two bytes both."""
    whole = path.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= flipped
        path.write_bytes(changed)
        with pytest.raises(ValueError, match="was changed"):
            load_codes(path)
        with contextlib.suppress(ValueError):
            assert note_of_codes(path) == (N_BITS, model_name(HASHER))


@pytest.mark.parametrize(
    "harm", [lambda b: b + b"x", lambda b: b[:-20] + b[-19:] + b"x", lambda b: b"x" + b]
)
def test_other_harm(path, harm):
    path.write_bytes(harm(path.read_bytes()))
    with pytest.raises(ValueError, match="was changed"):
        load_codes(path)


@pytest.mark.parametrize("save", [np.save, np.savez, lambda file, codes: file.write(b"text")])
def test_files_of_others_are_told_apart(path, save):
    with open(path, "wb") as file:
        save(file, CODES)
    with pytest.raises(ValueError, match="encode_blocks"):
        load_codes(path)
    assert note_of_codes(path) is None


def test_other_files_of_the_package_are_told_apart(path):
    HammingNeighbors(n_bits=N_BITS).fit(CODES).save(path)
    for read in (load_codes, note_of_codes):
        with pytest.raises(
            ValueError, match="not .* encode_blocks .* but .* HammingNeighbors.save"
        ):
            read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_nobody_waits_for_a_pipe(tmp_path, capsys):
    """Whether a library or a command is given its name."""
    pipe = tmp_path / "pipe.npy"
    os.mkfifo(pipe)
    np.save(tmp_path / "codes.npy", CODES)
    np.savez(tmp_path / "X.npz", X=X)
    readers = (
        load_codes,
        note_of_codes,
        load_hasher,
        HammingNeighbors.load,
        read_array,
        read_arrays,
    )
    for read in readers:
        with pytest.raises(OSError, match="is not a regular file"):
            read(pipe)
    pipe, codes = str(pipe), str(tmp_path / "codes.npy")
    encode = ["encode", "--data", str(tmp_path / "X.npz"), "--output", str(tmp_path / "c.npy")]
    for command in (
        ["search", "--queries", codes, "--database", pipe],
        ["search", "--queries", pipe, "--database", codes, "--bits", "12"],
        ["evaluate", "--database", pipe, "--database-labels", codes],
        [*encode, "--model", pipe],
    ):
        assert main(command) == 2
        line = capsys.readouterr().err
        assert "is not a regular file" in line
        assert line.count("\n") == 1


def test_the_system_speaks_for_itself(tmp_path):
    for read in (load_codes, note_of_codes):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "missing")
        with pytest.raises(IsADirectoryError):
            read(tmp_path)


def test_the_command_reads_the_same_format(path, capsys, monkeypatch):
    """And .npy files of others, where --bits says how long their codes are."""
    monkeypatch.chdir(path.parent)
    np.save("plain.npy", CODES)
    np.save("y.npy", np.arange(40) % 3)
    search = ["search", "-k", "2", "--queries", "plain.npy", "--database"]
    evaluate = ["evaluate", "--database-labels", "y.npy", "--json", "--database"]
    results = {}
    for command in (search, evaluate):
        assert main([*command, "codes.npy"]) == 0
        results[command[0]] = capsys.readouterr().out
        assert main([*command, "plain.npy", "--bits", "12"]) == 0
        assert capsys.readouterr().out == results[command[0]]
        assert main([*command, "plain.npy"]) == 2
        assert "give n_bits=16" in capsys.readouterr().err
    whole = path.read_bytes()
    for harmed, message in (
        (whole[:-1], "is truncated"),
        (whole[: 192 + 80], "is truncated"),
        (whole.replace(b'"n_bits": 12', b'"n_bits": 16'), "was changed"),
        (whole[:200] + b"\1\2" + whole[202:], "was changed"),
    ):
        path.write_bytes(harmed)
        for command in (search, evaluate):
            for bits in ([], ["--bits", "12"]):
                assert main([*command, "codes.npy", *bits]) == 2
                line = capsys.readouterr().err
                assert message in line
                assert line.count("\n") == 1
    os.unlink(path)
    assert main([*search, "codes.npy"]) == 2
    assert "codes.npy" in capsys.readouterr().err
