"""GIST features of images."""

import numpy as np

from sklearn_hashrank.feature_extraction import GIST


class Descriptor:
    params = [32, 128]
    param_names = ["size"]

    def setup(self, size):
        n = 200 * 32 // size
        self.images = np.random.default_rng(0).integers(0, 256, (n, size, size, 3), np.uint8)
        GIST().transform(self.images[:1])

    def time_transform(self, size):
        GIST().transform(self.images)

    def peakmem_transform(self, size):
        GIST().transform(self.images)
