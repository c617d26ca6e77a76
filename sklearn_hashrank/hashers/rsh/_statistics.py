"""Statistics of training rows that RSH learns from, which add up over blocks of rows."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ..._features.centered_rows import CenteredRows, column_means
from ..._features.moments import Moments, combine_means
from ..._files.storable import storable
from ...affinity._protocol import BaseAffinity
from ._supervision import Groups, Supervision, group_rows, stack_rows, supervise

# As many groups of equal rows are added up as samples of queries and items are affordable: the
# relevance of every pair of groups is one matrix, of queries and items another of 20 million.
GROUPS_IN_FULL, _QUERIES, _DATABASE = 2000, 1000, 20_000
_STATISTICS_ROWS = 10_000  # that covariance and rotation are taken from
_DEVIATIONS = 10  # more rows than wanted to be sure of enough of them


@storable
class Sampling(NamedTuple):
    """Which rows are learned from, however they are cut into blocks.

    `n_queries` and `n_database` are those of `RSHHasher`. The `seed` and the number of a row say
    whether the row is sampled.
    """

    affinity: BaseAffinity
    n_queries: int | str | None
    n_database: int | str | None
    seed: int


@storable
class TripletStatistics:
    """Mean, sums of rows of equal `y`, and samples of some consecutive rows.

    Statistics of other rows are added by ``+``. What comes of it is the same for every way to cut
    the rows into blocks, but for rounding: sums are centered at the mean of the rows so far, and
    samples depend on row numbers alone. `start` is the number of the first row. Where `n_total`,
    the rows of all blocks together, is known, blocks keep few rows that do not make it into the
    samples.
    """

    def __init__(
        self, sampling: Sampling, X: Any, targets: Any, start: int = 0, n_total: int | None = None
    ):
        self.sampling, self.n_rows, self.dtype = sampling, X.shape[0], X.dtype
        self.mean = column_means(X)
        self.groups = self._group(X, targets)

        def sample(purpose, wanted, targets):
            return RowSample.of(wanted, (sampling.seed, purpose), X, targets, start, n_total)

        self.sample = sample(0, _STATISTICS_ROWS, None)
        self._queries = self._database = None
        if self.groups is None or sampling.n_queries is not None:
            self._queries = sample(1, _or_auto(sampling.n_queries, _QUERIES), targets)
        if self.groups is None or sampling.n_database is not None:
            self._database = sample(2, _or_auto(sampling.n_database, _DATABASE), targets)

    def __add__(self, other: "TripletStatistics") -> "TripletStatistics":
        merged = object.__new__(TripletStatistics)
        merged.sampling, merged.n_rows = self.sampling, self.n_rows + other.n_rows
        merged.dtype = np.result_type(self.dtype, other.dtype)
        share = other.n_rows / merged.n_rows
        merged.mean = combine_means(self.mean, other.mean, share)
        merged.groups = self._merge_groups(other, merged.mean)
        merged.sample = self.sample + other.sample
        merged._queries = _add(self._queries, other._queries)
        merged._database = _add(self._database, other._database)
        return merged

    def sample_moments(self) -> tuple[CenteredRows, Moments]:
        """Centered rows of the sample, and their moments around the mean of all rows."""
        rows = CenteredRows(self.sample.X, self.mean).made_ready()
        moments = Moments.around(self.mean, rows, self.dtype)
        rounding = 10 * np.finfo(self.dtype).eps * np.abs(self.mean)
        if np.all(moments.variance <= rounding**2):
            raise NothingToLearnError(
                "there is nothing to learn: all rows of X are equal. "
                f"Got n_samples = {rows.shape[0]} of {rows.shape[1]} features."
            )
        return rows, moments

    def supervise(self) -> Supervision:
        """Sum the triplets of the queries and the items that were sampled."""
        sampling = self.sampling
        queries = self._sampled(sampling.n_queries, self._queries)
        database = self._sampled(sampling.n_database, self._database)
        share = database.sizes.sum() / self.n_rows
        supervision = supervise(sampling.affinity, queries, database, share)
        if supervision.n_wins == 0:
            raise NothingToLearnError(
                "B = 0, there is nothing to learn: no row is more relevant to a query than any "
                f"other. Does y hold a single class? Got n_samples = {self.n_rows}, of which "
                f"{queries.sizes.sum():.0f} queries and {database.sizes.sum():.0f} items, and "
                f"{sampling.affinity!r}."
            )
        return supervision

    def _group(self, X, targets):
        sampling = self.sampling
        if all(isinstance(n, Integral) for n in (sampling.n_queries, sampling.n_database)):
            return None
        if sampling.affinity.group(targets[:1])[1] is None:
            return None
        groups = group_rows(sampling.affinity, targets, CenteredRows(X, self.mean))
        return self._unless_many(groups)

    def _merge_groups(self, other, mean):
        if self.groups is None or other.groups is None:
            return None
        ours, theirs = (groups.recentered(mean) for groups in (self.groups, other.groups))
        return self._unless_many(ours.merged(theirs, self.sampling.affinity))

    def _unless_many(self, groups):
        in_full = None in (self.sampling.n_queries, self.sampling.n_database)
        return groups if in_full or len(groups.sizes) <= GROUPS_IN_FULL else None

    def n_compared(self) -> int:
        if self._all_by_groups(self.sampling.n_database) is not None:
            return self.n_rows
        assert self._database is not None
        return int(self._database.X.shape[0])

    def _all_by_groups(self, wanted: Any) -> Groups | None:
        """All rows, those of equal `y` added up; None where a sample takes their place."""
        groups = self.groups
        few = groups is not None and len(groups.sizes) <= GROUPS_IN_FULL
        return groups if wanted is None or (wanted == "auto" and few) else None

    def _sampled(self, wanted: Any, sample: "RowSample | None") -> Groups:
        groups = self._all_by_groups(wanted)
        if groups is not None:
            return groups
        assert sample is not None
        return group_rows(self.sampling.affinity, sample.targets, CenteredRows(sample.X, self.mean))


class NothingToLearnError(ValueError):
    """No triplet, or no variance, in the rows so far."""


@storable
class RowSample(NamedTuple):
    """Rows sampled without replacement from a stream: those whose keys are the smallest.

    The key of a row is a random number of its own, so that it does not matter in which blocks the
    stream comes. `wanted` is the size of the sample, None takes all; `numbers` are those of the
    rows in the stream, ascending; `targets` are rows of `y` that the affinity has validated, or
    None.
    """

    wanted: int | None
    numbers: np.ndarray
    keys: np.ndarray
    X: Any
    targets: Any

    @classmethod
    def of(
        cls,
        wanted: int | None,
        seed: tuple[int, int],
        X: Any,
        targets: Any,
        start: int = 0,
        n_total: int | None = None,
    ) -> "RowSample":
        """Sample rows that are numbered from `start` on, of `n_total` if that is known."""
        keys = row_keys(seed, start, X.shape[0])
        chosen = _smallest(keys, wanted)
        if n_total is not None and wanted is not None:
            most = (wanted + _DEVIATIONS * (1 + np.sqrt(wanted))) / n_total
            chosen = chosen[keys[chosen] <= most]
        rows = None if targets is None else targets[chosen]
        return cls(wanted, chosen + start, keys[chosen], X[chosen], rows)

    def __add__(self, other: Any) -> "RowSample":
        numbers = np.concatenate([self.numbers, other.numbers])
        keys = np.concatenate([self.keys, other.keys])
        chosen = _smallest(keys, self.wanted)
        chosen = chosen[np.argsort(numbers[chosen])]
        X = stack_rows(self.X, other.X)[chosen]
        targets = self.targets
        if targets is not None:
            targets = stack_rows(targets, other.targets)[chosen]
        return RowSample(self.wanted, numbers[chosen], keys[chosen], X, targets)


def row_keys(seed: tuple[int, int], start: int, n: int) -> np.ndarray:
    """Random numbers in [0, 1) of rows `start`, ..., `start + n - 1`."""
    bits = np.random.PCG64(np.random.SeedSequence(seed)).advance(int(start))
    return np.random.Generator(bits).random(n)


def _smallest(keys, wanted):
    """Where the `wanted` smallest keys are, ascending; everywhere, if there are no more."""
    if wanted is None or wanted >= len(keys):
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, wanted)[:wanted])


def _or_auto(wanted, n):
    return n if wanted == "auto" else wanted


def _add(first, second):
    return None if first is None else first + second
