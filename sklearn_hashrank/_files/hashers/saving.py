"""Write fitted hashers to checked files, and read them."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ... import __version__, objectives
from ...affinity._auto import fit_affinity
from ...affinity._protocol import BaseAffinity
from ...base import BaseHasher
from ..container import read_archive, write_archive
from ..storable import given_name, is_given, is_of_package, storable_types, type_name
from ..tree_reader import TreeReader
from ..tree_writer import TreeWriter
from .fitted_state import check_kind, check_state
from .probes import Probes, check_probes, take_probes

__all__ = ["load_hasher", "save_hasher"]

_FORMAT = 2
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
    check_kind(hasher)
    check_is_fitted(hasher)
    check_state(hasher)
    stored = hasher
    if not training_rows:
        stored = _without_training_rows(hasher)
    writer = TreeWriter(_package_types(), _is_own)
    tree = writer.write(stored, "")
    about = {
        "format": _FORMAT,
        "version": __version__,
        "own_types": list(writer.own_types),
        "hasher": tree,
    }
    if writer.own_types and (probes := take_probes(hasher)) is not None:
        about["probes"] = {**probes._asdict(), "scores": writer.write(probes.scores, "scores")}
    try:
        _restore(about, [array for _, array in writer.arrays], writer.own_types)
    except Exception as error:  # what is made anew may raise anything
        said = " ".join(str(error).split())
        raise ValueError(f"this {type(hasher).__name__} cannot be stored: {said}") from error
    write_archive(path, about, writer.arrays)


def load_hasher(path: Any, *, types: Iterable[Any] = ()) -> Any:
    """Read a hasher that :func:`save_hasher` wrote, after a check of every byte.

    No code is read from the file. It is believed only where its SHA-256 digest is right, and
    shapes, dtypes and values are checked then. The digest tells files that were damaged; it does
    not tell who wrote a file.

    Parameters
    ----------
    path : str or path-like
        Name of the file that is read.
    types : type or iterable of type, default=()
        Classes of your own that the hasher is made of: affinities, objectives, the hasher itself.
        A class is recognized by its module and name, or by its name where no other has it. For a
        :class:`~sklearn_hashrank.deep.DeepHasher` with a network of your own, also a class, a
        function or a network: the one that was its `module`. For a network, pass one of the same
        layers, or its class where that takes no arguments; its weights come from the file.

    Returns
    -------
    hasher : hasher
        The hasher that was stored, fitted.

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
            raise ValueError(
                f"it was written by version {about['version']} of sklearn-hashrank in format "
                f"{about['format']}, and this one reads format {_FORMAT}"
            )
        hasher = _restore(about, arrays, _match_types(about["own_types"], given))
    except Exception as error:  # what a file names is made anew, and may raise anything
        said = " ".join(str(error).split())
        raise ValueError(
            f"{name!r} does not hold a hasher that sklearn-hashrank {__version__} can load: {said}"
        ) from error
    return hasher


def _restore(about: dict[str, Any], arrays: list[np.ndarray], own_types: dict[str, Any]) -> Any:
    """Make the hasher that a file describes, and compare it with the stored one."""
    if about["hasher"]["object"][0] == _DEEP_HASHER:
        from ... import deep  # noqa: F401  which needs torch, and makes its class known
    reader = TreeReader(arrays, {**_package_types(), **own_types})
    hasher = reader.read(about["hasher"])
    check_kind(hasher)
    check_state(hasher)
    if "probes" in about:
        probes = Probes(**about["probes"])
        check_probes(hasher, probes._replace(scores=reader.read(probes.scores)))
    return hasher


def _package_types() -> dict[str, type]:
    """Classes of this package that files may name."""
    found: set[type] = set(_subclasses(BaseHasher)) | set(_subclasses(BaseAffinity))
    found |= {kind for kind in vars(objectives).values() if isinstance(kind, type)}
    named = {type_name(kind): kind for kind in found if is_of_package(kind)}
    return named | storable_types()


def _subclasses(cls: Any) -> Iterable[type]:
    for kind in cls.__subclasses__():
        yield kind
        yield from _subclasses(kind)


def _is_own(value: Any) -> bool:
    """Whether an object of a class that is not of this package is a user's own."""
    learns = any(callable(getattr(value, name, None)) for name in ("value_and_gradient", "tie"))
    is_of_library = type(value).__module__.startswith("sklearn.")
    return learns or (isinstance(value, BaseEstimator) and not is_of_library)


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
