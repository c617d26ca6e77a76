"""What the displays share: models by name, their histograms, axes and colours."""

from collections.abc import Mapping
from typing import Any

from ..._utils.extras import how_to_install
from .._counting import retrieval_histogram
from .._histogram import RetrievalHistogram
from .._retrieval import retrieve, unwrap, y_and_codes

# Okabe and Ito, "Color universal design", without the yellow that paper swallows.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


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
    """Return colour and dashes of a model, which differ among 28 models."""
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


def refuse_swapped_models(y_true: Any, database: Any) -> None:
    """Say that codes by name stand in the place of `y`."""
    places = {"y_true": y_true}
    if isinstance(database, (tuple, list)) and database:
        places["y_database"] = database[0]
    for name, y in places.items():
        if isinstance(y, Mapping):
            raise ValueError(
                f"{name} must be labels or the like, one row for each code. Got a mapping. Are "
                "codes and y swapped? The order is (y_true, codes) and "
                "database=(y_database, database_codes)."
            )


def histograms_of_codes(
    y_true: Any,
    codes: Any,
    database: Any,
    n_bits: int | None,
    affinity: Any,
    n_jobs: int | None,
    keep_codes: bool = False,
) -> dict[str | None, RetrievalHistogram]:
    """Count what each of several codings of the same queries retrieves."""
    refuse_swapped_models(y_true, database)
    models = by_name(codes, "codes")
    if database is None:
        items = {name: (y_true, queries) for name, queries in models.items()}
    else:
        y, codes_of_items = y_and_codes(database)
        of_database = by_name(codes_of_items, "database_codes")
        if of_database.keys() != models.keys():
            raise ValueError(
                "database codes must be of the same models as codes. "
                f"Got {list(of_database)} and {list(models)}."
            )
        items = {name: (y, of_database[name]) for name in models}
    return {
        name: retrieval_histogram(
            queries,
            items[name][1],
            y_true,
            items[name][0],
            affinity=affinity,
            n_bits=n_bits,
            exclude_self=database is None,
            keep_codes=keep_codes,
            n_jobs=n_jobs,
        )
        for name, queries in models.items()
    }


def histograms_of_estimators(
    estimator: Any,
    X: Any,
    y: Any,
    database: Any,
    affinity: Any,
    n_jobs: int | None,
    keep_codes: bool = False,
) -> dict[str | None, RetrievalHistogram]:
    """Encode with each of several fitted hashers, and count what they retrieve."""
    return {
        name: retrieve(
            model,
            X,
            y,
            database=database,
            affinity=affinity,
            keep_codes=keep_codes,
            n_jobs=n_jobs,
        )
        for name, model in estimators_by_name(estimator).items()
    }


def estimators_by_name(estimator: Any) -> dict[str | None, Any]:
    """Return estimators by name; a single one is named after the class of its hasher."""
    if not isinstance(estimator, Mapping):
        estimator = {type(unwrap(estimator)[1]).__name__: estimator}
    return by_name(estimator, "estimator")
