"""Small instances of every hasher, for scikit-learn's checks and for our own common tests.

scikit-learn's check of sparse input wants ``predict`` to give a single column, hence one bit.
"""

from sklearn_hashrank import (
    CMHHasher,
    DensityHasher,
    DispersionHasher,
    ITQHasher,
    LSHHasher,
    LWHHasher,
    PCAHasher,
    RSHHasher,
    SignHasher,
    SKLSHHasher,
    SpectralHasher,
    SphericalHasher,
    TALRLinear,
    WTAHasher,
)

HASHERS = [
    SignHasher(n_bits=1),
    LSHHasher(n_bits=1, random_state=0),
    PCAHasher(n_bits=1, random_state=0),
    PCAHasher(n_bits=1, rotation="random", random_state=0),
    WTAHasher(n_bits=1, random_state=0),
    CMHHasher(n_bits=1, random_state=0),
    SKLSHHasher(n_bits=1, random_state=0),
    SphericalHasher(n_bits=1, max_iter=50, random_state=0),
    DensityHasher(n_bits=1, random_state=0),
    SpectralHasher(n_bits=1, random_state=0),
    ITQHasher(n_bits=1, max_iter=5, random_state=0),
    LWHHasher(n_bits=1, random_state=0),
    RSHHasher(n_bits=1, random_state=0),
    DispersionHasher(n_bits=1, max_iter=5, random_state=0),
    TALRLinear(n_bits=1, max_iter=5, random_state=0),
]
