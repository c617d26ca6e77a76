"""Methods that cannot take the data, found before the first run and said all at once."""

from collections.abc import Iterable
from typing import Any

from ._runner import Run


def find_refusals(runs: Iterable[Run], X: Any, y: Any) -> dict[tuple[str, int], str]:
    """What hashers say of these training rows, by method and code length.

    An estimator without ``check_data(X, y)`` refuses nothing here, but when it is fitted.
    """
    refusals = {}
    for run in runs:
        check = getattr(run.hasher, "check_data", None)
        if not callable(check):
            continue
        try:
            check(X, y)
        except (ValueError, TypeError) as error:
            refusals[run.method, run.n_bits] = " ".join(str(error).split())
    return refusals


def describe_refusals(refusals: dict[tuple[str, int], str]) -> list[str]:
    """One text for each method: the code lengths it refuses, and what it says of the first."""
    lengths: dict[str, list[int]] = {}
    for method, n_bits in refusals:
        lengths.setdefault(method, []).append(n_bits)
    texts = []
    for method, of_method in lengths.items():
        bits = f" with {', '.join(map(str, of_method))} bits" if all(of_method) else ""
        texts.append(f"{method!r}{bits}: {refusals[method, of_method[0]]}")
    return texts
