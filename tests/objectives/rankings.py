"""Ranking objectives by name and relaxation."""

from functools import partial

from sklearn_hashrank.objectives import NDCG, AveragePrecision, MutualInformation

RANKINGS = {
    (name, relaxation): partial(kind, relaxation=relaxation)
    for name, kind in (("ap", AveragePrecision), ("ndcg", NDCG))
    for relaxation in ("simplified", "arxiv", "cvpr", "exact")
}
RANKINGS["mi", "exact"] = MutualInformation
