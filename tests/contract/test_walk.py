"""The way of a row of data through the package stays short and one-way."""

from tests.contract.public import DOCS, load

walk = load(DOCS / "walk.py")

MOST_FILES = 28
MOST_ROOMS = 12


def test_walk_from_rows_to_average_precision():
    found = walk.from_rows_to_average_precision()
    assert found.files[0] == "hashers/talr.py"
    assert len(found.files) <= MOST_FILES
    assert len(found.rooms) <= MOST_ROOMS
    assert not found.steps_up  # between rooms the walk is one-way


def call(*files):
    """The last file is called by the one before it, and so on."""
    *callers, file = files
    return walk.Call("fit", tuple(reversed(callers)), file, "function")


def test_files_and_rooms_are_in_order_of_their_first_visit():
    found = walk.Walk([call("hashers/talr.py"), call("base.py"), call("hashers/talr.py")])
    assert found.files == ["hashers/talr.py", "base.py"]
    assert found.rooms == ["hashers", "base"]


def test_calls_within_a_room_and_towards_the_ground_are_one_way():
    inside = call("hashers/talr.py", "hashers/_minibatch.py")
    down = call("hashers/talr.py", "base.py", "rows/_source.py")
    found = walk.Walk([call("hashers/talr.py"), inside, down])
    assert found.steps_up == found.handed_over == []


def test_a_call_away_from_the_ground_is_a_step_up_unless_its_function_was_handed_over():
    step = call("rows/_source.py", "histogram/_counting.py")
    handed = call("histogram/_counting.py", "rows/_source.py", "histogram/_histogram.py")
    found = walk.Walk([step, handed])
    assert found.steps_up == [("rows", "histogram", "function")]
    assert found.handed_over == [("rows", "histogram", "function")]
