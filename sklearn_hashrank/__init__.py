"""Learning to hash, as scikit-learn estimators."""

__version__ = "0.1.0"

from typing import TYPE_CHECKING, Any

from ._files.hashers.saving import load_hasher, save_hasher
from .affinity._euclidean import EuclideanAffinity
from .affinity._labels import HierarchicalAffinity, LabelAffinity, SharedLabelAffinity
from .affinity._neighbors import NeighborAffinity
from .affinity._precomputed import PrecomputedAffinity
from .hashers.additive import AdditiveQuantizer
from .hashers.agh import AGHHasher
from .hashers.autoencoder import BinaryAutoencoderHasher
from .hashers.bre import BREHasher
from .hashers.classifier import ClassifierHasher
from .hashers.cmh import CMHHasher
from .hashers.density import DensityHasher
from .hashers.dispersion import DispersionHasher
from .hashers.fasthash import FastHasher
from .hashers.itq import ITQHasher
from .hashers.klsh import KLSHHasher
from .hashers.ksh import KSHHasher
from .hashers.lsh import LSHHasher
from .hashers.lwh import LWHHasher
from .hashers.machash import MACHasher
from .hashers.pca import PCAHasher
from .hashers.rsh._estimator import RSHHasher
from .hashers.sign import SignHasher
from .hashers.sklsh import SKLSHHasher
from .hashers.spectral import SpectralHasher
from .hashers.spherical import SphericalHasher
from .hashers.ssh import SSHHasher
from .hashers.structhash import StructHasher
from .hashers.talr import TALRLinear
from .hashers.talr_kernel import TALRKernel
from .hashers.wta import WTAHasher
from .metrics._counting import retrieval_histogram
from .metrics._histogram import RetrievalHistogram
from .metrics._scorers import make_retrieval_scorer
from .neighbors._hamming_neighbors import HammingNeighbors

if TYPE_CHECKING:
    from .comparison import compare

__all__ = [
    "AGHHasher",
    "AdditiveQuantizer",
    "BREHasher",
    "BinaryAutoencoderHasher",
    "CMHHasher",
    "ClassifierHasher",
    "DensityHasher",
    "DispersionHasher",
    "EuclideanAffinity",
    "FastHasher",
    "HammingNeighbors",
    "HierarchicalAffinity",
    "ITQHasher",
    "KLSHHasher",
    "KSHHasher",
    "LSHHasher",
    "LWHHasher",
    "LabelAffinity",
    "MACHasher",
    "NeighborAffinity",
    "PCAHasher",
    "PrecomputedAffinity",
    "RSHHasher",
    "RetrievalHistogram",
    "SKLSHHasher",
    "SSHHasher",
    "SharedLabelAffinity",
    "SignHasher",
    "SpectralHasher",
    "SphericalHasher",
    "StructHasher",
    "TALRKernel",
    "TALRLinear",
    "WTAHasher",
    "compare",
    "load_hasher",
    "make_retrieval_scorer",
    "retrieval_histogram",
    "save_hasher",
]


def __getattr__(name: str) -> Any:
    """Import `compare` when it is asked for: most programs do without what it imports."""
    if name == "compare":
        from .comparison import compare

        return compare
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
