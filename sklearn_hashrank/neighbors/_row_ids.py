"""The names by which codes of an index are found, added and removed."""

import reprlib
from collections import Counter
from collections.abc import Hashable, Mapping, Set
from numbers import Integral
from typing import Any

import numpy as np

from .._features.tensors import as_host_array
from ._searches import MISSING


class RowIds:
    """A name for each of `n` codes of an index, in the order of the codes.

    Without `names`, the name of a code is its place. Where codes were given none, `n_numbered` says
    how many there ever were: their names are numbers in the order in which they were added.
    """

    def __init__(self, n: int, names: np.ndarray | None, n_numbered: int | None):
        self._n, self.names, self.n_numbered = n, names, n_numbered
        self._places: dict[Any, int] | None = None

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_places": None}  # which are larger than the names

    def array(self) -> np.ndarray:
        """All names."""
        return np.arange(self._n) if self.names is None else self.names.copy()

    def of(self, places: np.ndarray) -> np.ndarray:
        """Names of the codes at some places; what is missing is -1, or None among objects."""
        if self.names is None:
            return places
        missing = places == MISSING
        names: np.ndarray = self.names[np.where(missing, 0, places)]
        names[missing] = MISSING if names.dtype == np.int64 else None
        return names

    def with_more(self, given: Any, n: int) -> "RowIds":
        """Return these names and those of `n` codes more."""
        n_all = self._n + n
        if self.n_numbered is not None:
            if given is not None:
                raise ValueError(
                    "ids were not given to fit, so that codes are numbered in the order in which "
                    "they are added. Got ids."
                )
            names = self.names
            if names is not None:
                more = np.arange(self.n_numbered, self.n_numbered + n)
                names = np.concatenate([names, more])
            return RowIds(n_all, names, self.n_numbered + n)
        if given is None:
            raise ValueError("ids were given to fit, so that further codes need them. Got none.")
        more, names = read_ids(given, n), self.array()
        if more.dtype != names.dtype:
            raise ValueError(
                f"ids must be {_KINDS[names.dtype.kind]}, as those of the codes before. "
                f"Got {_KINDS[more.dtype.kind]}."
            )
        names = np.concatenate([names, more])
        _check_different(names)
        return RowIds(n_all, names, None)

    def places_to_remove(self, ids: Any, missing: str) -> np.ndarray:
        """Places of the codes with some names, if a code is left without them."""
        if missing not in ("raise", "ignore"):
            raise ValueError(f"missing must be 'raise' or 'ignore'. Got {missing!r} instead.")
        places = self.places_of(ids, ignore_missing=missing == "ignore")
        if len(places) == self._n:
            raise ValueError(f"an index holds one code at least. Got the ids of all {self._n}.")
        return places

    def places_of(self, ids: Any, ignore_missing: bool = False) -> np.ndarray:
        """Places of the codes with some names."""
        wanted = read_ids(ids).tolist()
        if self._places is None:
            self._places = {name: place for place, name in enumerate(self.array().tolist())}
        unknown = [name for name in wanted if name not in self._places]
        if unknown and not ignore_missing:
            raise ValueError(
                f"ids must be those of codes in the index. Got {unknown[0]!r}"
                + (f" and {len(unknown) - 1:,} others that are not there." if unknown[1:] else ".")
            )
        places = [self._places[name] for name in wanted if name in self._places]
        return np.array(places, dtype=np.int64)

    def places_among(self, found: Any) -> np.ndarray:
        """Places of what a search found, which may be missing, in an array of the same shape."""
        found = np.asarray(found)
        flat, missing = found.ravel().tolist(), MISSING if found.dtype.kind in "iu" else None
        names = list(dict.fromkeys(name for name in flat if name != missing))
        place_of = dict(zip(names, self.places_of(names).tolist()))
        places = [place_of.get(name, MISSING) for name in flat]
        return np.array(places, np.int64).reshape(found.shape)

    def without(self, places: np.ndarray) -> "RowIds":
        """Return the names but for those at some places."""
        return RowIds(self._n - len(places), np.delete(self.array(), places), self.n_numbered)


_KINDS = {"i": "integers", "O": "objects other than integers"}


def read_ids(ids: Any, n: int | None = None) -> np.ndarray:
    """Return ids as int64 or objects, or say what is wrong with them.

    There must be `n`, no two of them equal; where any number will do, also a set.
    """
    values = ids.to_numpy() if hasattr(ids, "to_numpy") else as_host_array(ids, "ids")
    has_order = not isinstance(values, (str, bytes, Mapping, Set)) and hasattr(values, "__len__")
    if not has_order and (n is not None or not isinstance(values, Set)):
        raise ValueError(f"ids must be a sequence. Got {reprlib.repr(ids)}.")
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"ids must have one axis. Got an array of shape {values.shape}.")
    if n is not None and len(values) != n:
        raise ValueError(f"ids must be one for each of {n} codes. Got {len(values)}.")
    is_time = getattr(values, "dtype", np.dtype(object)).kind in "mM"  # tolist makes it numbers
    values = values.tolist() if isinstance(values, np.ndarray) and not is_time else list(values)
    if all(isinstance(value, Integral) and not isinstance(value, bool) for value in values):
        wrong = [value for value in values if value == MISSING or not -(2**63) <= value < 2**63]
        if wrong:
            raise ValueError(
                "ids that are integers must be from -2**63 to 2**63 - 1, and not -1, which stands "
                f"for a missing neighbor. Got {wrong[0]}. Pass others as strings."
            )
        names = np.array(values, dtype=np.int64)
    else:
        for value in values:
            if value is None or not isinstance(value, Hashable) or _is_missing(value):
                raise ValueError(f"ids must be hashable, and neither None nor NaN. Got {value!r}.")
        names = np.empty(len(values), dtype=object)
        names[:] = values
    _check_different(names)
    return names


def _is_missing(value):
    """Whether a value is not equal to itself, as NaN, or does not say so, as pandas.NA."""
    try:
        return bool(value != value)
    except TypeError:
        return True


def _check_different(names):
    if names.dtype == np.int64:
        ordered = np.sort(names)
        repeated = ordered[1:][ordered[1:] == ordered[:-1]].tolist()
    else:
        counts = Counter(names.tolist())
        repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(f"ids must be different. Got {repeated[0]!r} more than once.")
