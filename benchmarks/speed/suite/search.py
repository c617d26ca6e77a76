"""Nearest codes."""

from sklearn_hashrank import HammingNeighbors

from .data import random_codes

N_QUERIES = 200


class KNeighbors:
    params = [[64, 256], [10, 1000]]
    param_names = ["n_bits", "k"]

    def setup(self, n_bits, k):
        codes, _ = random_codes(200_000, n_bits // 8)
        self.queries = codes[:N_QUERIES]
        self.index = HammingNeighbors(k, n_bits=n_bits, algorithm="brute").fit(codes)
        self.index.kneighbors(self.queries[:2])

    def time_kneighbors(self, n_bits, k):
        self.index.kneighbors(self.queries)

    def peakmem_kneighbors(self, n_bits, k):
        self.index.kneighbors(self.queries)


class Radius:
    params = [["brute", "multi_index"], [1, 3]]
    param_names = ["algorithm", "radius"]

    def setup(self, algorithm, radius):
        codes, _ = random_codes(1_000_000)
        self.queries = codes[:N_QUERIES]
        self.index = HammingNeighbors(radius=radius, n_bits=64, algorithm=algorithm).fit(codes)
        self.index.radius_neighbors(self.queries[:2])

    def time_radius_neighbors(self, algorithm, radius):
        self.index.radius_neighbors(self.queries)
