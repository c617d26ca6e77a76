"""Small instances of every hasher, for scikit-learn's checks and for our own common tests.

scikit-learn's check of sparse input wants ``predict`` to give a single column, hence one bit. Where
torch is installed, as it is for ``make test-all``, there are networks among them.
"""

import importlib.util

from sklearn_hashrank import (
    AGHHasher,
    BinaryAutoencoderHasher,
    BREHasher,
    ClassifierHasher,
    CMHHasher,
    DensityHasher,
    DispersionHasher,
    FastHasher,
    ITQHasher,
    KLSHHasher,
    KSHHasher,
    LSHHasher,
    LWHHasher,
    MACHasher,
    PCAHasher,
    RSHHasher,
    SignHasher,
    SKLSHHasher,
    SpectralHasher,
    SphericalHasher,
    SSHHasher,
    StructHasher,
    TALRKernel,
    TALRLinear,
    WTAHasher,
)
from sklearn_hashrank.comparison._method_table import METHODS
from sklearn_hashrank.objectives import DTSH, HashNet

ENCODERS = [
    SignHasher(n_bits=1),
    LSHHasher(n_bits=1, random_state=0),
    PCAHasher(n_bits=1, random_state=0),
    WTAHasher(n_bits=1, random_state=0),
    CMHHasher(n_bits=1, random_state=0),
    SKLSHHasher(n_bits=1, random_state=0),
    SphericalHasher(n_bits=1, max_iter=50, random_state=0),
    DensityHasher(n_bits=1, random_state=0),
    SSHHasher(n_bits=1, random_state=0),
    SpectralHasher(n_bits=1, random_state=0),
    ITQHasher(n_bits=1, max_iter=5, random_state=0),
    BinaryAutoencoderHasher(n_bits=1, random_state=0),
    BinaryAutoencoderHasher(n_bits=1, encoder="hyperplanes", random_state=0),
    KLSHHasher(n_bits=1, random_state=0),
    AGHHasher(n_bits=1, random_state=0),
    AGHHasher(n_bits=1, n_layers=2, random_state=0),
    KSHHasher(n_bits=1, n_anchors=60, max_iter=50, random_state=0),
    BREHasher(n_bits=1, random_state=0),
    LWHHasher(n_bits=1, n_queries=60, random_state=0),
    RSHHasher(n_bits=1, random_state=0),
    DispersionHasher(n_bits=1, max_iter=5, random_state=0),
    TALRLinear(n_bits=1, max_iter=5, random_state=0),
    TALRKernel(n_bits=1, n_anchors=60, max_iter=5, random_state=0),
    ClassifierHasher(n_bits=1, C=1.0, random_state=0),
    FastHasher(n_bits=1, n_estimators=3, random_state=0),
    MACHasher(n_bits=1, n_similar=15, n_dissimilar=30, random_state=0),
    StructHasher(n_bits=1, C=1.0, n_queries=50, random_state=0),
    StructHasher(n_bits=1, functions="trees", n_estimators=3, n_queries=50, random_state=0),
]
"""One instance of each class, and of each way to encode."""
HAS_TORCH = importlib.util.find_spec("torch") is not None
METHODS_HERE = [name for name, method in METHODS.items() if HAS_TORCH or method.group != "deep"]
"""Names of methods, without those whose packages are not installed."""

if HAS_TORCH:
    from sklearn_hashrank.deep import DeepHasher

    ENCODERS += [
        DeepHasher(n_bits=1, max_iter=2, random_state=0),
        DeepHasher(n_bits=1, max_iter=1, image_shape=(1, -1), random_state=0),
    ]
HASHERS = [
    *ENCODERS,
    PCAHasher(n_bits=1, rotation="random", random_state=0),
    SSHHasher(n_bits=1, orthogonal=True, random_state=0),
    *(
        TALRLinear(n_bits=1, objective=objective, max_iter=5, random_state=0)
        for objective in ("mi", "dpsh", DTSH(), HashNet())
    ),
]
"""Those, and options that another code learns from: for tests of what is learned."""
LABELS_ONLY = ("ClassifierHasher",)
"""Hashers that learn from class labels, and from no other form of y."""


def needs_y(hasher):
    """Whether `fit` refuses rows without y."""
    return hasher.__sklearn_tags__().target_tags.required


def takes_labels_only(hasher):
    """Whether `fit` refuses every y but class labels."""
    return type(hasher).__name__ in LABELS_ONLY
