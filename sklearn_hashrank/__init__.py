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
from .hashers.classifier import ClassifierHasher
from .hashers.dispersion import DispersionHasher
from .hashers.fasthash import FastHasher
from .hashers.itq import ITQHasher
from .hashers.lsh import LSHHasher
from .hashers.lwh import LWHHasher
from .hashers.machash import MACHasher
from .hashers.pca import PCAHasher
from .hashers.rsh import RSHHasher
from .hashers.talr import TALRLinear
from .histogram import RetrievalHistogram, retrieval_histogram
from .neighbors import HammingNeighbors

__all__ = [
    "ClassifierHasher",
    "DispersionHasher",
    "EuclideanAffinity",
    "FastHasher",
    "HammingNeighbors",
    "HierarchicalAffinity",
    "ITQHasher",
    "LSHHasher",
    "LWHHasher",
    "LabelAffinity",
    "MACHasher",
    "PCAHasher",
    "PrecomputedAffinity",
    "RSHHasher",
    "RetrievalHistogram",
    "SharedLabelAffinity",
    "TALRLinear",
    "load_hasher",
    "retrieval_histogram",
    "save_hasher",
]
