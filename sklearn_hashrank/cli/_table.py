"""What every table can be asked for, in whatever files its columns are."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ._errors import UsageError

_USUAL_ID = "id"


class Table(ABC):
    """Columns of one or more files, by name. Features are numbers; labels keep what is written."""

    source: str  # by which the user names it
    names: list[str]  # of the columns that may be features
    index: Sequence[str] = ()  # further columns, of an index
    folders: Sequence[str] = ()  # columns that the names of folders are

    @abstractmethod
    def read(
        self, features: Any, labels: Sequence[str] = (), ids: str | None = None
    ) -> tuple[Any, list[np.ndarray], Any]:
        """Rows of features, a vector for each column of labels, and a vector of ids or None.

        `features` are names of columns, or one name, of a column whose values are rows.
        """

    @abstractmethod
    def texts(self, name: str) -> list[str]:
        """One column as text; missing values are empty."""

    def vectors(self, left_out: Iterable[str]) -> str | None:
        """Name of the column whose values are rows of features; None where there is none."""
        return None

    def check(self, names: Iterable[str]) -> None:
        """Refuse names that no column has."""
        known = [*self.names, *self.index, *self.folders]
        for name in names:
            if name not in known:
                raise UsageError(f"{self.source} has no column {name!r}. It has {listed(known)}.")

    def id_column(self, wanted: str | None) -> str | None:
        """Name of the column of ids: the one that is wanted, or a usual one, or None."""
        if wanted is not None:
            self.check([wanted])
            return wanted
        return _USUAL_ID if _USUAL_ID in (*self.names, *self.index) else None

    def label_columns(self, wanted: Sequence[str]) -> Sequence[str]:
        """Names of the columns of labels: those that are wanted, or the only one but the ids."""
        for name in wanted:
            if list(wanted).count(name) > 1:
                raise UsageError(f"--label-column {name} is given twice; each column counts once.")
        self.check(wanted)
        others = [name for name in self.names if name != _USUAL_ID] or self.names
        if not wanted and len(others) != 1:
            raise UsageError(
                f"{self.source} has {len(self.names)} columns: name those of the labels with "
                "--label-column."
            )
        return wanted or others


def listed(names: Iterable[Any]) -> str:
    """List the first names, and how many more there are, for an error."""
    names = list(map(str, names))
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def not_finite(source: str, row: int, where: str, value: Any) -> UsageError:
    """Error for a feature that is infinite or not a number."""
    return UsageError(f"{source}: row {row}, {where} is {value}; features must be finite.")
