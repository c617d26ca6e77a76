"""Learning to hash, as scikit-learn estimators."""

from .affinity import (
    EuclideanAffinity,
    HierarchicalAffinity,
    LabelAffinity,
    PrecomputedAffinity,
    SharedLabelAffinity,
)
from .baselines.itq import ITQHasher
from .baselines.lsh import LSHHasher
from .baselines.pca import PCAHasher
from .dispersion import DispersionHasher
from .histogram import RetrievalHistogram, retrieval_histogram
from .lwh import LWHHasher
from .neighbors import HammingNeighbors
from .rsh import RSHHasher
from .talr import TALRLinear

__version__ = "0.1.0.dev0"

__all__ = [
    "DispersionHasher",
    "EuclideanAffinity",
    "HammingNeighbors",
    "HierarchicalAffinity",
    "ITQHasher",
    "LSHHasher",
    "LWHHasher",
    "LabelAffinity",
    "PCAHasher",
    "PrecomputedAffinity",
    "RSHHasher",
    "RetrievalHistogram",
    "SharedLabelAffinity",
    "TALRLinear",
    "retrieval_histogram",
]
