"""The pictures of a report, as SVG."""

from collections.abc import Sequence
from typing import NamedTuple

from ._runner import RunResult


class Figure(NamedTuple):
    """A picture, and where it goes."""

    section: str
    caption: str
    svg: bytes


def draw_figures(results: Sequence[RunResult]) -> list[Figure]:
    return []
