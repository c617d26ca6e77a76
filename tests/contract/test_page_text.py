"""Rules of docs/_ext for the text of pages: languages of blocks, and metrics that are no mails."""

import io
import re

import pytest

from tests.contract.public import DOCS, load

pytest.importorskip("docutils")
plain_text = load(DOCS / "_ext" / "plain_text.py")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (">>> 1 + 1\n2", "pycon"),
        ("hashrank fit --data a.csv \\\n    --output b.npz", "sh"),
        ("python -m pytest", "sh"),
        ("import numpy\nnumpy.zeros(3)", "python"),
        ("shards = [\n    f(x) for x in y\n]", "python"),
        ("TieRangeDisplay(x).plot()", "python"),
        ("AP_T   0.48", "text"),
        ("X --hasher--> codes", "text"),
        ("class", "text"),
    ],
)
def test_a_block_is_highlighted_as_what_it_holds(text, language):
    assert plain_text.language_of(text) == language


def test_a_metric_at_k_is_not_a_mail_address(monkeypatch):
    core = pytest.importorskip("docutils.core")
    inliner = pytest.importorskip("docutils.parsers.rst.states").Inliner
    monkeypatch.setattr(inliner, "standalone_uri", inliner.standalone_uri)

    class App:
        def connect(self, *_):
            pass

    def links(text):
        return re.findall(r'refuri="([^"]*)"', core.publish_doctree(text).pformat())

    assert links("recall@10.de") == ["mailto:recall@10.de"]
    plain_text.setup(App())
    assert links("recall@10.de and https://a.org/b") == ["https://a.org/b"]


def test_tables_are_whole():
    """A word that changes its length moves a column, which only a build of all pages would tell."""
    core = pytest.importorskip("docutils.core")
    for page in sorted(DOCS.glob("*/*.rst")):
        said = io.StringIO()
        settings = {"warning_stream": said, "report_level": 3, "halt_level": 5}
        core.publish_doctree(page.read_text("utf-8"), settings_overrides=settings)
        assert "Malformed table" not in said.getvalue(), page


HOW_TO = [
    path
    for path in sorted((DOCS / "how_to").glob("*.rst"))
    if path.stem not in ("index", "choose_a_method")
]
RULE = r"^=+(?: +=+)+$"


@pytest.mark.parametrize("path", HOW_TO, ids=lambda path: path.stem)
def test_a_guide_has_at_most_one_table_of_eight_rows(path):
    text = path.read_text("utf-8")
    rows = [
        sum(not line.startswith((" ", "=")) for line in table.splitlines() if line)
        for table in re.findall(rf"{RULE}\n(?:.+\n)+", text, re.M)
    ]
    rows += [part.count("   * - ") for part in text.split(".. list-table::")[1:]]
    assert len(rows) <= 1
    assert max(rows, default=0) <= 9  # with a heading
