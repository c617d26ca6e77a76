"""The arguments that all metric functions share, and how a histogram and a mean follow."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._utils.types import Target
from ._configured import configure_measure
from ._counting import retrieval_histogram
from ._evaluation import mean_value
from ._histogram import RetrievalHistogram
from ._retrieval import y_and_codes


class RetrievalRun(NamedTuple):
    """The arguments of every metric function, from which a histogram is counted."""

    y_true: Target
    codes: ArrayLike
    database: tuple[Target, ArrayLike] | None
    n_bits: int | None
    affinity: Any
    n_jobs: int | None

    def histogram(self, average: bool, keep_codes: bool = False) -> RetrievalHistogram:
        """Count; without a database, every row is a query against all the others."""
        if not isinstance(average, (bool, np.bool_)):
            raise ValueError(f"average must be True or False. Got {average!r} instead.")
        exclude_self = self.database is None
        y, codes = y_and_codes((self.y_true, self.codes) if exclude_self else self.database)
        return retrieval_histogram(
            self.codes,
            codes,
            self.y_true,
            y,
            affinity=self.affinity,
            n_bits=self.n_bits,
            exclude_self=exclude_self,
            keep_codes=keep_codes,
            n_jobs=self.n_jobs,
        )

    def measure(self, name: str, average: bool, **options: Any) -> float | np.ndarray:
        """Evaluate a measure, whose options are checked before anything is counted."""
        configured = configure_measure(name, **options)
        values = self.histogram(average, configured.measure.needs_codes).measure(configured)
        return mean_value(values, stacklevel=4) if average else values
