"""Arrays of other libraries at every place where arrays come in."""

import numpy as np
from sklearn.datasets import load_digits

from sklearn_hashrank import (
    BinaryAutoencoderHasher,
    EuclideanAffinity,
    HammingNeighbors,
    ITQHasher,
    KSHHasher,
    NeighborAffinity,
    RetrievalHistogram,
    TALRLinear,
    retrieval_histogram,
)
from sklearn_hashrank.codes import hamming_distances, unpack_codes
from sklearn_hashrank.comparison._compare import check_data
from sklearn_hashrank.metrics import tie_aware_average_precision_score
from sklearn_hashrank.neighbors import DecodedNeighbors, choose_oversampling, rescore

X, Y = load_digits(return_X_y=True)
X, Y = X[:120].astype(np.float32), Y[:120]  # small whole numbers, which bfloat16 holds exactly
HASHER = TALRLinear(8, max_iter=1, random_state=0).fit(X, Y)
UNLABELLED = TALRLinear(8, affinity=EuclideanAffinity((50,), (1,)), max_iter=1, random_state=0)
UNLABELLED.fit(X)
CODES = HASHER.predict(X)
SIGNS = 2.0 * CODES - 1
CANDIDATES = np.arange(240).reshape(120, 2) % 120
SOME = np.arange(120) % 2 == 0
AUTOENCODER = BinaryAutoencoderHasher(8, random_state=0).fit(X)
DECODED = DecodedNeighbors(AUTOENCODER, 3).fit(AUTOENCODER.transform(X))


def index(**options):
    return HammingNeighbors(3, **options).fit(CODES)


def mean_ap(y, codes, affinity="auto"):
    return tie_aware_average_precision_score(y, codes, affinity=affinity)


ENTRIES = {
    "fit": lambda a: TALRLinear(8, max_iter=1, random_state=0).fit(a(X), a(Y)).components_,
    "fit without y": lambda a: ITQHasher(8, random_state=0).fit(a(X)).components_,
    "fit with anchors": lambda a: KSHHasher(4, random_state=0).fit(a(X), a(Y)).predict(X),
    "partial_fit": lambda a: (
        TALRLinear(8, random_state=0).partial_fit(a(X), a(Y)).partial_fit(a(X), a(Y)).components_
    ),
    "transform": lambda a: HASHER.transform(a(X)),
    "decision_function": lambda a: HASHER.decision_function(a(X)),
    "score": lambda a: HASHER.score(a(X), a(Y)),
    "score without y": lambda a: UNLABELLED.score(a(X)),
    "inverse_transform": lambda a: AUTOENCODER.inverse_transform(a(AUTOENCODER.predict(X))),
    "compare": lambda a: check_data(a(X), a(Y))[0],
    "metric": lambda a: mean_ap(a(Y), a(CODES)),
    "neighbors of vectors": lambda a: mean_ap(a(X), a(CODES), NeighborAffinity(5)),
    "distances of vectors": lambda a: mean_ap(a(X), a(CODES), EuclideanAffinity((50,), (1,))),
    "histogram": lambda a: retrieval_histogram(a(CODES), a(SIGNS > 0), a(Y), a(Y)).counts,
    "scores": lambda a: RetrievalHistogram.from_scores(
        a(np.equal.outer(Y, Y).astype(np.float32)), a(SIGNS @ SIGNS.T)
    ).average_precision(),
    "distances": lambda a: hamming_distances(a(CODES), a(CODES)),
    "unpacked": lambda a: unpack_codes(a(np.packbits(CODES, axis=1)), 8),
    "indexed codes": lambda a: HammingNeighbors(3).fit(a(CODES)).kneighbors(CODES),
    "queries": lambda a: index().kneighbors(a(CODES)),
    "mask": lambda a: index().kneighbors(CODES, mask=a(SOME)),
    "ids": lambda a: HammingNeighbors(3).fit(CODES, ids=a(np.arange(120) * 2)).kneighbors(CODES),
    "removed": lambda a: index().remove(a(np.arange(5))).kneighbors(CODES),
    "projections": lambda a: index(distance="asymmetric").kneighbors(a(SIGNS)),
    "rescored": lambda a: rescore(a(X), a(X), a(CANDIDATES), 1),
    "decoded": lambda a: DECODED.kneighbors(a(X)),
    "oversampling": lambda a: choose_oversampling(a(X[:9]), a(X), a(CODES[:9]), a(CODES), 5)[2],
}
"""What a result is, by name; the argument makes the array of another library."""
