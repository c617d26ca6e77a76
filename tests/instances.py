"""Small instances of every hasher, for scikit-learn's checks and for our own common tests.

scikit-learn's check of sparse input wants ``predict`` to give a single column, hence one bit.
"""

from sklearn_hashrank import (
    AGHHasher,
    BREHasher,
    DispersionHasher,
    ITQHasher,
    KLSHHasher,
    KSHHasher,
    LSHHasher,
    LWHHasher,
    PCAHasher,
    RSHHasher,
    TALRKernel,
    TALRLinear,
)

HASHERS = [
    LSHHasher(n_bits=1, random_state=0),
    PCAHasher(n_bits=1, random_state=0),
    ITQHasher(n_bits=1, max_iter=5, random_state=0),
    KLSHHasher(n_bits=1, random_state=0),
    AGHHasher(n_bits=1, random_state=0),
    KSHHasher(n_bits=1, random_state=0),
    BREHasher(n_bits=1, random_state=0),
    LWHHasher(n_bits=1, random_state=0),
    RSHHasher(n_bits=1, random_state=0),
    DispersionHasher(n_bits=1, max_iter=5, random_state=0),
    TALRLinear(n_bits=1, max_iter=5, random_state=0),
    TALRKernel(n_bits=1, max_iter=5, random_state=0),
]
