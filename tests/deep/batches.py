"""Losses by name, and small batches with relevance of every form."""

import torch

from sklearn_hashrank.deep import PairwiseLoss, TieAwareLoss
from sklearn_hashrank.objectives import DTSH
from sklearn_hashrank.objectives._objective_names import OBJECTIVES, PAIRWISE_OBJECTIVES

N_ROWS, N_BITS = 24, 8

_random = torch.Generator().manual_seed(0)
CLASSES = torch.randint(0, 4, (N_ROWS,), generator=_random)
PATHS = torch.randint(0, 3, (N_ROWS, 2), generator=_random)
LABEL_SETS = torch.randint(0, 2, (N_ROWS, 5), generator=_random)
VECTORS = torch.randn(N_ROWS, 3, generator=_random, dtype=torch.float64)

RANKING = {
    f"{name}-{relaxation}-{delta}": (TieAwareLoss, (name,), {"relaxation": relaxation, **options})
    for name, relaxation in OBJECTIVES
    for delta, options in (
        ("narrow", {"delta": 0.6, "n_bins": 5}),
        ("linear", {}),
        ("wide", {"delta": 1.5, "n_bins": None}),
    )
}
PAIRWISE = {
    name: (PairwiseLoss, (name,), {}) for name in [*PAIRWISE_OBJECTIVES, "dpsh", "hashnet", "dtsh"]
}
PAIRWISE["dtsh-graded"] = (PairwiseLoss, (DTSH(graded=True),), {})
LOSSES = {**RANKING, **PAIRWISE}


def make_loss(name, **options):
    kind, args, given = LOSSES[name]
    return kind(*args, **given, **options)


def make_scores(dtype=torch.float64, n_rows=N_ROWS, seed=1):
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn(n_rows, N_BITS, generator=random, dtype=torch.float64)
    return scores.to(dtype).requires_grad_()


def value_and_gradient(loss, scores, y):
    value = loss(scores, y)
    (gradient,) = torch.autograd.grad(value, scores)
    return value.detach(), gradient
