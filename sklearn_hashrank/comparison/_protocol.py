"""The rows of a comparison: one split for each seed, and how reports describe them."""

import copy
from dataclasses import fields
from typing import Any

from ..model_selection._splits import RetrievalSplit


def draw_split(protocol: Any, X: Any, y: Any, seed: int) -> RetrievalSplit:
    """First split of a split object whose `random_state` is the seed; a given split as it is."""
    split = protocol
    if not isinstance(protocol, RetrievalSplit):
        if not hasattr(protocol, "split"):
            raise ValueError(
                "protocol must be a RetrievalSplit, a split object such as "
                f"PerClassRetrievalSplit(), or None. Got {protocol!r} instead."
            )
        seeded = copy.copy(protocol)
        seeded.random_state = seed
        split = next(iter(seeded.split(X, y)), None)
        if not isinstance(split, RetrievalSplit):  # scikit-learn's give two parts
            if not isinstance(split, (tuple, list)) or len(split) != len(fields(RetrievalSplit)):
                found = f"{len(split)} parts" if isinstance(split, (tuple, list)) else repr(split)
                raise ValueError(
                    "protocol must give splits of three parts: training rows, queries and "
                    f"database. {type(protocol).__name__} gave {found}."
                )
            split = RetrievalSplit(*split)
    last = max(rows.max() for rows in split)
    if last >= X.shape[0]:
        raise ValueError(f"protocol has row {last}, but X has only {X.shape[0]} rows.")
    return split


def describe_protocol(
    protocol: Any, reason: str, splits: dict[int, RetrievalSplit]
) -> dict[str, str]:
    """Say which rows are queries, database and training rows, and why so if they were chosen."""
    sizes = [
        f"{len(query):,} queries, {len(database):,} database rows, {len(train):,} training rows"
        for train, query, database in splits.values()
    ]
    if isinstance(protocol, RetrievalSplit):
        split, sampled = "row numbers that were given", "each samples a hasher"
    else:
        seeded = copy.copy(protocol)
        seeded.random_state = "SEED"
        split = repr(seeded).replace("'SEED'", "seed")
        sampled = "each samples a split and a hasher"
    chosen = {"chosen because": reason} if reason else {}
    return {
        "split": split,
        **chosen,
        "sizes": "; ".join(dict.fromkeys(sizes)),
        "queries": "no query is in the database, and none was trained on",
        "seeds": f"{', '.join(map(str, splits))}; {sampled}",
    }
