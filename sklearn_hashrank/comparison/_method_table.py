"""The table of methods that have names, and the reader of ``"talr-ap:alpha=3"``."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.base import clone

from .._utils.notation import split_notation
from ..base import BaseHasher
from ..hashers.additive import AdditiveQuantizer
from ..hashers.agh import AGHHasher
from ..hashers.autoencoder import BinaryAutoencoderHasher
from ..hashers.bre import BREHasher
from ..hashers.classifier import ClassifierHasher
from ..hashers.cmh import CMHHasher
from ..hashers.density import DensityHasher
from ..hashers.dispersion import DispersionHasher
from ..hashers.fasthash import FastHasher
from ..hashers.itq import ITQHasher
from ..hashers.klsh import KLSHHasher
from ..hashers.ksh import KSHHasher
from ..hashers.lsh import LSHHasher
from ..hashers.lwh import LWHHasher
from ..hashers.machash import MACHasher
from ..hashers.pca import PCAHasher
from ..hashers.rsh._estimator import RSHHasher
from ..hashers.sign import SignHasher
from ..hashers.sklsh import SKLSHHasher
from ..hashers.spectral import SpectralHasher
from ..hashers.spherical import SphericalHasher
from ..hashers.ssh import SSHHasher
from ..hashers.structhash import StructHasher
from ..hashers.talr import TALRLinear
from ..hashers.talr_kernel import TALRKernel
from ..hashers.wta import WTAHasher
from ..objectives._centers import Centers
from ..objectives.pairwise._margin_losses import DSH, Dispersed, Hierarchical, Nested
from ..objectives.pairwise._pair_likelihoods import DPSH, HashNet
from ..objectives.pairwise._triplet_likelihood import DTSH
from ..objectives.ranking._auto import AutoRanking
from ..objectives.ranking._average_precision import AveragePrecision
from ..objectives.ranking._mutual_information import MutualInformation
from ..objectives.ranking._ndcg import NDCG

GROUPS = {
    "independent": "do not look at the data, or only at its scale",
    "unsupervised": "learn from rows without labels",
    "supervised": "learn from labels, bit by bit or in alternating steps",
    "minibatch": "gradient ascent on pairs or triplets of a minibatch",
    "ranking": "learn from rankings, or from measures of them",
    "deep": "networks, perceptrons unless rows are images; need torch",
}
"""Groups of methods, in the order in which reports show them, and what they have in common."""


SITUATIONS = {
    "classes": "class labels, and queries of the classes that are trained on",
    "grades": "graded relevance: label sets, label paths or target vectors",
    "new classes": "class labels, and queries of classes that are not trained on",
    "no labels": "no labels: the nearest rows are relevant",
}
"""What :func:`suggest` distinguishes, and what it is."""


OTHERS = "others"
"""Group of the methods that are not known by name."""


def in_groups(methods: Iterable[str], group_of: Mapping[str, str]) -> dict[str, list[str]]:
    """Sort methods into the groups that have any, in the order of `GROUPS`, for tables."""
    groups: dict[str, list[str]] = {group: [] for group in (*GROUPS, OTHERS)}
    for method in methods:
        groups[group_of.get(method, OTHERS)].append(method)
    return {group: members for group, members in groups.items() if members}


@dataclass(frozen=True)
class Method:
    """A row of the table: a class of hashers, and what makes it the method of this name.

    Parameters
    ----------
    make : callable
        Class of the hashers, or a function that imports it first.
    group : str
        The group of `GROUPS` that lists show it in.
    line : str
        One line about the method.
    parameters : mapping of str to object, default={}
        What it is made with. Every other parameter has the default of the class.
    needs_y : bool, default=False
        Whether `fit` refuses rows without `y`.
    suits : mapping of str to str, default={}
        The situations of `SITUATIONS` in which :func:`suggest` tries it, with the parameters that
        then follow its name, such as ``":dropout=0.5"``.
    """

    make: Callable[..., BaseHasher]
    group: str
    line: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    needs_y: bool = False
    suits: Mapping[str, str] = field(default_factory=dict)

    @property
    def hasher(self) -> BaseHasher:
        """A new hasher that is not fitted; ImportError where torch is needed and not installed."""
        return clone(self.make(**self.parameters))  # no objective of the table is handed out


def _make_network(**parameters: Any) -> BaseHasher:
    """Import torch only when a network is asked for."""
    from ..deep._hasher import DeepHasher

    return DeepHasher(**parameters)


# Of the published objectives of minibatches: as good as twice as many, see `minibatch_methods`.
_PASSES_OF_LIKELIHOODS = 60

# What the papers print, linear and deep.
_PRINTED_ZONES: dict[str, Any] = {"margin": 2.0, "zone": (1 / 6, 1 / 3)}
# One bin for each distance, and the steepness of 2 * sigmoid(projection) - 1.
_PRINTED_HISTOGRAMS: dict[str, Any] = {"n_bins": None, "delta": 1.0, "alpha": 0.5}
_PRINTED_BATCH = 256

METHODS: dict[str, Method] = {
    "sign": Method(
        SignHasher,
        "independent",
        "signs of the first features, less their means",
        suits={"no labels": ""},
    ),
    "lsh": Method(LSHHasher, "independent", "random hyperplanes through the mean"),
    "klsh": Method(KLSHHasher, "independent", "random hyperplanes in the space of a kernel"),
    "wta": Method(WTAHasher, "independent", "which of four random features is the largest"),
    "cmh": Method(CMHHasher, "independent", "which of four random projections is the largest"),
    "sklsh": Method(SKLSHHasher, "independent", "random waves, which estimate a Gaussian kernel"),
    "pca": Method(PCAHasher, "unsupervised", "signs of the principal components"),
    "pca-rr": Method(
        PCAHasher, "unsupervised", "principal components, rotated at random", {"rotation": "random"}
    ),
    "itq": Method(
        ITQHasher,
        "unsupervised",
        "principal components, rotated towards their signs",
        suits=dict.fromkeys(SITUATIONS, ""),  # what codes are worth that know no labels
    ),
    "autoencoder": Method(
        BinaryAutoencoderHasher,
        "unsupervised",
        "binary autoencoder: codes that a decoder reconstructs rows from",
    ),
    "additive": Method(
        AdditiveQuantizer,
        "unsupervised",
        "additive quantizer: bytes that name the vectors a row is the sum of; for distance=decoded",
    ),
    "agh-1": Method(AGHHasher, "unsupervised", "eigenvectors of an anchor graph, cut once"),
    "agh-2": Method(
        AGHHasher, "unsupervised", "eigenvectors of an anchor graph, cut twice", {"n_layers": 2}
    ),
    "spectral": Method(SpectralHasher, "unsupervised", "waves along the principal components"),
    "spherical": Method(SphericalHasher, "unsupervised", "balanced spheres that overlap evenly"),
    "density": Method(DensityHasher, "unsupervised", "hyperplanes between neighboring clusters"),
    "ksh": Method(
        KSHHasher, "supervised", "half-spaces of a kernel that reproduce similarities, bit by bit"
    ),
    "bre": Method(
        BREHasher, "supervised", "distances of pairs reproduced by exact coordinate descent"
    ),
    "classifier": Method(
        ClassifierHasher,
        "supervised",
        "class codes of a logistic regression's predictions",
        needs_y=True,
        suits={"classes": ""},
    ),
    "fasthash": Method(
        FastHasher,
        "supervised",
        "codes by graph cuts, then boosted trees for each bit",
    ),
    "structhash": Method(
        StructHasher, "supervised", "hyperplanes and their weights by column generation"
    ),
    "structhash-trees": Method(
        StructHasher,
        "supervised",
        "boosted trees and their weights by column generation",
        {"functions": "trees"},
    ),
    "machash": Method(MACHasher, "supervised", "codes and linear classifiers found together"),
    "ssh": Method(SSHHasher, "supervised", "directions that separate labeled pairs"),
    "dsh": Method(
        DispersionHasher,
        "minibatch",
        "contrastive loss of pairs in a minibatch",
        {"objective": DSH()},
    ),
    "dispersed": Method(
        DispersionHasher,
        "minibatch",
        "pairs of a class kept apart by a buffer zone",
        {"objective": Dispersed()},
    ),
    "dispersed-paper": Method(
        DispersionHasher,
        "minibatch",
        "the same as the paper prints it: a nearer zone, and the others twice as far",
        {"objective": Dispersed(**_PRINTED_ZONES)},
    ),
    "hierarchical": Method(
        DispersionHasher,
        "minibatch",
        "dispersed codes for label paths, from superclass to class",
        {"objective": Hierarchical()},
    ),
    "hierarchical-paper": Method(
        DispersionHasher,
        "minibatch",
        "the same as the paper prints it: zones of superclasses hold for classes, too",
        {"objective": Nested()},
    ),
    "dpsh": Method(
        TALRLinear,
        "minibatch",
        "likelihood of pairs in a minibatch",
        {"objective": DPSH(), "max_iter": _PASSES_OF_LIKELIHOODS},
    ),
    "dtsh": Method(
        TALRLinear,
        "minibatch",
        "likelihood of triplets in a minibatch",
        {"objective": DTSH(), "max_iter": _PASSES_OF_LIKELIHOODS},
    ),
    "hashnet": Method(
        TALRLinear,
        "minibatch",
        "balanced likelihood of pairs, tanh that becomes a sign",
        {"objective": HashNet(), "max_iter": _PASSES_OF_LIKELIHOODS},
        suits={"classes": "", "grades": ""},
    ),
    "centers": Method(
        TALRLinear,
        "minibatch",
        "OrthoHash: cosines with centers of classes, codes of a Hadamard matrix, and a margin",
        {"objective": Centers(), "max_iter": _PASSES_OF_LIKELIHOODS},
    ),
    "mihash": Method(
        TALRLinear,
        "ranking",
        "mutual information of distance and relevance in a minibatch",
        {"objective": MutualInformation(), "max_iter": _PASSES_OF_LIKELIHOODS},
        suits={"no labels": ""},
    ),
    "rsh": Method(
        RSHHasher,
        "ranking",
        "ranking supervision in closed form",
        suits={"classes": "", "grades": "", "new classes": ""},
    ),
    "rsh-paper": Method(
        RSHHasher,
        "ranking",
        "ranking supervision as the paper prints it",
        {
            "n_queries": 100,
            "n_database": 1000,
            "solver": "alm",
            "rotation": None,
            "spread": "eigenvectors",
            "shrinkage": 1,
        },
    ),
    "lwh": Method(LWHHasher, "ranking", "structural SVM on rankings", suits={"new classes": ""}),
    "lwh-paper": Method(
        LWHHasher,
        "ranking",
        "structural SVM on rankings as the paper prints it",
        {"n_queries": 300, "n_database": 1000, "preparation": "centered", "rotation": None},
    ),
    "talr-ap": Method(
        TALRLinear,
        "ranking",
        "gradient ascent on tie-aware average precision",
        {"objective": AveragePrecision()},
        suits={"classes": "", "new classes": ":dropout=0.5"},
    ),
    "talr-ndcg": Method(
        TALRLinear,
        "ranking",
        "gradient ascent on tie-aware NDCG",
        {"objective": NDCG()},
        suits={"grades": "", "no labels": ""},
    ),
    "talr-paper": Method(
        TALRLinear,
        "ranking",
        "gradient ascent on tie-aware measures as the paper prints them",
        {
            "objective": AutoRanking(relaxation="cvpr", **_PRINTED_HISTOGRAMS),
            "solver": "sgd",
            "batch_size": _PRINTED_BATCH,
            "dropout": 0.0,
        },
    ),
    "talr-kernel": Method(
        TALRKernel,
        "ranking",
        "gradient ascent on tie-aware measures, on features of anchors",
        {"objective": AutoRanking()},
        suits=dict.fromkeys(SITUATIONS, ""),
    ),
    "deep-talr-ap": Method(
        _make_network,
        "deep",
        "network trained on tie-aware average precision",
        {"objective": AveragePrecision()},
    ),
    "deep-talr-ndcg": Method(
        _make_network, "deep", "network trained on tie-aware NDCG", {"objective": NDCG()}
    ),
    "deep-talr-paper": Method(
        _make_network,
        "deep",
        "network trained on tie-aware average precision as the paper prints it",
        {
            "objective": AveragePrecision(relaxation="cvpr", **_PRINTED_HISTOGRAMS),
            "optimizer": "sgd",
            "batch_size": _PRINTED_BATCH,
        },
    ),
    "deep-centers": Method(
        _make_network,
        "deep",
        "network trained by OrthoHash: cosines with centers of classes, and a margin",
        {"objective": Centers()},
    ),
    "deep-dsh": Method(
        _make_network,
        "deep",
        "network trained on the contrastive loss of pairs",
        {"objective": DSH()},
    ),
    "deep-dispersed": Method(
        _make_network,
        "deep",
        "network trained to keep pairs of a class apart",
        {"objective": Dispersed()},
    ),
    "deep-dispersed-paper": Method(
        _make_network,
        "deep",
        "the same as the paper prints it: a nearer zone, and the others twice as far",
        {"objective": Dispersed(**_PRINTED_ZONES)},
    ),
}
"""The methods that can be compared by name, group by group."""

FAISS = "faiss"
"""What the names of indexes of faiss begin with, before a colon."""

_SET_BY_COMPARISON = {"n_bits", "random_state", "output"}


def method_from_name(notation: str) -> BaseHasher:
    """Return the unfitted hasher that a short notation such as ``"talr-ap:alpha=3"`` stands for.

    Parameters
    ----------
    notation : str
        A name of `METHODS`, or a class of hashers such as ``"TALRLinear"`` with its own defaults,
        followed by any number of ``:parameter=value``. Values are read as Python literals, and as
        plain strings if that fails. Parameters of a method's objective go by their own names, as in
        ``"hashnet:scale=3"``. Parameters that the hasher and its objective both have, such as
        `n_jobs`, are set in both.

    Returns
    -------
    hasher : BaseHasher
        Hasher with the parameters of the method and of the notation.

    Examples
    --------
    >>> from sklearn_hashrank.comparison import method_from_name
    >>> method_from_name("talr-ap:alpha=3:schedule=step")
    TALRLinear(objective=AveragePrecision(alpha=3), schedule='step')
    >>> method_from_name("TALRLinear:dropout=0.5")
    TALRLinear(dropout=0.5)
    """
    if notation.partition(":")[0].strip() == FAISS:
        raise ValueError(f"{notation!r} is no hasher. It can be compared, by compare.")
    name, parameters = split_notation(notation, "method", "talr-ap:alpha=3")
    try:
        hasher = find_method(name).hasher
    except ImportError as error:
        raise ValueError(f"method {name!r}: {error}") from error
    accepted = parameters_to_set(hasher)
    for parameter in parameters:
        if parameter in _SET_BY_COMPARISON:
            raise ValueError(f"{parameter} of method {notation!r} is set for each run.")
        if parameter == "distance":
            raise ValueError(f"distance of method {notation!r} is for comparisons, by compare.")
        if parameter not in accepted:
            known = ", ".join(accepted) or "none"
            raise ValueError(
                f"method {name!r} has no parameter {parameter!r}. Its parameters: {known}."
            )
    full_names = _full_names(hasher)
    to_set = {full: value for name, value in parameters.items() for full in full_names[name]}
    of_objective = [name for name in parameters if full_names[name][0].startswith("objective__")]
    if "objective" in parameters and of_objective:
        raise ValueError(
            f"{of_objective[0]} of method {notation!r} belongs to the objective of {name!r}, "
            "which objective= replaces. Take the method of the other objective, such as talr-ndcg."
        )
    return check_method(hasher.set_params(**to_set), notation)


def find_method(name: str) -> Method:
    """Find a method by its name, or by the name of its class, which is then made with defaults."""
    if name in METHODS:
        return METHODS[name]
    classes = {_class_name(method): method for method in reversed(METHODS.values())}
    if name in classes:
        return replace(classes[name], parameters={})
    # People also write the initials of a class, such as "ba" of BinaryAutoencoderHasher.
    known = {each.lower(): each for each in (*classes, *METHODS)}
    for each in classes:
        known.setdefault("".join(filter(str.isupper, each.removesuffix("Hasher"))).lower(), each)
    near = difflib.get_close_matches(name.lower(), known, n=1)
    hint = f" Did you mean {known[near[0]]!r}?" if near else ""
    raise ValueError(
        f"unknown method {name!r}.{hint} The methods are {', '.join(sorted(METHODS))}."
    )


def _class_name(method: Method) -> str:
    return "DeepHasher" if method.make is _make_network else method.make.__name__


def parameters_to_set(hasher: BaseHasher) -> dict[str, Any]:
    """Parameters that a notation may set, sorted, with the values that they have."""
    parameters = hasher.get_params()
    full_names = _full_names(hasher)
    return {
        name: parameters[full_names[name][0]]
        for name in sorted(full_names)
        if name not in _SET_BY_COMPARISON
    }


def _full_names(hasher: BaseHasher) -> dict[str, list[str]]:
    """Full names by those of a notation: ``scale`` of HashNet is ``objective__scale``."""
    of_objective = [name for name in hasher.get_params() if name.startswith("objective__")]
    full_names = {name: [name] for name in hasher.get_params() if name not in of_objective}
    for name in of_objective:
        full_names.setdefault(name.removeprefix("objective__"), []).append(name)
    return full_names


def check_method(estimator: Any, name: str) -> Any:
    """Return the estimator, or say what is wrong with it before anything has been run."""
    wanted = ("fit", "get_params", "set_params")
    lacks = [method for method in wanted if not hasattr(estimator, method)]
    if lacks or isinstance(estimator, type):
        raise ValueError(
            f"method {name!r} must be a hasher, or another estimator whose transform or predict "
            f"gives codes. Got {estimator!r} instead."
        )
    parts = [estimator]
    if isinstance(estimator, BaseHasher):
        parts += estimator.get_params(deep=False).values()  # an objective, which fit would refuse
    for part in parts:
        if hasattr(part, "_parameter_constraints") and not isinstance(part, type):
            try:
                part._validate_params()
            except ValueError as error:
                raise ValueError(f"method {name!r}: {error}") from error
    return estimator
