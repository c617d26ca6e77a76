"""Linear hashers in files that hold arrays and JSON only, so that loading runs no code."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from ..base import LinearHasher
from ..comparison import METHODS
from ._errors import UsageError

_FORMAT = 1
_CLASSES = {type(hasher).__name__: type(hasher) for hasher in METHODS.values()}


class Model(NamedTuple):
    """A fitted hasher, and the names of its features if they have any."""

    hasher: LinearHasher
    feature_names: list[str] | None = None


def save_model(model: Model, path: str) -> None:
    """Write the hyperplanes of a fitted linear hasher, complete or not at all.

    Parameters
    ----------
    model : Model
        Its `hasher` must be one of `METHODS`' classes.
    path : str
        A ``.npz`` file.
    """
    hasher = model.hasher
    parameters = hasher.get_params(deep=False)
    about = {
        "format": _FORMAT,
        "version": __version__,
        "class": type(hasher).__name__,
        "parameters": {name: value for name, value in parameters.items() if _is_plain(value)},
        "feature_names": model.feature_names,
    }
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open(unfinished, "wb") as file:
            np.savez(
                file,
                components=hasher.components_,
                intercept=hasher.intercept_,
                about=np.array(json.dumps(about)),
            )
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def load_model(path: str) -> Model:
    """Read what :func:`save_model` wrote.

    Parameters
    ----------
    path : str
        A ``.npz`` file.

    Returns
    -------
    model : Model
        Its hasher encodes as the saved one did. Training rows and codes are not kept.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            components, intercept = file["components"], file["intercept"]
            about = json.loads(str(file["about"]))
    except OSError as error:
        if error.filename is None:
            error.filename = path
        raise
    except (ValueError, EOFError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise UsageError(f"{path} is not a model written by hashrank fit.") from error
    if about.get("format") != _FORMAT or about.get("class") not in _CLASSES:
        raise UsageError(
            f"{path} was written by sklearn-hashrank {about.get('version')}, which this version, "
            f"{__version__}, cannot read."
        )
    hasher: Any = _CLASSES[about["class"]](**about["parameters"])
    hasher.components_, hasher.intercept_ = components, intercept
    hasher.n_features_in_ = components.shape[1]
    return Model(hasher, about["feature_names"])


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))
