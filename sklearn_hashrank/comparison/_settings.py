"""Parameters that an experiment sets, wherever an estimator and what is inside of it have them."""

from typing import Any

from sklearn.base import clone

from ..affinity._protocol import BaseAffinity


def with_settings(estimator: Any, *, output: str | None = None, **settings: Any) -> Any:
    """Clone an estimator with other parameters.

    Parameters
    ----------
    estimator : estimator object
        A hasher or any other transformer that gives codes, alone or within pipelines and searches.
    output : str, default=None
        Value of `output` of the last step, where it has such a parameter. None leaves it.
    **settings : object
        Values of parameters, such as `n_bits` and `random_state`, of the estimator and of every
        estimator inside of it that has them. `n_bits` sets `n_bytes`, too. Affinities keep theirs,
        because what is relevant does not depend on the experiment.

    Returns
    -------
    estimator : estimator object
        Not fitted.
    """
    estimator = clone(estimator)
    if "n_bits" in settings:
        n_bytes, left = divmod(settings["n_bits"], 8)
        # a fraction is an error of the estimator, as other numbers of bits are
        settings["n_bytes"] = settings["n_bits"] / 8 if left else n_bytes
    for name, value in settings.items():
        found = dict.fromkeys(_paths(estimator, name), value)
        estimator.set_params(**found)
    path = _path_of_last_step(estimator) + "output"
    if output is not None and path in estimator.get_params():
        estimator.set_params(**{path: output})
    return estimator


def has_setting(estimator: Any, name: str) -> bool:
    """Whether :func:`with_settings` sets a parameter of an estimator, or of one inside of it."""
    return bool(_paths(estimator, name)) or (name == "n_bits" and has_setting(estimator, "n_bytes"))


def _paths(estimator: Any, name: str) -> list[str]:
    """Names, in the notation of `set_params`, of all parameters called `name`."""
    parameters = estimator.get_params()
    paths = [path for path in parameters if path.rpartition("__")[2] == name]
    owners = {path: parameters.get(path.rpartition("__")[0]) for path in paths}
    return [path for path, owner in owners.items() if not isinstance(owner, BaseAffinity)]


def _path_of_last_step(estimator: Any) -> str:
    """What precedes the parameters of the last step of pipelines, within searches as well."""
    if hasattr(estimator, "named_steps"):
        name, inside = estimator.steps[-1]
    elif hasattr(estimator, "estimator"):
        name, inside = "estimator", estimator.estimator
    else:
        return ""
    return f"{name}__" + _path_of_last_step(inside)
