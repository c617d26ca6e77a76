"""A short run of what ``make fuzz`` does at length."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from sklearn_hashrank import EuclideanAffinity
from tests.fuzz.__main__ import command_lines
from tests.fuzz.corruption import corrupted
from tests.fuzz.crafted import CraftedError, fuzz_crafted
from tests.fuzz.outputs import fuzz_outputs
from tests.fuzz.readers import READERS
from tests.fuzz.run import FuzzError, fuzz
from tests.fuzz.searches import SearchError, fuzz_searches
from tests.fuzz.shards import ShardError, fuzz_shards

ROOT = Path(__file__).parents[2]
CASES, COMMAND_LINES = 40, 3
OF_ARRAYS = [reader for reader in READERS if reader.file.startswith(("f.np", "index"))]
KNOWN = {"npz, compressed": 82}  # cases that once did something else


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_corrupted_files_are_refused_or_read_as_what_they_say(reader, tmp_path):
    counts = fuzz(reader, CASES, 1, tmp_path)
    assert sum(counts.values()) == CASES
    assert counts["refused"] > 0
    assert not (reader.has_checksum and counts["as it says"])


@pytest.mark.parametrize("reader", OF_ARRAYS, ids=lambda reader: reader.name)
def test_no_reader_of_arrays_takes_a_part_of_a_file(reader, tmp_path):
    """Not even where all arrays are in that part."""
    path = tmp_path / reader.file
    reader.write(path)
    whole = path.read_bytes()
    for length in {*range(0, len(whole), len(whole) // 300), *range(len(whole))[-300:]}:
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="."):
            reader.read(path)


@pytest.mark.parametrize("name", KNOWN)
def test_what_was_found_stays_found(name, tmp_path):
    [reader] = [reader for reader in READERS if reader.name == name]
    assert fuzz(reader, 1, 0, tmp_path, first=KNOWN[name])["refused"] == 1


@pytest.mark.parametrize("reader", [r for r in READERS if r.command], ids=lambda r: r.name)
def test_the_command_says_so_in_one_line(reader):
    assert command_lines(reader, COMMAND_LINES, 1) == COMMAND_LINES


def test_a_reader_that_believes_everything_is_noticed(tmp_path):
    [reader] = [reader for reader in READERS if reader.name == "idx"]
    for read in (Path.read_bytes, lambda path: 1 // (len(path.read_bytes()) - 2368)):
        with pytest.raises((FuzzError, ZeroDivisionError)):
            fuzz(reader._replace(read=read, has_checksum=True), CASES, 0, tmp_path)


def test_changes_are_changes_and_come_again():
    content = bytes(range(256)) * 4
    changed = [corrupted(content, Random(seed)) for seed in range(200)]
    assert content not in changed
    assert len(set(changed)) > 180
    assert changed == [corrupted(content, Random(seed)) for seed in range(200)]


@pytest.mark.process
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_what_a_killed_command_leaves_is_whole():
    """In a process of its own, which has no threads when it forks."""
    found = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--command", "encode", "--crashes", "2"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr


def test_crafted_values_are_refused_or_do_no_harm(monkeypatch):
    counts = fuzz_crafted(60, 1)
    assert counts.keys() == {"refused", "loaded"}
    monkeypatch.setattr("tests.fuzz.crafted.load_hasher", lambda path: 1 // 0)
    with pytest.raises(CraftedError, match="ZeroDivisionError"):
        fuzz_crafted(1, 1)


def test_searches_are_those_of_a_literal_sort():
    counts = fuzz_searches(40, 1)
    assert counts.total() == 120
    assert set(counts) == {"none", "for all", "of each", "sparse"}


def test_a_wrong_search_is_noticed(monkeypatch):
    monkeypatch.setattr("tests.fuzz.searches.np.flatnonzero", lambda passes: np.arange(len(passes)))
    with pytest.raises(SearchError, match="case [0-9]+, seed 1"):
        fuzz_searches(20, 1)


def test_shards_that_were_judged_differently_do_not_add_up(monkeypatch):
    assert fuzz_shards(60, 1).keys() == {"added", "refused"}
    monkeypatch.setattr(EuclideanAffinity, "digest", lambda self, queries: type(self).__name__)
    with pytest.raises(ShardError, match="judged differently"):
        fuzz_shards(500, 0)


def test_no_output_changes_what_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts = fuzz_outputs(150, 1)
    assert min(counts["refused"], counts["written"]) > 5
