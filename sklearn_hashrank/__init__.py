"""Learning to hash, as scikit-learn estimators."""

__version__ = "0.1.0.dev0"

from .affinity import (
    EuclideanAffinity,
    HierarchicalAffinity,
    LabelAffinity,
    PrecomputedAffinity,
    SharedLabelAffinity,
)
from .hasher_files import load_hasher, save_hasher
from .hashers.agh import AGHHasher
from .hashers.bre import BREHasher
from .hashers.dispersion import DispersionHasher
from .hashers.itq import ITQHasher
from .hashers.klsh import KLSHHasher
from .hashers.ksh import KSHHasher
from .hashers.lsh import LSHHasher
from .hashers.lwh import LWHHasher
from .hashers.pca import PCAHasher
from .hashers.rsh import RSHHasher
from .hashers.talr import TALRLinear
from .hashers.talr_kernel import TALRKernel
from .histogram import RetrievalHistogram, retrieval_histogram
from .neighbors import HammingNeighbors

__all__ = [
    "AGHHasher",
    "BREHasher",
    "DispersionHasher",
    "EuclideanAffinity",
    "HammingNeighbors",
    "HierarchicalAffinity",
    "ITQHasher",
    "KLSHHasher",
    "KSHHasher",
    "LSHHasher",
    "LWHHasher",
    "LabelAffinity",
    "PCAHasher",
    "PrecomputedAffinity",
    "RSHHasher",
    "RetrievalHistogram",
    "SharedLabelAffinity",
    "TALRKernel",
    "TALRLinear",
    "load_hasher",
    "retrieval_histogram",
    "save_hasher",
]
