"""A measure against the length of the codes, over seeds."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._utils.types import MatrixLike, Target
from .._evaluation import mean_value
from .._registry import get_measure
from .._settings import with_settings
from ._drawing import (
    MARKERS,
    check_names,
    estimators_by_name,
    histograms_of_codes,
    histograms_of_estimators,
    legend,
    new_axes,
    refuse_swapped_models,
    style,
)


class BitsCurveDisplay:
    """A measure against the length of the codes, with error bars over seeds.

    Parameters
    ----------
    n_bits : array-like of shape (n_lengths,)
        Lengths of the codes.
    scores : array-like of shape (n_lengths, n_seeds), or list of such
        Of one model, or of each model. A seed whose score is nan is left out.
    names : list of str, default=None
        Names of the models.
    label : str, default=None
        Name of the measure.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib ErrorbarContainer

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.metrics import BitsCurveDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> display = BitsCurveDisplay.from_estimator(LSHHasher(), X, y, n_bits=(8, 32), seeds=(0, 1))
    >>> display.scores[0].round(2)
    array([[0.24, 0.23],
           [0.49, 0.48]])
    """

    def __init__(self, n_bits: Any, scores: Any, *, names: Any = None, label: str | None = None):
        self.n_bits = np.asarray(n_bits)
        scores = list(scores)
        scores = [scores] if np.ndim(scores[0]) == 1 else scores
        self.scores = [np.asarray(of_model, dtype=float) for of_model in scores]
        for of_model in self.scores:
            if of_model.ndim != 2 or len(of_model) != len(self.n_bits):
                raise ValueError(
                    f"scores must have one row for each of {len(self.n_bits)} lengths of codes and "
                    f"one column for each seed. Got shape {of_model.shape}."
                )
        self.names, self.label = check_names(names, len(self.scores)), label

    @classmethod
    def from_codes(
        cls,
        y_true: Target,
        codes: Mapping[Any, Any],
        *,
        database: Any = None,
        affinity: Any = "auto",
        n_jobs: int | None = None,
        measure: Any = "ap",
        **options: Any,
    ) -> "BitsCurveDisplay":
        """Scores of codes.

        Parameters
        ----------
        y_true : array-like with n_queries rows
            What `affinity` compares: class labels, label sets, label paths or vectors.
        codes : mapping of int to list of codes, or mapping of str to such
            For each length, codes of one model with several seeds, in any format; or that for
            each of several models by name.
        database : tuple (y_database, database_codes), default=None
            The items to retrieve, their codes in the same form. None: every row is a query
            against all other rows.
        affinity : "auto" or affinity object, default="auto"
            As for the metric functions.
        n_jobs : int, default=None
            Threads.
        measure : str or callable, default="ap"
            A function of ``sklearn_hashrank.metrics`` with a value for each query, or its short
            name.
        **options : dict
            Parameters of the measure, such as ``k``.

        Returns
        -------
        display : BitsCurveDisplay
        """
        measure = get_measure(measure)
        refuse_swapped_models(y_true, database)
        models, of_database = _by_length(codes), None
        if database is not None:
            of_database = _by_length(database[1])
            found, wanted = (
                {model: sorted(by_length) for model, by_length in of_both.items()}
                for of_both in (of_database, models)
            )
            if found != wanted:
                raise ValueError(
                    "database codes must be of the same models and lengths as codes. "
                    f"Got {found} and {wanted}."
                )
        names = None if None in models else list(models)
        n_bits = sorted(next(iter(models.values())))
        scores = []
        for model, by_length in models.items():
            if sorted(by_length) != n_bits:
                raise ValueError(
                    f"all models must have codes of the same lengths. Got {n_bits} and "
                    f"{sorted(by_length)}."
                )
            rows = []
            for length in n_bits:
                queries = dict(enumerate(by_length[length]))
                items = None
                if of_database is not None:
                    items = (database[0], dict(enumerate(of_database[model][length])))
                histograms = histograms_of_codes(
                    y_true, queries, items, length, affinity, n_jobs, measure.needs_codes
                )
                rows.append(
                    [mean_value(h.measure(measure, **options)) for h in histograms.values()]
                )
            scores.append(rows)
        return cls(n_bits, scores, names=names, label=f"mean {measure.label}")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: Target | None = None,
        *,
        n_bits: Any = (8, 16, 32, 64),
        seeds: Any = (0, 1, 2),
        queries: Any = None,
        affinity: Any = "auto",
        n_jobs: int | None = None,
        measure: Any = "ap",
        **options: Any,
    ) -> "BitsCurveDisplay":
        """Scores of hashers, fitted anew with each length and seed.

        Parameters
        ----------
        estimator : hasher or mapping of str to hasher
            Cloned and fitted to `X`, `y` with each ``n_bits`` and ``random_state``, which are set
            wherever the estimator, or one inside of it, has them. Any estimator whose
            ``transform``, or else ``predict``, gives codes will do.
        X : array-like of shape (n_samples, n_features)
            Training rows, and what is retrieved.
        y : array-like with n_samples rows, default=None
            What the affinity compares. None: the rows as the hasher sees them.
        n_bits : sequence of int, default=(8, 16, 32, 64)
            Lengths of the codes.
        seeds : sequence of int, default=(0, 1, 2)
            Values of ``random_state``.
        queries : tuple (X, y), default=None
            Queries; None: each row of `X` retrieves all others.
        affinity : "auto" or affinity object, default="auto"
            As for :func:`~sklearn_hashrank.metrics.make_retrieval_scorer`: "auto" is what the
            hasher was fitted with.
        n_jobs : int, default=None
            Threads.
        measure : str or callable, default="ap"
            A function of ``sklearn_hashrank.metrics`` with a value for each query, or its short
            name.
        **options : dict
            Parameters of the measure, such as ``k``.

        Returns
        -------
        display : BitsCurveDisplay
        """
        measure = get_measure(measure)
        models = estimators_by_name(estimator)
        query_X, query_y = (X, y) if queries is None else queries
        database = "self" if queries is None else (X, y)

        def score(model: Any, length: int, seed: int) -> float:
            fitted = with_settings(model, n_bits=length, random_state=seed).fit(X, y)
            [histogram] = histograms_of_estimators(
                fitted, query_X, query_y, database, affinity, n_jobs, measure.needs_codes
            ).values()
            return mean_value(histogram.measure(measure, **options))

        scores = [
            [[score(model, length, seed) for seed in seeds] for length in n_bits]
            for model in models.values()
        ]
        return cls(n_bits, scores, names=list(models), label=f"mean {measure.label}")

    def plot(self, ax: Any = None, *, error: str = "std", **options: Any) -> "BitsCurveDisplay":
        """Draw one line for each model, at the means over seeds.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            None: a new figure.
        error : {"std", "range"}, default="std"
            What the bars span: a standard deviation either way, or all seeds.
        **options : dict
            Options of the lines, for :meth:`matplotlib.axes.Axes.errorbar`.

        Returns
        -------
        display : BitsCurveDisplay
            With ``ax_``, ``figure_`` and ``lines_``.
        """
        if error not in ("std", "range"):
            raise ValueError(f"error must be 'std' or 'range'. Got {error!r} instead.")
        self.ax_ = new_axes(self, ax)
        self.figure_ = self.ax_.figure
        self.lines_ = []
        n = len(self.scores)
        for number, scores in enumerate(self.scores):
            known = np.ma.masked_invalid(scores)
            mean, spread = known.mean(axis=1), known.std(axis=1)
            if error == "range":
                spread = np.abs(np.ma.stack([known.min(axis=1), known.max(axis=1)]) - mean)
            settings = style(number) | {
                "label": None if self.names is None else self.names[number],
                "marker": MARKERS[number % len(MARKERS)],
                "markersize": 5,
                "capsize": 3,
            }
            # Error bars must not hide one another, nor stray from their length where they are many.
            aside = 2 ** (min(0.02, 0.12 / n) * (number - (n - 1) / 2))
            mean, spread = mean.filled(np.nan), spread.filled(np.nan)
            line = self.ax_.errorbar(self.n_bits * aside, mean, spread, **settings | options)
            self.lines_.append(line)
        self.ax_.set_xscale("log", base=2)
        self.ax_.set_xticks(self.n_bits, [str(length) for length in self.n_bits])
        self.ax_.minorticks_off()
        self.ax_.set_xlabel("bits")
        if self.label is not None:
            self.ax_.set_ylabel(self.label)
        self.ax_.grid(alpha=0.3)
        legend(self.ax_, self.names)
        return self


def _by_length(codes: Any) -> dict[str | None, dict[int, Any]]:
    """Return codes by model and length; those of a single model have the name None."""
    if not isinstance(codes, Mapping) or not codes:
        raise ValueError(
            "codes must map each length to a list of codes, or names of models to such mappings. "
            f"Got {type(codes).__name__}."
        )
    if isinstance(next(iter(codes.values())), Mapping):
        return {str(name): dict(of_model) for name, of_model in codes.items()}
    return {None: dict(codes)}
