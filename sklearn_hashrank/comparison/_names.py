"""The table of methods: every name, the hasher it stands for, and a line about it."""

from typing import NamedTuple

from ..base import BaseHasher
from ..hashers.classifier import ClassifierHasher
from ..hashers.dispersion import DispersionHasher
from ..hashers.fasthash import FastHasher
from ..hashers.itq import ITQHasher
from ..hashers.lsh import LSHHasher
from ..hashers.lwh import LWHHasher
from ..hashers.machash import MACHasher
from ..hashers.pca import PCAHasher
from ..hashers.rsh import RSHHasher
from ..hashers.talr import TALRLinear

__all__ = ["GROUPS", "METHODS", "Method"]

GROUPS = {
    "independent": "do not look at the data, or only at its scale",
    "unsupervised": "learn from rows without labels",
    "supervised": "learn from labels, bit by bit or in alternating steps",
    "minibatch": "gradient ascent on pairs or triplets of a minibatch",
    "ranking": "learn from rankings, or from measures of them",
}
"""Groups of methods, in the order in which reports show them, and what they have in common."""


class Method(NamedTuple):
    """What a method name stands for."""

    hasher: BaseHasher
    group: str
    line: str

    @property
    def needs_y(self) -> bool:
        """Whether `fit` refuses rows without `y`."""
        return bool(self.hasher.__sklearn_tags__().target_tags.required)


METHODS: dict[str, Method] = {
    "lsh": Method(LSHHasher(), "independent", "random hyperplanes through the mean"),
    "pca": Method(PCAHasher(), "unsupervised", "signs of the principal components"),
    "itq": Method(ITQHasher(), "unsupervised", "principal components, rotated towards their signs"),
    "classifier": Method(
        ClassifierHasher(), "supervised", "class codes of a logistic regression's predictions"
    ),
    "fasthash": Method(
        FastHasher(), "supervised", "codes by graph cuts, then boosted trees for each bit"
    ),
    "machash": Method(MACHasher(), "supervised", "codes and linear classifiers found together"),
    "dsh": Method(
        DispersionHasher(objective="dsh"), "minibatch", "contrastive loss of pairs in a minibatch"
    ),
    "dispersed": Method(
        DispersionHasher(), "minibatch", "pairs of a class kept apart by a buffer zone"
    ),
    "hierarchical": Method(
        DispersionHasher(objective="hierarchical"),
        "minibatch",
        "dispersed codes for classes within superclasses",
    ),
    "rsh": Method(RSHHasher(), "ranking", "ranking supervision in closed form"),
    "lwh": Method(LWHHasher(), "ranking", "structural SVM on rankings"),
    "talr-ap": Method(
        TALRLinear(objective="ap"), "ranking", "gradient ascent on tie-aware average precision"
    ),
    "talr-ndcg": Method(
        TALRLinear(objective="ndcg"), "ranking", "gradient ascent on tie-aware NDCG"
    ),
}
"""The methods that can be compared by name, in groups."""
