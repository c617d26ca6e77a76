"""The table of methods: every name, the hasher it stands for, and a line about it."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from ..base import BaseHasher
from ..hashers.agh import AGHHasher
from ..hashers.bre import BREHasher
from ..hashers.classifier import ClassifierHasher
from ..hashers.cmh import CMHHasher
from ..hashers.density import DensityHasher
from ..hashers.dispersion import DispersionHasher
from ..hashers.dpsh import DPSHHasher
from ..hashers.dtsh import DTSHHasher
from ..hashers.fasthash import FastHasher
from ..hashers.hashnet import HashNetHasher
from ..hashers.itq import ITQHasher
from ..hashers.klsh import KLSHHasher
from ..hashers.ksh import KSHHasher
from ..hashers.lsh import LSHHasher
from ..hashers.lwh import LWHHasher
from ..hashers.machash import MACHasher
from ..hashers.mihash import MIHasher
from ..hashers.pca import PCAHasher
from ..hashers.rsh import RSHHasher
from ..hashers.sh import SpectralHasher
from ..hashers.sign import SignHasher
from ..hashers.sklsh import SKLSHHasher
from ..hashers.sph import SphericalHasher
from ..hashers.ssh import SSHHasher
from ..hashers.structhash import StructHasher
from ..hashers.talr import TALRLinear
from ..hashers.talr_kernel import TALRKernel
from ..hashers.wta import WTAHasher

__all__ = ["GROUPS", "METHODS", "OTHERS", "Method", "in_groups"]

GROUPS = {
    "independent": "do not look at the data, or only at its scale",
    "unsupervised": "learn from rows without labels",
    "supervised": "learn from labels, bit by bit or in alternating steps",
    "minibatch": "gradient ascent on pairs or triplets of a minibatch",
    "ranking": "learn from rankings, or from measures of them",
    "deep": "networks, perceptrons unless rows are images; need torch",
}
"""Groups of methods, in the order in which reports show them, and what they have in common."""


OTHERS = "others"
"""Group of the methods that are not known by name."""


def in_groups(methods: Iterable[str], group_of: Mapping[str, str]) -> dict[str, list[str]]:
    """Sort methods into their groups, in the order of `GROUPS`; each keeps its place in there.

    Parameters
    ----------
    methods : iterable of str
    group_of : mapping of str to str
        The group of each method; `OTHERS` where it has none.

    Returns
    -------
    groups : dict of str to list of str
        Without those that are empty.
    """
    groups: dict[str, list[str]] = {group: [] for group in (*GROUPS, OTHERS)}
    for method in methods:
        groups[group_of.get(method, OTHERS)].append(method)
    return {group: members for group, members in groups.items() if members}


class Method(NamedTuple):
    """What a method name stands for: a hasher, or a function that makes one when it is needed."""

    source: BaseHasher | Callable[[], BaseHasher]
    group: str
    line: str

    @property
    def hasher(self) -> BaseHasher:
        """The hasher, not fitted; ImportError where it needs torch, which is not installed."""
        return self.source if isinstance(self.source, BaseHasher) else self.source()

    @property
    def needs_y(self) -> bool:
        """Whether `fit` refuses rows without `y`; networks never do."""
        if not isinstance(self.source, BaseHasher):
            return False
        return bool(self.source.__sklearn_tags__().target_tags.required)


def _make_deep(objective: str) -> BaseHasher:
    from ..deep import DeepHasher

    return DeepHasher(objective=objective)


def _deep(objective: str, line: str) -> Method:
    return Method(partial(_make_deep, objective), "deep", line)


METHODS: dict[str, Method] = {
    "sign": Method(SignHasher(), "independent", "signs of the first features, less their means"),
    "lsh": Method(LSHHasher(), "independent", "random hyperplanes through the mean"),
    "klsh": Method(KLSHHasher(), "independent", "random hyperplanes in the space of a kernel"),
    "wta": Method(WTAHasher(), "independent", "which of four random features is the largest"),
    "cmh": Method(CMHHasher(), "independent", "which of four random projections is the largest"),
    "sklsh": Method(SKLSHHasher(), "independent", "random waves, which estimate a Gaussian kernel"),
    "pca": Method(PCAHasher(), "unsupervised", "signs of the principal components"),
    "pca-rr": Method(
        PCAHasher(rotation="random"), "unsupervised", "principal components, rotated at random"
    ),
    "itq": Method(ITQHasher(), "unsupervised", "principal components, rotated towards their signs"),
    "agh-1": Method(AGHHasher(), "unsupervised", "eigenvectors of an anchor graph, cut once"),
    "agh-2": Method(
        AGHHasher(n_layers=2), "unsupervised", "eigenvectors of an anchor graph, cut twice"
    ),
    "ksh": Method(
        KSHHasher(), "supervised", "half-spaces of a kernel that reproduce similarities, bit by bit"
    ),
    "bre": Method(
        BREHasher(), "supervised", "distances of pairs reproduced by exact coordinate descent"
    ),
    "sh": Method(SpectralHasher(), "unsupervised", "spectral hashing: waves along the components"),
    "sph": Method(SphericalHasher(), "unsupervised", "balanced spheres that overlap evenly"),
    "density": Method(DensityHasher(), "unsupervised", "hyperplanes between neighbouring clusters"),
    "classifier": Method(
        ClassifierHasher(), "supervised", "class codes of a logistic regression's predictions"
    ),
    "fasthash": Method(
        FastHasher(), "supervised", "codes by graph cuts, then boosted trees for each bit"
    ),
    "structhash": Method(
        StructHasher(), "supervised", "hyperplanes and their weights by column generation"
    ),
    "machash": Method(MACHasher(), "supervised", "codes and linear classifiers found together"),
    "ssh": Method(SSHHasher(), "supervised", "directions that separate labelled pairs"),
    "dsh": Method(
        DispersionHasher(objective="dsh"), "minibatch", "contrastive loss of pairs in a minibatch"
    ),
    "dispersed": Method(
        DispersionHasher(), "minibatch", "pairs of a class kept apart by a buffer zone"
    ),
    "hierarchical": Method(
        DispersionHasher(objective="hierarchical"),
        "minibatch",
        "dispersed codes for label paths, from superclass to class",
    ),
    "hierarchical-paper": Method(
        DispersionHasher(objective="nested"),
        "minibatch",
        "the same as the paper prints it: zones of superclasses hold for classes, too",
    ),
    "dpsh": Method(DPSHHasher(), "minibatch", "likelihood of pairs in a minibatch"),
    "dtsh": Method(DTSHHasher(), "minibatch", "likelihood of triplets in a minibatch"),
    "hashnet": Method(
        HashNetHasher(), "minibatch", "balanced likelihood of pairs, tanh that becomes a sign"
    ),
    "mihash": Method(
        MIHasher(), "ranking", "mutual information of distance and relevance in a minibatch"
    ),
    "rsh": Method(RSHHasher(), "ranking", "ranking supervision in closed form"),
    "rsh-paper": Method(
        RSHHasher(
            n_queries=100,
            n_database=1000,
            solver="alm",
            rotation=None,
            spread="eigenvectors",
            shrinkage=1,
        ),
        "ranking",
        "ranking supervision as the paper prints it",
    ),
    "lwh": Method(LWHHasher(), "ranking", "structural SVM on rankings"),
    "lwh-paper": Method(
        LWHHasher(n_queries=300, n_database=1000, preparation="centred", rotation=None),
        "ranking",
        "structural SVM on rankings as the paper prints it",
    ),
    "talr-ap": Method(
        TALRLinear(objective="ap"), "ranking", "gradient ascent on tie-aware average precision"
    ),
    "talr-ndcg": Method(
        TALRLinear(objective="ndcg"), "ranking", "gradient ascent on tie-aware NDCG"
    ),
    "talr-kernel": Method(
        TALRKernel(), "ranking", "gradient ascent on tie-aware measures, on features of anchors"
    ),
    "deep-talr-ap": _deep("ap", "network trained on tie-aware average precision"),
    "deep-talr-ndcg": _deep("ndcg", "network trained on tie-aware NDCG"),
    "deep-dsh": _deep("dsh", "network trained on the contrastive loss of pairs"),
    "deep-dispersed": _deep("dispersed", "network trained to keep pairs of a class apart"),
}
"""The methods that can be compared by name, in groups."""
