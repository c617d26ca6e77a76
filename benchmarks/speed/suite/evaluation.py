"""The retrieval histogram and the measures that are made from it."""

from sklearn_hashrank import retrieval_histogram

from .data import random_codes

N_QUERIES = 200


class Histogram:
    params = [[16, 64, 256], [10, 10_000]]
    param_names = ["n_bits", "n_classes"]

    def setup(self, n_bits, n_classes):
        self.n_bits = n_bits
        self.codes, self.y = random_codes(200_000, n_bits // 8, n_classes)
        self.histogram()

    def histogram(self, n_jobs=1):
        return retrieval_histogram(
            self.codes[:N_QUERIES],
            self.codes,
            self.y[:N_QUERIES],
            self.y,
            n_bits=self.n_bits,
            n_jobs=n_jobs,
        )

    def time_histogram(self, n_bits, n_classes):
        self.histogram()

    def time_histogram_two_threads(self, n_bits, n_classes):
        self.histogram(n_jobs=2)

    def peakmem_histogram(self, n_bits, n_classes):
        self.histogram()


class Measures:
    params = ["average_precision", "ndcg", "precision", "reciprocal_rank", "lookup_precision"]
    params += ["local_group_average_precision", "precision_recall_curve", "code_usage"]
    param_names = ["measure"]

    def setup(self, measure):
        codes, y = random_codes(100_000)
        self.histogram = retrieval_histogram(
            codes[:1000], codes, y[:1000], y, n_bits=64, keep_codes=True
        )
        self.time_measure(measure)

    def time_measure(self, measure):
        options = {"k": 100} if measure == "precision" else {}
        getattr(self.histogram, measure)(**options)
