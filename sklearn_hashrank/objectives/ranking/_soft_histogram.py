"""From relaxed codes to soft histograms, and back; the only place where distances are binned."""

import numpy as np

from ... import _kernels
from ..._utils.threads import over_blocks


class SoftHistogram:
    """Triangular binning of the relaxed Hamming distances within a batch of codes.

    The distance of two relaxed codes is (n_bits - <u, v>) / 2. Bins are centered at 0, w, ..,
    n_bits with w = n_bits / n_bins. A pair at distance x adds
    ``max(0, 1 - |x - center| / (delta w))`` to each bin, divided by max(1, delta). So it adds 1
    in total when delta = 1. When delta is a larger integer it also does, and about 1 for other
    delta > 1, unless the kernel reaches past the first or the last bin, where that part is
    lost. When delta < 1 it adds 1 on a center and less between two centers, nothing if it is
    farther than delta w from both. Nobody retrieves itself.

    Parameters
    ----------
    n_bins : int or None, default=None
        Number of steps between the first and the last bin. ``None`` is one per bit.
    delta : float, default=1.0
        Half width of the triangle in units of w.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import SoftHistogram
    >>> codes = np.array([[1.0, 1.0], [1.0, 0.0], [-1.0, -1.0]])
    >>> level = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.uint8)
    >>> counts, _ = SoftHistogram().counts(codes, level, n_levels=2)
    >>> counts[0]  # row 1 is relevant and half a bit away, row 2 two bits
    array([[0. , 0. , 1. ],
           [0.5, 0.5, 0. ]])
    """

    def __init__(self, n_bins: int | None = None, delta: float = 1.0, *, n_jobs: int | None = None):
        self.n_bins = n_bins
        self.delta = delta
        self.n_jobs = n_jobs

    def counts(
        self, codes: np.ndarray, level: np.ndarray, n_levels: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the soft counts and the similarities that `pull_back` wants again.

        Parameters
        ----------
        codes : ndarray of shape (M, n_bits)
            Relaxed codes in [-1, 1], float32 or float64.
        level : ndarray of shape (M, M), uint8
            Index of the affinity level of column i for query q. The diagonal is ignored.
        n_levels : int
            Number of levels.

        Returns
        -------
        counts : ndarray of shape (M, n_levels, n_bins + 1)
        similarity : ndarray of shape (M, M)
        """
        n_rows, n_bits = codes.shape
        if np.isnan(np.vdot(codes, codes)):  # no bin holds it, and the kernel does not look
            raise ValueError("codes contain NaN.")
        n_bins = n_bits if self.n_bins is None else self.n_bins
        counts = np.empty((n_rows, n_levels, n_bins + 1), codes.dtype)
        similarity = np.empty((n_rows, n_rows), codes.dtype)
        # A copy: for u @ u.T numpy calls SYRK and then mirrors the triangle, which is slower.
        codes_of_columns = codes.T.copy()

        def count(rows):
            np.matmul(codes[rows], codes_of_columns, out=similarity[rows])
            scratch = _kernels.soft_histogram.room_to_accumulate(counts, self.delta)
            part = rows.start, rows.stop
            _kernels.soft_histogram.accumulate(
                similarity, level, counts, *part, n_bits, float(self.delta), *scratch
            )

        over_blocks(count, n_rows, self.n_jobs)
        return counts, similarity

    def pull_back(
        self, codes: np.ndarray, level: np.ndarray, similarity: np.ndarray, gradient: np.ndarray
    ) -> np.ndarray:
        """Return the gradient to the codes (M, n_bits) of a function of the soft counts.

        The similarities are used up: their memory takes the slopes of the pairs.

        Parameters
        ----------
        codes : ndarray of shape (M, n_bits)
            As given to `counts`.
        level : ndarray of shape (M, M)
            As given to `counts`.
        similarity : ndarray of shape (M, M)
            As returned by `counts`.
        gradient : ndarray of shape (M, n_levels, n_bins + 1)
            The gradient to the soft counts.

        Returns
        -------
        gradient : ndarray of shape (M, n_bits)
        """
        n_rows, n_bits = codes.shape
        pulled = np.empty_like(codes)

        def pull(rows):
            scratch = _kernels.soft_histogram.room_to_pull_back(gradient, self.delta)
            arrays = similarity, level, gradient, rows.start, rows.stop, n_bits
            if self.delta == 1:
                _kernels.soft_histogram.pull_back(*arrays, *scratch)
            else:
                _kernels.soft_histogram.pull_back_wide(*arrays, float(self.delta), *scratch)

        def add(rows):
            _kernels.pairs.add_transposed(similarity, rows.start, rows.stop)

        def multiply(rows):
            np.matmul(similarity[rows], codes, out=pulled[rows])

        for step in (pull, add, multiply):  # -1/2 S u with S = T + T^T
            over_blocks(step, n_rows, self.n_jobs)
        pulled *= -0.5
        return pulled


def count_levels(level: np.ndarray, n_levels: int, n_jobs: int | None = None) -> np.ndarray:
    """Return how many other items of each level every row is ranked against (M, n_levels)."""
    counts = np.zeros((len(level), n_levels), np.int64)
    over_blocks(
        lambda rows: _kernels.soft_histogram.count_levels(level, counts, rows.start, rows.stop),
        len(level),
        n_jobs,
    )
    return counts
