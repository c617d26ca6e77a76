"""The walk from rows to average precision gets no longer without anybody noticing."""

from types import SimpleNamespace

from tests.contract.public import DOCS, load

walk = load(DOCS / "walk.py")

# What the architecture page aims at: 12 files, one-way. A change that needs more says so here.
MOST_FILES = 34
MOST_SWITCHES = 160
MOST_STEPS_BACK = 20


def test_walk_from_rows_to_average_precision():
    found = walk.from_rows_to_average_precision()
    assert found.files[0] == "hashers/talr.py"
    assert len(found.files) <= MOST_FILES
    assert found.switches <= MOST_SWITCHES
    assert len(found.steps_back) <= MOST_STEPS_BACK


def test_switches_and_steps_back_are_counted():
    calls = [(None, "a"), ("a", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("a", "c"), ("c", "a")]
    found = walk.Walk([SimpleNamespace(caller=caller, file=file) for caller, file in calls])
    assert found.files == ["a", "b", "c"]
    assert found.switches == 5
    assert found.steps_back == [("c", "a")]
