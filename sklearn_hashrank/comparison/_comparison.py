"""What :func:`compare` returns."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._files.atomic import write_file
from .._utils.parameters import as_names
from ._best import LEVEL, Best, method_to_take
from ._columns import OF_QUERIES, Column
from ._explore_page import ExplorePage
from ._figures import Figure, draw_figures
from ._method_table import in_groups
from ._result_tables import Notation, Table, summarize, to_csv, to_latex, to_markdown
from ._runner import RunResult

WRITTEN_FILES = {
    "report": "report.html",
    "csv": "runs.csv",
    "markdown": "tables.md",
    "latex": "tables.tex",
    "explore": "explore.html",
}
"""Names of the files that :meth:`Comparison.write` writes."""

FIGURES = "figures"
"""Name of the folder that it writes figures into."""


@dataclass(frozen=True)
class Comparison:
    """Results of :func:`compare`, and a description of what was compared.

    Parameters
    ----------
    results : list of RunResult
        One for each seed, code length and method, in this order. A result has the attributes
        `method`, `n_bits` and `seed`; `scores`, a dict of every measure, its bounds over tie
        orders, times and sizes, empty if the run failed; `curves`, of the figures; `warnings`, a
        list of str; `machine`, where times were measured; `error`, empty if the run did not fail;
        and `from_store`, whether it was read from an earlier comparison.
    about : dict
        What was compared, on what, how and by which versions, for people to read.
    columns : tuple of Column
        The scores that tables show.
    chance : list of RunResult
        What constant codes score, for each seed and code length: the last row of every table.
    hashers : dict of str to estimator
        The methods that were compared, not fitted, by name.
    explore_page : object, default=None
        The two best methods, fitted, and the rows of the page that shows what they retrieve.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.comparison import compare
    >>> from sklearn_hashrank.model_selection import RandomRetrievalSplit
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> protocol = RandomRetrievalSplit(n_queries=10)
    >>> comparison = compare(X, methods=["lsh"], n_bits=[8, 16], seeds=1, protocol=protocol)
    >>> print(comparison.to_csv().splitlines()[0][:46])
    method,n_bits,seed,ap,ap_pessimistic,ap_optimi
    >>> len(comparison.results), comparison.failures
    (2, [])
    >>> comparison.best().method
    'lsh'
    """

    results: list[RunResult]
    about: dict[str, Any]
    columns: tuple[Column, ...]
    chance: list[RunResult] = field(default_factory=list)
    hashers: dict[str, Any] = field(default_factory=dict)
    explore_page: ExplorePage | None = None

    @property
    def failures(self) -> list[RunResult]:
        """The runs whose method raised an error."""
        return [result for result in self.results if result.error]

    def best(self, measure: str | None = None, n_bits: int | None = None) -> Best:
        """Return the method to take, and why.

        It is the method with the highest mean over the seeds. If that method is not one of
        half-spaces and chance may explain its difference to one that is, by paired tests over the
        queries, the latter is taken, because it encodes with one matrix product.

        Parameters
        ----------
        measure : str, default=None
            Name of the measure that decides. None: the first that was measured.
        n_bits : int, default=None
            Code length. None: the longest.

        Returns
        -------
        best : tuple of (method, reason)
            The name of the method, and a sentence.
        """
        measured = [
            column
            for column in self.columns
            if any(column.name in r.curves.get(OF_QUERIES, {}) for r in self.results)
        ]
        names = [column.name for column in measured]
        if not names:
            raise ValueError("no run succeeded, so there is no best method.")
        if measure is not None and measure not in names:
            raise ValueError(f"measure must be one of {', '.join(names)}. Got {measure!r}.")
        longest = max(result.n_bits for result in self.results if result.scores)
        column = measured[0 if measure is None else names.index(measure)]
        return method_to_take(self.results, self.hashers, column, n_bits or longest)

    def tables(self, names: str | Iterable[str] | None = None) -> list[Table]:
        """Means and standard deviations over seeds.

        Parameters
        ----------
        names : str or iterable of str, default=None
            Scores such as ``"ap"`` that are wanted; None: all that have a table.

        Returns
        -------
        tables : list of Table
            One for each score, methods by code lengths.
        """
        tables = summarize(self.results, self.columns, self.about["groups"], self.chance)
        if names is None:
            return tables
        wanted = set(as_names(names, "names"))
        known = [column.name for column in self.columns]
        for name in wanted - set(known):
            raise ValueError(f"names must be among {', '.join(known)}. Got {name!r}.")
        return [table for table in tables if table.column.name in wanted]

    def to_csv(self) -> str:
        """Text of a CSV file with one row for each run.

        Returns
        -------
        text : str
            Every score of every run, in full precision.
        """
        return to_csv(self.results)

    def to_markdown(
        self,
        names: str | Iterable[str] | None = None,
        *,
        decimals: int | None = None,
        ranges: bool = True,
    ) -> str:
        """Tables as Markdown.

        Parameters
        ----------
        names : str or iterable of str, default=None
            Scores that are wanted; None: all that have a table.
        decimals : int, default=None
            Decimal places of shares. None: as many as show the spread, three to five.
        ranges : bool, default=True
            Whether cells show the worst and the best order of ties.

        Returns
        -------
        text : str
            A heading and a pipe table for each score.
        """
        return to_markdown(self.tables(names), Notation(decimals, ranges))

    def to_latex(
        self,
        names: str | Iterable[str] | None = None,
        *,
        combined: bool = False,
        decimals: int | None = None,
        ranges: bool = True,
        caption: str = "",
    ) -> str:
        """Tables as LaTeX, for the package booktabs.

        Parameters
        ----------
        names : str or iterable of str, default=None
            Scores that are wanted; None: all that have a table, without times where `combined`.
        combined : bool, default=False
            Whether one table has all scores side by side.
        decimals : int, default=None
            Decimal places of shares. None: as many as show the spread, three to five.
        ranges : bool, default=True
            Whether cells show the worst and the best order of ties.
        caption : str, default=""
            Caption of every table. Empty: one that says which protocol, seeds and test the numbers
            come from.

        Returns
        -------
        text : str
            A ``table`` environment for each score, or one for all. Labels are ``tab:`` and the name
            of the score, or ``tab:comparison`` of one for all.
        """
        tables = self.tables(names)
        if combined and names is None:
            tables = [table for table in tables if not table.column.is_time] or tables
        return to_latex(tables, Notation(decimals, ranges), self._note(), combined, caption)

    def _note(self) -> str:
        """What the caption of a paper says of protocol, seeds and test."""
        about, seeds = self.about, len(self.about["seeds"])
        texts = [
            f"Data: {about['data']['name']}; {about['protocol']['sizes']}",
            f"{seeds} seed{'s' * (seeds != 1)}",
        ]
        if self.chance:
            texts.append("chance: constant codes")
        if seeds > 1:
            texts.append(
                "bold: ahead of every other method by paired t-tests over queries and over seeds, "
                f"p <= {LEVEL} after Holm's correction"
            )
        return "; ".join(texts) + "."

    def to_html(self) -> str:
        """Make the report: one page, which loads no other file.

        Returns
        -------
        page : str
            HTML with its style sheet, its script and all pictures inside.
        """
        from ._report import to_html

        return to_html(self, self.figures())

    def figures(self) -> list[Figure]:
        """Draw the figures of the report.

        Returns
        -------
        figures : list of Figure
            Empty without matplotlib. Each has a `name`, a `caption` and the `canvas`, a matplotlib
            figure.
        """
        groups = in_groups(self.about["methods"], self.about["groups"])
        return draw_figures(self.results, self.columns, groups, self.chance)

    def write(
        self,
        folder: str | Path,
        *,
        combined: bool = False,
        decimals: int | None = None,
        ranges: bool = True,
        caption: str = "",
    ) -> dict[str, Path]:
        """Write the report, the tables and the figures into a folder.

        Parameters
        ----------
        folder : str or Path
            The folder, which is made where it does not exist.
        combined : bool, default=False
            Whether one table has all scores side by side.
        decimals : int, default=None
            Decimal places of shares. None: as many as show the spread, three to five.
        ranges : bool, default=True
            Whether cells show the worst and the best order of ties.
        caption : str, default=""
            Caption of the LaTeX tables, as for :meth:`to_latex`.

        Returns
        -------
        paths : dict of str to Path
            Paths of the files ``"report"``, ``"csv"``, ``"markdown"`` and ``"latex"``, of a folder
            ``"figures"``, which has each figure as PDF and as SVG where matplotlib is installed,
            and after ``compare(explore=...)`` of ``"explore"``.
        """
        from ._report import to_html

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        figures = self.figures()
        paths = {kind: folder / name for kind, name in WRITTEN_FILES.items()}
        texts = {
            "report": to_html(self, figures),
            "csv": self.to_csv(),
            "markdown": self.to_markdown(decimals=decimals, ranges=ranges),
            "latex": self.to_latex(
                combined=combined, decimals=decimals, ranges=ranges, caption=caption
            ),
        }
        for kind, text in texts.items():
            with write_file(paths[kind], "w", encoding="utf-8") as file:
                file.write(text)
        if figures:
            paths["figures"] = folder / FIGURES
            paths["figures"].mkdir(exist_ok=True)
        for figure in figures:
            for kind in ("pdf", "svg"):
                with write_file(paths["figures"] / f"{figure.name}.{kind}", "wb") as file:
                    file.write(figure.saved_as(kind))
        if self.explore_page is None:
            del paths["explore"]
        else:
            self.explore_page.write(paths["explore"])
        return paths
