"""The protocol of a source of rows: blocks, `map` and `sum`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any


class RowSource(ABC):
    """Rows, or pairs ``(rows, y)``, that come in blocks. They can be read once.

    Attributes
    ----------
    n_rows : int or None
        How many there are, where that is known.
    are_pairs : bool
        Whether a block is a pair ``(rows, y)``.
    in_one_block : bool
        Whether the first block holds all rows.
    """

    n_rows: int | None
    are_pairs: bool
    in_one_block: bool

    @abstractmethod
    def blocks(self) -> Iterator[Any]:
        """Give the blocks in order, one at a time, in the memory of this process.

        Yields
        ------
        block : array-like or tuple
            Rows, or a pair ``(rows, y)``.
        """

    @abstractmethod
    def first_y(self) -> Any:
        """Look at the `y` of the first block that has rows, which is not computed a second time.

        Returns
        -------
        y : array-like
        """

    @abstractmethod
    def map(self, function: Callable[[Any], Any], n_jobs: int | None = None) -> Iterator[Any]:
        """Apply a function to every block.

        Parameters
        ----------
        function : callable
            Takes a block.
        n_jobs : int, default=None
            How many blocks are worked on at a time.

        Yields
        ------
        result : object
            In the order of the blocks.
        """

    @abstractmethod
    def sum(self, function: Callable[[Any, Any, int | None], Any]) -> Any:
        """Add up what a function makes of the blocks.

        Parameters
        ----------
        function : callable
            ``function(rows, y, first_row)`` of every block returns what can be added by ``+``;
            `y` is None where there is none, and so is the number of the first row where that is
            not known.

        Returns
        -------
        total : object
            Added in the order of the rows.
        """
