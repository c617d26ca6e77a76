"""How strongly weights are held back, chosen by rows that are held out in turn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

_N_FOLDS = 3


class Strengths(NamedTuple):
    """What keeps weights from following the training rows too closely.

    Parameters
    ----------
    weight_decay : float
        Share of the weights that a step takes away.
    dropout : float
        Share of the features of each row that a step leaves out.
    """

    weight_decay: float
    dropout: float


CANDIDATES: Mapping[str, Sequence[float]] = {
    "dropout": (0.0, 0.1, 0.3, 0.5),
    "weight_decay": (0.0, 0.01, 0.05, 0.15, 0.4),
}
"""What is tried beside the value of "auto". Dropout matters more, and is chosen first."""


def held_out_folds(
    relevance: Any, rows: np.ndarray, random_state: np.random.RandomState
) -> Iterator[Any]:
    """Rows to learn from and rows to validate by, three times; classes in equal shares.

    Parameters
    ----------
    relevance : Relevance
        Of the training rows.
    rows : ndarray of shape (n_rows,)
        Numbers of the rows.
    random_state : RandomState instance
        Shuffles.

    Yields
    ------
    train, validation : ndarray
    """
    if len(rows) < 2 * _N_FOLDS:
        raise ValueError(
            f'"cv" holds a third of the rows out in turn and needs at least {2 * _N_FOLDS} rows. '
            f"Got n_samples = {len(rows)}."
        )
    order = random_state.permutation(rows)
    if relevance.class_of is not None:
        order = order[np.argsort(relevance.class_of[order], kind="stable")]
    for fold in range(_N_FOLDS):
        is_held_out = np.arange(len(order)) % _N_FOLDS == fold
        yield np.sort(order[~is_held_out]), np.sort(order[is_held_out])


def choose_strengths(
    start: Strengths,
    names: Sequence[str],
    score: Callable[[Strengths], Sequence[float]],
) -> tuple[Strengths, dict[str, list]]:
    """Change one strength after the other where held-out rows gain by it.

    The value with the highest mean is taken; of equal ones that of "auto". Waiting for a gain of
    more than a standard error kept values that a full search improves on.

    Parameters
    ----------
    start : Strengths
        What "auto" stands for.
    names : sequence of str
        The strengths that are chosen.
    score : callable ``(strengths) -> scores``
        A score of the held-out rows of each fold.

    Returns
    -------
    chosen : Strengths
    tried : dict of str to list
        ``"weight_decay"`` and ``"dropout"`` of everything that was tried, the ``"mean"`` of the
        folds and its standard deviation, ``"spread"``.
    """
    scores: dict[Strengths, np.ndarray] = {}

    def of_folds(strengths: Strengths) -> np.ndarray:
        if strengths not in scores:
            scores[strengths] = np.asarray(score(strengths), dtype=float)
        return scores[strengths]

    chosen = start
    for name in (each for each in CANDIDATES if each in names):
        others = [chosen._replace(**{name: value}) for value in CANDIDATES[name]]
        chosen = max([chosen, *others], key=lambda tried: of_folds(tried).mean())
    return chosen, {
        "weight_decay": [each.weight_decay for each in scores],
        "dropout": [each.dropout for each in scores],
        "mean": [float(values.mean()) for values in scores.values()],
        "spread": [float(values.std(ddof=1)) for values in scores.values()],
    }
