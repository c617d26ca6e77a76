"""Two rules for the text of pages, as a Sphinx extension.

`recall@10` is the name of a metric, not a mail address. A literal block without a language is
highlighted as what it holds: a session, shell commands, Python or plain text.
"""

import ast
import re

from docutils import nodes
from docutils.parsers.rst.states import Inliner

COMMANDS = re.compile(
    r"\s*(\$ |#|(hashrank|pip|python3?|git|make|cd|curl|embedding-atlas|npm)\b|[A-Z_]+=\S+ )"
)


def language_of(text: str) -> str:
    """Guess the language of a block: Python only if it parses, shell by the first line."""
    if text.startswith((">>>", "... ")):
        return "pycon"
    if COMMANDS.match(text):
        return "sh"
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return "text"
    statements = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)
    calls = [each for each in tree.body if isinstance(getattr(each, "value", None), ast.Call)]
    return "python" if calls or any(isinstance(each, statements) for each in tree.body) else "text"


def name_languages(app, doctree):
    """Give each literal block that names no language the one that its text has."""
    for block in doctree.findall(nodes.literal_block):
        if "language" not in block and block.rawsource == block.astext():
            block["language"] = language_of(block.astext())


def setup(app):
    """Register both rules."""
    standalone_uri = Inliner.standalone_uri

    def only_with_scheme(self, match, lineno):
        if match.group("scheme"):
            return standalone_uri(self, match, lineno)
        return [nodes.Text(match.group(0))]

    Inliner.standalone_uri = only_with_scheme
    app.connect("doctree-read", name_languages)
    return {"parallel_read_safe": True}
