"""The methods of a comparison: by names such as ``"itq:distance=asymmetric"``, or as estimators."""

import warnings
from collections.abc import Container, Mapping, Sequence
from typing import Any

from sklearn.base import clone

from .._utils.notation import split_notation
from .._utils.parameters import as_names
from ..affinity._auto import is_auto
from ..metrics._given_codes import GivenCodes
from ._faiss_search import FaissSearch, import_faiss
from ._hasher_search import HasherSearch
from ._method_table import FAISS, check_method, find_method, method_from_name
from ._runner import CHANCE, Run

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
    _, options = split_notation(rest, "method", "additive:distance=decoded")
    hasher = method_from_name(hasher_of_comparison(notation))
    if options["distance"] == "decoded" and not hasattr(hasher, "inverse_transform"):
        raise ValueError(f"method {notation!r}: {type(hasher).__name__} has no decoder.")
    return check_method(HasherSearch(hasher, **options), notation)


def hasher_of_comparison(notation: str) -> str:
    """Leave out of a name what is the comparison's, the distance by which it ranks."""
    name, *parts = (part.strip() for part in notation.split(":"))
    return ":".join([name, *(part for part in parts if _key(part) not in _OF_DISTANCE)])


def _key(part: str) -> str:
    return part.partition("=")[0].strip()


def _faiss_search(notation: str, parts: list[str]) -> Any:
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
    return check_method(FaissSearch(parts[0], **options), notation)


def check_methods(methods: Any) -> dict[str, Any]:
    """Return the methods that :func:`compare` was asked for, by name."""
    names = list(methods) if isinstance(methods, Mapping) else as_names(methods, "methods")
    if not names:
        raise ValueError("at least one method is needed.")
    found: dict[str, Any] = {}
    for name in names:
        _check_name(name, found)
        method = methods[name] if isinstance(methods, Mapping) else name
        if isinstance(method, str):
            method = method_of_comparison(method)
        found[name] = check_method(method, name)
    return found


def check_codes(codes: Any, methods: Mapping[str, Any], n_rows: int) -> dict[str, GivenCodes]:
    """Return given codes as methods, after a look at their form and number."""
    if codes is not None and not isinstance(codes, Mapping):
        raise ValueError(f"codes must map names to codes. Got {type(codes).__name__}.")
    found = {}
    for name, each in (codes or {}).items():
        _check_name(name, methods)
        found[name] = GivenCodes(each)
        found[name].check_rows(name, n_rows)
    return found


def _check_name(name: Any, others: Container[str]) -> None:
    if not isinstance(name, str):
        raise ValueError(f"methods must be named by str. Got {name!r}.")
    if name == CHANCE:
        raise ValueError(f"no method can be named {CHANCE!r}: constant codes have this name.")
    if name in others:
        raise ValueError(f"each method must be named once. Got {name!r} twice.")


def groups_of(methods: Any, kept: Container[str]) -> dict[str, str]:
    """Group of each method that was given by a notation; indexes of faiss have none."""
    if not isinstance(methods, Mapping):
        methods = {name: name for name in as_names(methods, "methods")}
    written = {
        name: notation.partition(":")[0].strip()
        for name, notation in methods.items()
        if name in kept and isinstance(notation, str)
    }
    return {name: find_method(method).group for name, method in written.items() if method != FAISS}


def with_affinity(estimator: Any, train_affinity: Any, eval_affinity: Any) -> Any:
    """Clone an estimator that has these affinities wherever it would choose one itself."""
    chosen = {"affinity": train_affinity, "eval_affinity": eval_affinity}
    estimator = clone(estimator)
    paths = {
        path: path.rpartition("__")[2]
        for path, value in estimator.get_params().items()
        if is_auto(value)
    }
    return estimator.set_params(
        **{path: chosen[name] for path, name in paths.items() if name in chosen}
    )


def supported_runs(runs: Sequence[Run], X: Any, y: Any, skip: bool) -> tuple[list[Run], list[str]]:
    """Leave out runs whose hasher does not support the training rows of the first seed.

    Returns the others, and a text about each method that is left out. An estimator without
    ``check_data(X, y)`` says it when it is fitted.
    """
    reasons: dict[str, dict[int, str]] = {}
    for run in runs:
        check = getattr(run.hasher, "check_data", None)
        if run.seed != runs[0].seed or not callable(check):
            continue
        try:
            check(X, y)
        except (ValueError, TypeError) as error:
            reasons.setdefault(run.method, {})[run.n_bits] = " ".join(str(error).split())
    kept = [run for run in runs if run.n_bits not in reasons.get(run.method, {})]
    texts = []
    for method, by_length in reasons.items():
        bits = f" with {', '.join(map(str, by_length))} bits" if all(by_length) else ""
        texts.append(f"{method!r}{bits}: {next(iter(by_length.values()))}")
    if texts and not (skip and kept):
        number = "1 method does" if len(texts) == 1 else f"{len(texts)} methods do"
        advice = " Leave them out, or set skip_unsupported." if kept else ""
        raise ValueError(f"{number} not support these data. {' '.join(texts)}{advice}")
    for text in texts:
        warnings.warn(f"skipped: {text}", UserWarning, stacklevel=3)
    return kept, texts
