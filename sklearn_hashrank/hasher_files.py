"""Fitted hashers in files that are checked when they are read, and that hold no code."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import __version__, objectives
from .affinity import BaseAffinity, fit_affinity
from .base import BaseHasher, LinearHasher
from .codes import packed_width
from .persistence import (
    TreeReader,
    TreeWriter,
    given_name,
    is_given,
    read_archive,
    storable_types,
    type_name,
    write_archive,
)

__all__ = ["load_hasher", "save_hasher"]

_FORMAT = 1
_DEEP_HASHER = "sklearn_hashrank.DeepHasher"
_TRAINING_ROWS = ("codes_", "y_")


def save_hasher(path: Any, hasher: Any, *, training_rows: bool = True) -> None:
    """Write a fitted hasher to a file, complete or not at all.

    The file holds the parameters and everything that `fit` or `partial_fit` left behind: the
    loaded hasher transforms, scores and goes on learning as this one does. Not in the file are
    the configuration of ``set_output``, metadata requests and callbacks.

    Parameters
    ----------
    path : str or path-like
        The file. One that exists is replaced when the new one is complete.
    hasher : hasher
        Fitted. Its parameters and attributes may be None, bool, int, float, str, tuples, lists,
        dicts, arrays of numbers or strings, sparse matrices, affinities and objectives. Affinities,
        objectives and hashers of your own classes are stored by the names of their classes. So are
        the class, function or network that is the `module` of a
        :class:`~sklearn_hashrank.deep.DeepHasher`; its weights are in the file as arrays.
    training_rows : bool, default=True
        Whether to store ``codes_`` and ``y_``, which ``database="fit"`` retrieves from.

    Raises
    ------
    NotFittedError
        Where the hasher is not fitted.
    ValueError
        Where something cannot be stored, for instance a RandomState or a function; the message
        names the parameter or attribute. Pipelines and classifiers of scikit-learn are refused.
    OSError
        Where the file cannot be written.

    See Also
    --------
    load_hasher : Read the file.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from sklearn_hashrank import ITQHasher, load_hasher, save_hasher
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> hasher = ITQHasher(n_bits=4, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "itq.npz")
    ...     save_hasher(path, hasher)
    ...     loaded = load_hasher(path)
    >>> loaded
    ITQHasher(n_bits=4, random_state=0)
    >>> bool((loaded.transform(X) == hasher.transform(X)).all())
    True
    """
    _check_kind(hasher)
    check_is_fitted(hasher)
    _check_state(hasher)
    stored = hasher
    if not training_rows:
        stored = _without_training_rows(hasher)
    writer = TreeWriter(_package_types(), _is_own)
    tree = writer.write(stored, "")
    about = {
        "format": _FORMAT,
        "version": __version__,
        "own_types": writer.own_types,
        "hasher": tree,
    }
    write_archive(path, about, writer.arrays)


def load_hasher(path: Any, *, types: Iterable[Any] = ()) -> Any:
    """Read a hasher that :func:`save_hasher` wrote, after a check of every byte.

    No code is read from the file. It is believed only where its SHA-256 digest is right, and
    shapes, dtypes and values are checked then. The digest tells files that were damaged; it does
    not tell who wrote a file.

    Parameters
    ----------
    path : str or path-like
        The file.
    types : type or iterable of type, default=()
        Classes of your own that the hasher is made of: affinities, objectives, the hasher itself.
        A class is recognised by its module and name, or by its name where no other has it. For a
        :class:`~sklearn_hashrank.deep.DeepHasher` with a network of your own, also a class, a
        function or a network: the one that was its `module`. For a network, pass one of the same
        layers, or its class where that takes no arguments; its weights come from the file.

    Returns
    -------
    hasher : hasher
        Fitted.

    Raises
    ------
    ValueError
        Where the file is truncated, was changed or was written by something else, or a class is
        missing in `types`.
    OSError
        Where the file cannot be read.

    See Also
    --------
    save_hasher : Write the file.

    Examples
    --------
    A hasher that learned from an affinity of your own:

    >>> import os, tempfile
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import RSHHasher, load_hasher, save_hasher
    >>> from sklearn_hashrank import LabelAffinity
    >>> class ParityAffinity(LabelAffinity):
    ...     def validate(self, y, name="y"):
    ...         return super().validate(y, name) % 2
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = RSHHasher(n_bits=8, affinity=ParityAffinity(), random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rsh.npz")
    ...     save_hasher(path, hasher, training_rows=False)
    ...     loaded = load_hasher(path, types=[ParityAffinity])
    >>> loaded.score(X, y) == hasher.score(X, y)
    True
    """
    name, given = os.fspath(path), _check_types(types)
    about, arrays = read_archive(path)
    try:
        if about["format"] != _FORMAT:
            raise ValueError(f"it was written by version {about['version']} of sklearn-hashrank")
        _import_deep(about["hasher"])
        known = {**_package_types(), **_match_types(about["own_types"], given)}
        hasher = TreeReader(arrays, known).read(about["hasher"])
        _check_kind(hasher)
        _check_state(hasher)
    except Exception as error:  # what a file names is made anew, and may raise anything
        said = " ".join(str(error).split())
        raise ValueError(
            f"{name!r} does not hold a hasher that sklearn-hashrank {__version__} can load: {said}"
        ) from error
    return hasher


def _package_types() -> dict[str, type]:
    """Classes of this package that files may name."""
    found: set[type] = set(_subclasses(BaseHasher)) | set(_subclasses(BaseAffinity))
    found |= {kind for kind in vars(objectives).values() if isinstance(kind, type)}
    named = {type_name(kind): kind for kind in found if _is_of_package(kind)}
    return named | storable_types()


def _subclasses(cls: Any) -> Iterable[type]:
    for kind in cls.__subclasses__():
        yield kind
        yield from _subclasses(kind)


def _is_of_package(kind: type) -> bool:
    return kind.__module__.startswith(f"{__package__}.")


def _is_own(value: Any) -> bool:
    """Whether an object of a class that is not of this package is a user's own."""
    learns = any(callable(getattr(value, name, None)) for name in ("value_and_gradient", "tie"))
    is_of_library = type(value).__module__.startswith("sklearn.")
    return learns or (isinstance(value, BaseEstimator) and not is_of_library)


def _import_deep(tree: Any) -> None:
    """Import what needs torch, where a file holds a hasher of it."""
    if tree["object"][0] == _DEEP_HASHER:
        from . import deep  # noqa: F401


def _check_types(types: Any) -> list[Any]:
    given = [types] if is_given(types) else list(types)
    for each in given:
        if not is_given(each):
            raise ValueError(f"types must be classes, functions or networks. Got {each!r} instead.")
    return given


def _match_types(names: list[str], given: list[Any]) -> dict[str, Any]:
    """What was given under each name; the name of its module may have changed."""
    matched = {}
    for name in names:
        class_name = name.rpartition(".")[2]
        exact = [each for each in given if given_name(each) == name]
        alike = [each for each in given if given_name(each).rpartition(".")[2] == class_name]
        found = exact or alike
        if len(found) != 1:
            raise ValueError(
                f"it is made of {name}, a class that is not of this package. Pass the class: "
                f"load_hasher(path, types=[{class_name}])."
            )
        matched[name] = found[0]
    return matched


def _check_kind(hasher: Any) -> None:
    """Refuse what is no hasher."""
    kind = type(hasher)
    if isinstance(hasher, BaseHasher):
        return
    is_estimator = isinstance(hasher, BaseEstimator) and hasattr(hasher, "transform")
    is_of_library = kind.__module__.startswith("sklearn.") or _is_of_package(kind)
    if not is_estimator or is_of_library:
        hint = " Save its last step, and the other steps by joblib or skops."
        raise ValueError(
            f"the files hold a single hasher. Got a {kind.__name__}."
            f"{hint if hasattr(hasher, 'steps') else ''}"
        )


def _check_state(hasher: Any) -> None:
    """Refuse fitted attributes that do not fit together, or numbers that are not finite."""
    if hasattr(hasher, "_parameter_constraints"):
        hasher._validate_params()
    if hasattr(hasher, "affinity_") and not isinstance(hasher.affinity_, BaseAffinity):
        raise ValueError(f"affinity_ must be an affinity. Got {type(hasher.affinity_).__name__}.")
    _check_levels(hasher)
    if isinstance(hasher, LinearHasher):
        _check_hyperplanes(hasher)
    if isinstance(hasher, BaseHasher):
        hasher._check_fitted()
        _check_training_rows(hasher)
    if _is_of_package(type(hasher)):
        _check_finite(hasher, "the hasher", set())
        _check_encoding(hasher)


def _check_hyperplanes(hasher: LinearHasher) -> None:
    """Refuse hyperplanes that are not finite, or that features or training rows do not fit."""
    n_bits, n_features = np.shape(hasher.components_)
    for name, shape in (("components_", (n_bits, n_features)), ("intercept_", (n_bits,))):
        array = getattr(hasher, name)
        if array.dtype.kind != "f" or array.shape != shape or not np.isfinite(array).all():
            raise ValueError(
                f"{name} must be finite numbers of shape {shape}. "
                f"Got {array.dtype} of shape {array.shape}."
            )
    names = getattr(hasher, "feature_names_in_", range(n_features))
    if hasher.n_features_in_ != n_features or len(names) != n_features or not n_bits:
        raise ValueError(f"components_ has {n_features} columns, which are not the features.")


def _check_training_rows(hasher: BaseHasher) -> None:
    """Refuse codes of the training rows that are no codes, or whose `y` are those of others."""
    codes, n_bits = getattr(hasher, "codes_", None), hasher.n_bits_
    if codes is None:
        return
    if codes.dtype != np.uint8 or codes.ndim != 2 or codes.shape[1] != packed_width(n_bits):
        raise ValueError(f"codes_ must be packed codes of {n_bits} bits. Got shape {codes.shape}.")
    y = getattr(hasher, "y_", None)
    if y is not None and np.shape(y)[:1] != (len(codes),):
        raise ValueError(f"y_ must have {len(codes)} rows, as codes_. Got shape {np.shape(y)}.")


def _check_encoding(hasher: BaseHasher) -> None:
    """Refuse fitted attributes that do not fit together, by encoding a row of zeros."""
    n_features, n_bits = hasher.n_features_in_, hasher.n_bits_
    names = getattr(hasher, "feature_names_in_", None)
    if names is not None and np.shape(names) != (n_features,):
        raise ValueError(f"feature_names_in_ must name {n_features} features. Got {len(names)}.")
    projections = hasher._project(np.zeros((1, n_features)))
    is_finite = projections.dtype.kind == "f" and np.isfinite(projections).all()
    if projections.shape != (1, n_bits) or not is_finite:
        raise ValueError(
            f"a row of zeros must have {n_bits} finite projections. "
            f"Got {projections.dtype} of shape {projections.shape}."
        )


def _check_levels(hasher: Any) -> None:
    """Refuse an affinity whose relevance levels do not ascend."""
    if hasattr(getattr(hasher, "affinity_", None), "levels_"):
        levels = np.asarray(hasher.affinity_.levels_)
        is_ascending = levels.ndim == 1 and levels.dtype.kind in "iuf" and np.all(levels >= 0)
        if not is_ascending or not len(levels) or not np.all(np.diff(levels) > 0):
            raise ValueError("affinity_.levels_ must ascend from 0 or more.")


def _check_finite(value: Any, where: str, seen: set[int]) -> None:
    """Refuse arrays of NaN or infinity, in objects of this package and in what they hold."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise ValueError(f"{where} holds numbers that are not finite.")
        return
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (list, tuple)):
        parts = enumerate(value)
    elif _is_of_package(type(value)) and hasattr(value, "__dict__"):
        parts = vars(value).items()
    if id(value) not in seen:
        seen.add(id(value))
        for name, part in parts:
            _check_finite(part, str(name), seen)


def _without_training_rows(hasher: Any) -> Any:
    """Copy of a hasher without the rows it was fitted on, whose `score` needs none of them."""
    copied = object.__new__(type(hasher))
    copied.__dict__.update(vars(hasher))
    if hasattr(hasher, "y_") and not hasattr(hasher, "affinity_"):
        affinity = getattr(hasher, "affinity", "auto")
        copied.affinity_ = fit_affinity(affinity, hasher.y_)
    for name in _TRAINING_ROWS:
        copied.__dict__.pop(name, None)
    return copied
