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

    Examples
    --------
    >>> from sklearn_hashrank.metrics import TieWarning
    >>> issubclass(TieWarning, UserWarning)
    True
    """


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
    bias : float or None
        Mean with the order that names of items give (``ties="docid"``), less `expected`: what one
        given order adds to the score. None: the items have no names.

    Examples
    --------
    >>> from sklearn_hashrank import RetrievalHistogram
    >>> RetrievalHistogram.from_scores([[1, 0, 0]], [[0.5, 0.5, 0.1]]).tie_report("rr")
    TieReport(share=1.0, pessimistic=0.5, expected=0.75, optimistic=1.0, bias=None)
    """

    share: float
    pessimistic: float
    expected: float
    optimistic: float
    bias: float | None = None


def report_ties(configured: ConfiguredMeasure, table: TieTable) -> TieReport:
    """Evaluate a measure with the worst order, all and the best; its own `ties` do not matter."""
    values = {ties: evaluate(configured.with_ties(ties), table) for ties in _ORDERS}
    if table.by_id is not None:
        values["docid"] = evaluate(configured.with_ties("docid"), table)
    defined = ~np.isnan(values["expected"])
    if not defined.any():
        return TieReport(np.nan, np.nan, np.nan, np.nan)
    means = {ties: float(of_queries[defined].mean()) for ties, of_queries in values.items()}
    ranges = (values["optimistic"] - values["pessimistic"])[defined]
    return TieReport(
        share=float(np.mean(ranges > _ROUNDING)),
        pessimistic=means["pessimistic"],
        expected=means["expected"],
        optimistic=means["optimistic"],
        bias=means["docid"] - means["expected"] if "docid" in means else None,
    )


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
