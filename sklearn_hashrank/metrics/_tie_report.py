"""How much a value depends on the order of tied items."""

import warnings
from dataclasses import dataclass

import numpy as np

from ._configured import ConfiguredMeasure
from ._evaluation import evaluate
from ._measure import TieOrder
from ._tie_tables import TieTable

_ORDERS: tuple[TieOrder, ...] = ("pessimistic", "expected", "optimistic")
_ROUNDING = 1e-12  # far above the error of a value, far below what a tie can move
_WORTH_A_WARNING = 0.01  # of a mean: what papers print


class TieWarning(UserWarning):
    """A value that names of items decide: another order of tied items gives another one.

    Parameters
    ----------
    message : str
        What moves the mean, and how far.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import TieWarning
    >>> issubclass(TieWarning, UserWarning)
    True
    """

    def __init__(self, message: str):
        super().__init__(message)


@dataclass(frozen=True)
class TieReport:
    """How much the order of tied items matters to a measure.

    Parameters
    ----------
    share : float
        Share of the queries whose value depends on it, of those that have a value.
    pessimistic : float
        Mean over the queries with the worst order.
    expected : float
        Mean over the queries and all orders.
    optimistic : float
        Mean over the queries with the best order.

    Examples
    --------
    >>> from sklearn_hashrank import RetrievalHistogram
    >>> RetrievalHistogram.from_scores([[1, 0, 0]], [[0.5, 0.5, 0.1]]).tie_report("rr")
    TieReport(share=1.0, pessimistic=0.5, expected=0.75, optimistic=1.0)
    """

    share: float
    pessimistic: float
    expected: float
    optimistic: float


def report_ties(configured: ConfiguredMeasure, table: TieTable) -> TieReport:
    """Evaluate a measure with the worst order, all and the best; its own `ties` do not matter."""
    low, mean, high = (evaluate(configured.with_ties(ties), table) for ties in _ORDERS)
    defined = ~np.isnan(mean)
    if not defined.any():
        return TieReport(np.nan, np.nan, np.nan, np.nan)
    low, mean, high = low[defined], mean[defined], high[defined]
    share = float(np.mean(high - low > _ROUNDING))
    return TieReport(share, float(low.mean()), float(mean.mean()), float(high.mean()))


def warn_of_ties(configured: ConfiguredMeasure, table: TieTable, stacklevel: int) -> None:
    """Warn where the names of tied items, in whose order it is evaluated, move the mean."""
    report = report_ties(configured, table)
    if report.optimistic - report.pessimistic > _WORTH_A_WARNING:
        warnings.warn(
            f"The names of tied items decide the {configured.measure.label} of "
            f"{report.share:.1%} of the queries: with other names, the mean may lie anywhere from "
            f"{report.pessimistic:.4f} to {report.optimistic:.4f}. Its mean over all orders, "
            f"ties='expected', is {report.expected:.4f}.",
            TieWarning,
            stacklevel=stacklevel,
        )
