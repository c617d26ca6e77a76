"""Splits of the rows by a protocol, sampled anew for every seed."""

import copy
from dataclasses import fields
from typing import Any

from ..model_selection._chosen_split import choose_retrieval_split
from ..model_selection._splits import RetrievalSplit


def check_protocol(protocol: Any, X: Any, y: Any) -> tuple[Any, str]:
    """Return the protocol, or one chosen by the data where it is None, and why it was chosen."""
    if protocol is None:
        return choose_retrieval_split(X, y)
    if not isinstance(protocol, RetrievalSplit) and not hasattr(protocol, "split"):
        raise ValueError(
            "protocol must be a RetrievalSplit, a split object such as PerClassRetrievalSplit(), "
            f"or None. Got {protocol!r} instead."
        )
    return protocol, ""


def draw_split(protocol: Any, X: Any, y: Any, seed: int) -> RetrievalSplit:
    """First split of a split object whose `random_state` is the seed; a given split as it is."""
    split = protocol
    if not isinstance(protocol, RetrievalSplit):
        seeded = copy.copy(protocol)
        seeded.random_state = seed
        split = _checked_split(next(iter(seeded.split(X, y)), None), protocol)
    last = max(rows.max() for rows in split)
    if last >= X.shape[0]:
        raise ValueError(f"protocol has row {last}, but X has only {X.shape[0]} rows.")
    return split


def _checked_split(split: Any, protocol: Any) -> RetrievalSplit:
    """Check what a split object gave; those of scikit-learn give two parts instead of three."""
    if isinstance(split, RetrievalSplit):
        return split
    if not isinstance(split, (tuple, list)) or len(split) != len(fields(RetrievalSplit)):
        found = f"{len(split)} parts" if isinstance(split, (tuple, list)) else repr(split)
        raise ValueError(
            "protocol must give splits of three parts: training rows, queries and database. "
            f"{type(protocol).__name__} gave {found}."
        )
    return RetrievalSplit(*split)


def describe_protocol(
    protocol: Any, reason: str, splits: dict[int, RetrievalSplit]
) -> dict[str, str]:
    """Say which rows are queries, database and training rows, and why so if they were chosen."""
    sizes = [
        f"{len(query):,} queries, {len(database):,} database rows, {len(train):,} training rows"
        for train, query, database in splits.values()
    ]
    seeds = ", ".join(map(str, splits))
    if isinstance(protocol, RetrievalSplit):
        split, sampled = "row numbers that were given", "each samples a hasher"
    else:
        split, sampled = _without_seed(protocol), "each samples a split and a hasher"
    chosen = {"chosen because": reason} if reason else {}
    return {
        "split": split,
        **chosen,
        "sizes": "; ".join(dict.fromkeys(sizes)),
        "queries": "no query is in the database, and none was trained on",
        "seeds": f"{seeds}; {sampled}",
    }


def _without_seed(protocol: Any) -> str:
    seeded = copy.copy(protocol)
    seeded.random_state = "SEED"
    return repr(seeded).replace("'SEED'", "seed")
