"""Batches of rows, given by their numbers: at random, or in groups of a class."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np


class Batches(Protocol):
    """Batches of rows; every iteration is a pass over `rows`, with about `size` rows in a batch."""

    rows: np.ndarray

    @property
    def size(self) -> float: ...

    def __iter__(self) -> Iterator[np.ndarray]: ...


class Minibatches:
    """Rows shuffled into batches of about `size`, none of them less than half of it or than two.

    Each iteration is another shuffle.
    """

    def __init__(self, rows: np.ndarray, size: int, random_state: np.random.RandomState):
        self.rows, self.size, self._random_state = rows, size, random_state

    def __iter__(self) -> Iterator[np.ndarray]:
        n_batches = max(1, min(round(len(self.rows) / self.size), len(self.rows) // 2))
        yield from np.array_split(self._random_state.permutation(self.rows), n_batches)


class GroupBatches:
    """Rows shuffled into batches of groups, each of a few rows of one class.

    The rows of a class are cut into groups of about `group_size`; those of a small class are one
    group. A row of a batch then finds relevant ones in it, however many classes there are. Each
    iteration is another shuffle, and takes every row once. `class_of` gives the class of each row.
    """

    def __init__(
        self,
        rows: np.ndarray,
        class_of: np.ndarray,
        size: int,
        group_size: int,
        random_state: np.random.RandomState,
    ):
        self.rows, self.size, self.group_size = rows, size, group_size
        self._class_of, self._random_state = class_of, random_state

    def __iter__(self) -> Iterator[np.ndarray]:
        shuffled = self._random_state.permutation(len(self.rows))
        shuffled = shuffled[np.argsort(self._class_of[shuffled], kind="stable")]
        firsts = np.flatnonzero(np.diff(self._class_of[shuffled])) + 1
        groups = [
            group
            for members in np.split(self.rows[shuffled], firsts)
            for group in np.array_split(members, max(1, round(len(members) / self.group_size)))
        ]
        order = self._random_state.permutation(len(groups))
        n_batches = min(max(1, round(len(self.rows) / self.size)), len(groups))
        for some in np.array_split(order, n_batches):
            yield np.concatenate([groups[number] for number in some])
