"""The report: self-contained, and with the numbers of the CSV file."""

import base64
import csv
import hashlib
import io
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from sklearn_hashrank.comparison import Comparison, compare
from sklearn_hashrank.comparison._figures import draw_against_lengths, draw_figures
from sklearn_hashrank.comparison._report import SHADES
from sklearn_hashrank.comparison._runner import RunResult
from sklearn_hashrank.metrics import tie_aware_average_precision_score
from sklearn_hashrank.model_selection import PerClassRetrievalSplit, RandomRetrievalSplit
from tests.comparison.conftest import PROTOCOL

VOID = {"meta", "img", "br"}


class Page(HTMLParser):
    """Attributes of all elements, and the tables by name."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.tables, self.open, self.scripts = [], {}, [], []
        self.feed(text)
        assert not self.open, "every element is closed"

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.rows = self.tables[attributes["data-name"]] = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append((attributes, []))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1][1].append(data)

    def cells(self, table):
        """Attributes and text of each cell by method, without the header."""
        return {
            "".join(row[0][1]): [(attributes, "".join(text)) for attributes, text in row[1:]]
            for row in self.tables[table][1:]
            if len(row) > 1  # headings of groups have one cell
        }


@pytest.fixture(scope="module")
def text(comparison):
    pytest.importorskip("matplotlib")
    return comparison.to_html()


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


@pytest.fixture
def no_matplotlib(monkeypatch):
    for name in ("matplotlib", "matplotlib.style"):
        monkeypatch.setitem(sys.modules, name, None)


def test_nothing_comes_from_elsewhere(page, text):
    for tag, attributes in page.elements:
        assert tag not in ("link", "iframe", "object")
        for name in ("src", "href", "srcset", "poster", "data"):
            assert attributes.get(name, "data:").startswith("data:")
    styles = re.search("<style>(.*?)</style>", text, re.S).group(1)
    assert "url(" not in styles
    assert "@import" not in styles
    assert "http:" not in text
    assert "https:" not in text


def test_the_style_sheet_has_a_rule_for_each_shade(text):
    styles = re.search("<style>(.*?)</style>", text, re.S).group(1)
    shades = [int(n) for n in re.findall(r"^td\.s(\d+) ", styles, re.M)]
    assert shades == list(range(1, SHADES))


def test_a_browser_runs_the_script_that_sorts_and_no_other(page):
    [script] = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    [policy] = [a["content"] for _, a in page.elements if a.get("http-equiv")]
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    scripts = [attributes for tag, attributes in page.elements if tag == "script"]
    assert scripts == [{"type": "module"}]
    assert not any("style" in attributes for _, attributes in page.elements)
    assert "innerHTML" not in script


@pytest.fixture(scope="module")
def many(digits):
    """More methods than one table without headings, or one pair of axes, can show."""
    names = [*(f"itq:max_iter={n}" for n in range(2, 11)), "lsh", "sign"]
    return compare(*digits, methods=names, n_bits=[4, 8], seeds=1, protocol=PROTOCOL)


def test_many_methods_stand_in_groups(many, no_matplotlib):
    assert set(many.about["groups"].values()) == {"independent", "unsupervised"}
    page = Page(many.to_html())
    rows = page.tables["ap"]
    headings = ["".join(row[0][1]) for row in rows if len(row) == 1]
    assert headings == ["independent", "unsupervised"]
    assert ["".join(row[0][1]) for row in rows[1:3]] == ["independent", "lsh"]
    assert ["".join(row[0][1]) for row in rows[-2:]] == ["itq:max_iter=10", "chance"]
    assert any(name == "ul" and a.get("class") == "groups" for name, a in page.elements)


def test_the_darkest_cell_of_a_column_is_the_best(many, no_matplotlib):
    page = Page(many.to_html())
    for name, best in {"ap": max, "fit_seconds": min}.items():
        cells = {m: found for m, found in page.cells(name).items() if m != "chance"}
        column = [found[0][0] for found in cells.values()]
        means = [float(cell["data-mean"]) for cell in column]
        shade = column[means.index(best(means))]["class"].split()[-1]
        assert shade == f"s{SHADES - 1}"
        assert all(int(c["class"].split()[-1][1:]) < SHADES for c in column if c["class"])


def test_many_methods_have_a_figure_for_each_group(many):
    pytest.importorskip("matplotlib")
    groups = {"first": ["itq:max_iter=2"], "second": [r.method for r in many.results[1:11]]}
    alone = draw_figures(many.results, many.columns, {}, [])
    in_groups = draw_figures(many.results, many.columns, groups, many.chance)
    assert len(alone) == 2 + 4 * 2
    assert len(in_groups) == 2 * 2 + (1 + 2 * 3) * 2
    assert len({figure.name for figure in in_groups}) == len(in_groups)
    limits = [
        figure.canvas.axes[0].get_ylim()
        for figure in in_groups
        if figure.name in ("ap_by_bits_first", "ap_by_bits_second")
    ]
    assert limits[0] == limits[1]
    [line] = [line for line in in_groups[0].canvas.axes[0].lines if line.get_label() == "chance"]
    assert line.get_ydata() == pytest.approx([r.scores["ap"] for r in many.chance])


def test_axes_of_precision_end_where_curves_do(comparison):
    pytest.importorskip("matplotlib")
    figures = draw_figures(comparison.results, comparison.columns, {}, comparison.chance)
    [figure] = [f for f in figures if f.name == "precision_recall_8_bits"]
    low, high = figure.canvas.axes[0].get_ylim()
    values = np.concatenate([line.get_ydata() for line in figure.canvas.axes[0].lines])
    assert 0 < values.min() - low < 0.05 * (high - low)
    assert 0 < high - values.max() < 0.05 * (high - low)


def test_lines_against_lengths_span_the_seeds_that_have_a_score():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = figure.subplots()
    scores = [[0.1, 0.3, np.nan], [np.nan] * 3]
    draw_against_lengths(ax, [4, 16], {f"${number}": scores for number in range(15)})
    lines = [[line.get_xdata(), line.get_ydata()] for line, *_ in ax.containers]
    places, means = np.moveaxis(np.array(lines), 1, 0)
    assert len(np.unique(places)) == places.size
    np.testing.assert_allclose(places, [[4, 16]] * 15, rtol=0.05)
    np.testing.assert_allclose(means, [[0.2, np.nan]] * 15)
    bars = ax.containers[0][2][0].get_segments()
    np.testing.assert_allclose(bars[0][:, 1], [0.1, 0.3])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["4", "16"]
    assert ax.get_legend_handles_labels()[1][0] == "$0"


def test_groups_in_markdown_and_latex(many, comparison):
    lines = many.to_markdown(["ap"]).splitlines()
    headings = [line.split("|")[1].strip() for line in lines if line.startswith("| *")]
    assert headings == ["*independent*", "*unsupervised*"]
    latex = many.to_latex(["ap"])
    assert r"\multicolumn{3}{l}{\emph{unsupervised}} \\" in latex
    assert "multicolumn" not in comparison.to_latex(["ap"])


def test_numbers_are_those_of_the_csv(page, comparison):
    rows = list(csv.DictReader(io.StringIO(comparison.to_csv())))
    for name in ("ap", "ndcg", "ph2", "acg", "mlgap", "fit_seconds", "encode_microseconds"):
        for method, cells in page.cells(name).items():
            if method == "chance":
                continue
            for n_bits, (attributes, text) in zip((8, 12), cells, strict=True):
                runs = [r for r in rows if (r["method"], r["n_bits"]) == (method, str(n_bits))]
                values = {key: [float(run[key]) for run in runs] for key in _keys(name)}
                assert float(attributes["data-mean"]) == np.mean(values[name])
                assert float(attributes["data-deviation"]) == np.std(values[name], ddof=1)
                if name in ("ap", "ndcg"):
                    assert float(attributes["data-low"]) == np.mean(values[f"{name}_pessimistic"])
                    assert float(attributes["data-high"]) == np.mean(values[f"{name}_optimistic"])
                    shown = re.findall(r"\.\d{3}", text)
                    assert float(shown[0]) == pytest.approx(np.mean(values[name]), abs=5.1e-4)
                    assert float(shown[2]) <= float(shown[0]) <= float(shown[3])


def _keys(name):
    return [name, f"{name}_pessimistic", f"{name}_optimistic"] if name in ("ap", "ndcg") else [name]


def test_all_runs_are_listed_in_full(page, comparison):
    header, *rows = csv.reader(io.StringIO(comparison.to_csv()))
    listed = [["".join(text) for _, text in row] for row in page.tables["runs"]]
    assert listed[0] == header[:-1]
    assert listed[1:] == [row[:-1] for row in rows]


def test_it_says_how_it_was_made(page, text):
    for said in (
        "PerClassRetrievalSplit(n_queries=5, n_train=30, n_splits=1, random_state=seed)",
        "50 queries, 1,747 database rows, 300 training rows",
        "ITQHasher(max_iter=5)",
        "digits &lt;&amp;&gt;",
        "<pre>hashrank compare</pre>",
        "scikit-learn",
        "Holm",
    ):
        assert said in text
    pictures = [attributes for tag, attributes in page.elements if tag == "img"]
    assert len(pictures) == 2 + 2 * 4
    for attributes in pictures:
        kind, _, data = attributes["src"].partition(",")
        assert kind == "data:image/svg+xml;base64"
        assert base64.b64decode(data).startswith(b"<?xml")
        assert attributes["alt"]
    assert not any("style" in attributes for _, attributes in page.elements)  # browsers drop them
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert "`" not in re.sub("<script.*?</script>", "", text, flags=re.DOTALL)
    assert "AP_T" not in re.sub(r'alt="[^"]*"', "", text)


def test_the_last_row_is_chance(page, comparison, digits):
    X, y = digits
    for name in ("ap", "ndcg", "ph2", "acg", "mlgap"):
        *_, last = page.cells(name)
        assert last == "chance"
        values = [r.scores[name] for r in comparison.chance if r.n_bits == 8]
        assert float(page.cells(name)["chance"][0][0]["data-mean"]) == np.mean(values)
    assert "chance" not in page.cells("fit_seconds")
    for result in comparison.chance:
        split = PerClassRetrievalSplit(5, 30, random_state=result.seed)
        [(_, query, database)] = split.split(X, y)
        codes = np.ones((len(X), result.n_bits), dtype=np.uint8)
        expected = tie_aware_average_precision_score(
            y[query], codes[query], database=(y[database], codes[database])
        )
        assert result.scores["ap"] == pytest.approx(expected, abs=1e-12)


def test_the_same_comparison_gives_the_same_page(text, comparison):
    assert comparison.to_html() == text


def test_without_matplotlib_the_numbers_remain(comparison, no_matplotlib):
    page = Page(comparison.to_html())
    assert not any(tag == "img" for tag, _ in page.elements)
    assert len(page.cells("ap")) == 2 + 1
    assert "Figures need matplotlib" in comparison.to_html()


def test_failures_and_single_seeds_are_said(comparison, no_matplotlib):
    run = comparison.results[0]
    failed = RunResult("broken", 8, 0, error="ValueError: <no>")
    again = replace(failed, n_bits=12)
    one = Comparison([run, failed, again], comparison.about | {"seeds": [0]}, comparison.columns)
    text = one.to_html()
    assert "2 of 3 runs failed" in text
    assert "(broken, 8 bits, seed 0; broken, 12 bits, seed 0)" in text
    assert text.count("ValueError: &lt;no&gt;") == 1
    assert "single seed" in text
    assert 'class="best' not in text
    nothing = Comparison([failed], comparison.about, comparison.columns).to_html()
    Page(nothing)
    assert "matplotlib" not in nothing


def test_undefined_scores_are_no_error(digits):
    pytest.importorskip("matplotlib")
    X, y = digits[0][:200], np.arange(200)
    protocol = RandomRetrievalSplit(n_queries=10)
    with pytest.warns(UserWarning, match="no pair of rows is relevant"):
        found = compare(X, y, methods=["lsh"], n_bits=[8], seeds=2, protocol=protocol)
    page = Page(found.to_html())
    assert {text for _, text in page.cells("ap")["lsh"]} == {"\N{EN DASH}"}


def test_pictures_of_codes_tell_their_seeds(comparison):
    pytest.importorskip("matplotlib")
    results = [replace(r, error="no", scores={}) for r in comparison.results[:1]]
    drawn = draw_figures([*results, *comparison.results[1:]], comparison.columns, {}, [])
    captions = [figure.caption for figure in drawn if "items on each code" in figure.caption]
    assert [caption.rpartition(", ")[0] for caption in captions][1:] == [
        "12 bits: items on each code of the database"
    ]
    assert captions[0].endswith("database, seeds 0, 1")


def test_write(comparison, tmp_path, no_matplotlib):
    paths = comparison.write(tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        "report.html",
        "runs.csv",
        "tables.md",
        "tables.tex",
    }
    assert paths["csv"].read_text() == comparison.to_csv()
    assert paths["markdown"].read_text() == comparison.to_markdown()


def test_captions_say_protocol_seeds_and_test(comparison):
    latex = comparison.to_latex(combined=True)
    assert latex.count(r"\caption") == 1
    assert "50 queries, 1,747 database rows, 300 training rows; 2 seeds; chance: constant" in latex
    assert r"p \textless{}= 0.05 after Holm's correction" in latex
    assert "Training" not in latex
    assert comparison.to_latex().count(r"\caption") == 7


def test_figures_are_written_for_papers(comparison, tmp_path, one_picture):
    pytest.importorskip("matplotlib")
    paths = comparison.write(tmp_path)
    names = {path.name for path in paths["figures"].iterdir()}
    figures = comparison.figures()
    assert names == {f"{figure.name}.{kind}" for figure in figures for kind in ("pdf", "svg")}
    assert (paths["figures"] / "ap_by_bits.pdf").read_bytes().startswith(b"%PDF")
    before = {name: (paths["figures"] / name).read_bytes() for name in names}
    comparison.write(tmp_path)
    assert before == {name: (paths["figures"] / name).read_bytes() for name in names}


def test_nothing_that_a_result_holds_is_markup(comparison, no_matplotlib):
    """Names, scores, warnings and errors may come from anywhere, and may not even be Unicode."""
    evil = "<script>alert('1')</script>\udc80\""
    scores = {**comparison.results[0].scores, evil: evil}
    run = replace(comparison.results[0], method=evil, scores=scores, warnings=[evil])
    failed = RunResult(evil, 8, 0, error=evil, machine=evil)
    about = {**comparison.about, "methods": {evil: evil}, "command": evil, "times": evil}
    about["data"] = {"name": evil, evil: evil}
    text = Comparison([run, failed], about, comparison.columns).to_html()
    text.encode("utf-8")
    page = Page(text)
    assert sum(tag == "script" for tag, _ in page.elements) == 1  # ours
    assert "alert" not in page.scripts[0]
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert text.count("<script") == 1


def test_a_report_explains_what_was_measured_and_shows_a_figure_in_its_section(digits):
    pytest.importorskip("matplotlib")
    options = {"methods": ["lsh", "itq"], "n_bits": [4, 8], "seeds": 1, "protocol": PROTOCOL}
    text = compare(*digits, measures=["recall@10", "ph2"], **options).to_html()
    assert "AP<sub>T</sub>" not in text
    assert "NDCG" not in text
    sections = re.split("<h2>", text)
    [section] = [part for part in sections if 'data-name="recall@10"' in part]
    assert "recall@10 against code length" in section
    assert section.count("<img") == 1
    without = compare(*digits, measures="recall@10", **options).to_html()
    assert "within a radius" in text
    assert "within a radius" not in without


def test_a_report_says_that_the_objective_of_another_measure_is_higher(comparison, no_matplotlib):
    of_both = [
        replace(result, method="talr-ap" if result.method == "lsh" else "talr-ndcg")
        for result in comparison.results
    ]
    about = {**comparison.about, "methods": {"talr-ap": "", "talr-ndcg": ""}}
    text = replace(comparison, results=of_both, about=about).to_html()
    assert "has a higher AP<sub>T</sub> than <code>talr-ap</code> at 8, 12 bits" in text
    assert "than <code>talr-ndcg</code>" not in text
    assert "has a higher" not in comparison.to_html()
