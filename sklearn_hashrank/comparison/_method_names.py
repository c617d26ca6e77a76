"""Read the names of methods of a comparison, such as ``"itq:distance=asymmetric"``."""

from typing import Any

from .._utils.notation import split_notation
from ._faiss_search import FaissSearch, import_faiss
from ._hasher_search import NEEDED, HasherSearch
from ._method_table import FAISS, check_method, method_from_name
from ._own_distance import check_metric

_OF_DISTANCE = ("distance", "metric")
_EXAMPLE = "faiss:OPQ32_96,PQ32:metric=euclidean"


def method_of_comparison(notation: str) -> Any:
    """Return what a name of :func:`compare` stands for.

    A name is a hasher as :func:`method_from_name` reads it; ``"faiss:FACTORY"``, followed by
    ``:metric=`` and ``:search=``; or a hasher with ``:distance=asymmetric`` or
    ``:distance=decoded``, which ranks by this distance.
    """
    name, *parts = (part.strip() for part in notation.split(":"))
    if name == FAISS:
        return _faiss_search(notation, parts)
    if not any(_key(part) == "distance" for part in parts):
        return method_from_name(notation)
    rest = ":".join([name, *(part for part in parts if _key(part) in _OF_DISTANCE)])
    _, options = split_notation(rest, "method", "autoencoder:distance=decoded")
    hasher = method_from_name(hasher_of_comparison(notation))
    check_metric(options.get("metric", "auto"))
    if options["distance"] not in NEEDED:
        raise ValueError(
            f"distance of method {notation!r} must be one of {tuple(NEEDED)}. "
            f"Got {options['distance']!r} instead."
        )
    if options["distance"] == "decoded" and not hasattr(hasher, "inverse_transform"):
        raise ValueError(f"method {notation!r}: {type(hasher).__name__} has no decoder.")
    return check_method(HasherSearch(hasher, **options), notation)


def hasher_of_comparison(notation: str) -> str:
    """Leave out of a name what is the comparison's, the distance by which it ranks."""
    name, *parts = (part.strip() for part in notation.split(":"))
    return ":".join([name, *(part for part in parts if _key(part) not in _OF_DISTANCE)])


def _key(part: str) -> str:
    return part.partition("=")[0].strip()


def _faiss_search(notation: str, parts: list[str]) -> FaissSearch:
    if not parts or not parts[0]:
        raise ValueError(f"method {notation!r} needs a factory string, as in {_EXAMPLE}.")
    try:
        import_faiss()
    except ImportError as error:
        raise ValueError(f"method {notation!r}: {error}") from error
    _, options = split_notation(":".join([FAISS, *parts[1:]]), "method", _EXAMPLE)
    for name in options:
        if name not in ("metric", "search"):
            raise ValueError(
                f"method {notation!r} has no parameter {name!r}. Its parameters: metric, search."
            )
    check_metric(options.get("metric", "auto"))
    return FaissSearch(parts[0], **options)
