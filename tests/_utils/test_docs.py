"""Shared texts are written into docstrings as if they had been typed there."""

import inspect

import pytest

from sklearn_hashrank._utils.docs import documented_by

X = """
X : array
    Rows.

y : array"""


@pytest.mark.parametrize(
    ("fragments", "indent"),
    [({"rows": X}, 0), ({"rows": "X : array\n            Rows.\n\n        y : array"}, 8)],
)
def test_a_text_takes_the_indentation_of_its_place(fragments, indent):
    documented = documented_by(fragments, indent)

    @documented
    class Thing:
        """Something.

        Parameters
        ----------
        {rows}
        format : {"rows", "columns"}
            Not a {rows} place.
        """

    expected = [
        "Something.",
        "",
        "Parameters",
        "----------",
        *("X : array", "    Rows.", "", "y : array"),
        'format : {"rows", "columns"}',
        "    Not a {rows} place.",
    ]
    assert inspect.getdoc(Thing).splitlines() == expected


def test_without_docstrings_nothing_happens():
    def function():
        pass

    assert not documented_by({"rows": X})(function).__doc__
