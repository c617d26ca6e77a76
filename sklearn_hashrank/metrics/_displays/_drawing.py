"""What the displays share: models by name, their histograms, axes and colors."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..._utils.extras import how_to_install
from ..._utils.types import MatrixLike, Target
from .._counting import retrieval_histogram
from .._registry import get_measure
from .._retrieval import retrieve, unwrap, y_and_codes

# Okabe and Ito, "Color universal design", without the yellow that paper swallows.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")


def pyplot(display: Any) -> Any:
    """Return matplotlib.pyplot, or say how to install it."""
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError(
            f"{type(display).__name__}.plot needs matplotlib, which is not installed. "
            f"It comes with: {how_to_install('plot')}"
        ) from error
    return matplotlib.pyplot


def new_axes(display: Any, ax: Any, **options: Any) -> Any:
    """Return `ax`, or the axes of a new figure."""
    plt = pyplot(display)
    return plt.subplots(layout="constrained", **options)[1] if ax is None else ax


def style(number: int) -> dict[str, Any]:
    """Return color and dashes of a model, which differ among 28 models."""
    dashes = DASHES[number // len(COLORS) % len(DASHES)]
    return {"color": COLORS[number % len(COLORS)], "linestyle": dashes}


def legend(ax: Any, names: list[str] | None, **options: Any) -> None:
    """Name the models in a legend that stays small; many go beside the axes."""
    if names is None:
        return
    if len(names) > 6:
        options = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)} | options
    sizes = {"fontsize": "small", "handlelength": 2.4, "labelspacing": 0.3, "borderpad": 0.3}
    for text in ax.legend(**sizes | options).get_texts():
        if text.get_text() in names:
            text.set_parse_math(False)  # the name of a model may hold dollars


def by_name(models: Any, what: str) -> dict[str | None, Any]:
    """Return models by name; a single model has the name None and no legend."""
    if not isinstance(models, Mapping):
        return {None: models}
    if not models:
        raise ValueError(f"{what} is an empty mapping; at least one model is needed.")
    return {None if name is None else str(name): model for name, model in models.items()}


def names_of(models: Mapping[str | None, Any]) -> list[str] | None:
    """Return the names for a legend, or None where a single model needs none."""
    return None if None in models else [str(name) for name in models]


def check_names(names: Any, n_models: int) -> list[str] | None:
    """Check that there is one name for each model, and return them as text."""
    if names is None:
        return None
    names = [str(name) for name in names]
    if len(names) != n_models:
        raise ValueError(f"names must be one for each of {n_models} models. Got {len(names)}.")
    return names


def estimators_by_name(estimator: Any) -> dict[str | None, Any]:
    """Return estimators by name; a single one is named after the class of its hasher."""
    if not isinstance(estimator, Mapping):
        estimator = {type(unwrap(estimator)[1]).__name__: estimator}
    return by_name(estimator, "estimator")


def as_curves(values: Any, what: str) -> list[np.ndarray]:
    """Return one 1-d array for each model; a single curve becomes a list of one."""
    curves = [values] if np.ndim(values[0]) == 0 else list(values)
    curves = [np.asarray(curve, dtype=float) for curve in curves]
    if any(curve.ndim != 1 or not curve.size for curve in curves):
        raise ValueError(f"{what} must be one 1-d array, not empty, for each model.")
    return curves


class HistogramDisplay:
    """A display of retrieval histograms, which can be made from hashers and from codes as well."""

    from_histograms: ClassVar[Callable[..., Any]]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: Target | None = None,
        *,
        database: Any = "self",
        affinity: Any = "auto",
        n_jobs: int | None = None,
        **options: Any,
    ) -> Any:
        """Make the display for fitted hashers.

        Parameters
        ----------
        estimator : hasher or mapping of str to hasher
            Fitted, alone or within pipelines and searches. Any estimator whose ``transform``, or
            else ``predict``, gives codes is accepted.
        X : array-like of shape (n_queries, n_features)
            Rows to encode as queries.
        y : array-like with n_queries rows, default=None
            What the affinity compares. None: the rows as the hasher sees them.
        database : "self", "fit" or tuple (X, y), default="self"
            Items to retrieve: all other rows of `X`, the training rows of the hasher, or others.
        affinity : "auto" or affinity object, default="auto"
            Relevance rule. "auto": the affinity that the hasher was fitted with.
        n_jobs : int, default=None
            Number of threads.
        **options : dict
            Keywords of ``from_histograms``.

        Returns
        -------
        display : object of this class
        """
        histograms = {
            name: retrieve(
                model,
                X,
                y,
                database=database,
                affinity=affinity,
                keep_codes=_needs_codes(options),
                n_jobs=n_jobs,
            )
            for name, model in estimators_by_name(estimator).items()
        }
        return cls.from_histograms(histograms, **options)

    @classmethod
    def from_codes(
        cls,
        y_true: Target,
        codes: ArrayLike | Mapping[str, ArrayLike],
        *,
        database: Any = None,
        n_bits: int | None = None,
        affinity: Any = "auto",
        n_jobs: int | None = None,
        **options: Any,
    ) -> Any:
        """Make the display for codes.

        Parameters
        ----------
        y_true : array-like with n_queries rows
            What `affinity` compares: class labels, label sets, label paths or vectors.
        codes : array-like of shape (n_queries, n_columns) or mapping of str to such
            Query codes of one model, or of several by name.
        database : tuple (y_database, database_codes), default=None
            Items to retrieve; with several models, their codes by the same names. None: each row
            retrieves all other rows.
        n_bits : int, default=None
            Code length, required for packed codes.
        affinity : "auto" or affinity object, default="auto"
            Relevance rule, as for the metric functions.
        n_jobs : int, default=None
            Number of threads.
        **options : dict
            Keywords of ``from_histograms``.

        Returns
        -------
        display : object of this class
        """
        models = by_name(codes, "codes")
        y, of_database = y_true, models
        if database is not None:
            y, database_codes = y_and_codes(database)
            of_database = by_name(database_codes, "database_codes")
        if of_database.keys() != models.keys():
            raise ValueError(
                "database codes must be of the same models as codes. "
                f"Got {list(of_database)} and {list(models)}."
            )
        histograms = {
            name: retrieval_histogram(
                queries,
                of_database[name],
                y_true,
                y,
                affinity=affinity,
                n_bits=n_bits,
                exclude_self=database is None,
                keep_codes=_needs_codes(options),
                n_jobs=n_jobs,
            )
            for name, queries in models.items()
        }
        return cls.from_histograms(histograms, **options)


def _needs_codes(options: dict[str, Any]) -> bool:
    return get_measure(options.get("measure", "ap")).needs_codes
