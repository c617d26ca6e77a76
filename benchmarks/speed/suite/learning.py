"""Fitting and encoding."""

from sklearn_hashrank import (
    DispersionHasher,
    ITQHasher,
    LSHHasher,
    LWHHasher,
    PCAHasher,
    RSHHasher,
    TALRLinear,
)

from .data import class_features

HASHERS = {
    "lsh": LSHHasher(random_state=0),
    "pca": PCAHasher(random_state=0),
    "itq": ITQHasher(random_state=0),
    "rsh": RSHHasher(random_state=0),
    "lwh": LWHHasher(random_state=0),
    "dispersion": DispersionHasher(random_state=0, max_iter=10),
    "talr-ap": TALRLinear(random_state=0, max_iter=10, objective="ap"),
    "talr-ndcg": TALRLinear(random_state=0, max_iter=10, objective="ndcg"),
}


class Fit:
    params = list(HASHERS)
    param_names = ["hasher"]
    timeout = 300

    def setup(self, name):
        self.X, self.y = class_features(5000)
        self.hasher = HASHERS[name].fit(self.X, self.y)

    def time_fit(self, name):
        self.hasher.fit(self.X, self.y)

    def peakmem_fit(self, name):
        self.hasher.fit(self.X, self.y)


class Encode:
    def setup(self):
        self.X, y = class_features(100_000)
        self.hasher = HASHERS["lsh"].fit(self.X, y)

    def time_transform(self):
        self.hasher.transform(self.X)

    def peakmem_transform(self):
        self.hasher.transform(self.X)
