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
