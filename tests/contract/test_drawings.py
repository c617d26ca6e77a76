"""Drawings of the guides are what their script draws."""

import re

from tests.contract.digits import DigitsChecker
from tests.contract.public import DOCS, load

drawings = load(DOCS / "drawings.py")


def test_kept_drawings_are_those_of_the_script():
    """Values may differ in the last digit, as on pages."""
    drawn = drawings.drawn()
    assert {path.name for path in drawings.FOLDER.iterdir()} == set(drawn)
    for name, text in drawn.items():
        kept = (drawings.FOLDER / name).read_text("utf-8")
        if name == "ties.svg":  # bars are as long as learned values say
            kept, text = (" ".join(re.findall(r">([^<]+)</text>", each)) for each in (kept, text))
        assert DigitsChecker().check_output(kept, text, 0), f"{name}: run python docs/drawings.py"


def test_every_drawing_is_on_a_page_in_both_themes():
    pages = "".join(path.read_text("utf-8") for path in DOCS.glob("*/*.rst"))
    for name in drawings.drawn():
        theme = re.search(r"-(light|dark)\.svg$", name)
        shown = f".. image:: /_static/drawings/{name}\n   :class: "
        assert pages.count(shown + (f"only-{theme[1]} drawing" if theme else "drawing")) == 1
