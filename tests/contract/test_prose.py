"""Documentation, docstrings, comments and messages use the words of docs/glossary.rst."""

import io
import re
import tokenize

import pytest

from tests.contract.public import DOCS, MADE_BY_SPHINX, PACKAGE, ROOT

# What is not said, as a regular expression, and what is said instead.
SAY_INSTEAD = {
    r"uphill|climb(s|ed|ing)?": "gradient ascent, or rises",
    r"couples?": "two, or two neighbouring bins",
    r"(?<!-)(draws?|drew|drawn)": "sampled, or a verb such as Controls",
    r"quiet(er|est)? (features?|directions?|columns?|ones?)": "low-variance",
    r"yardsticks?": "baseline",
    r"the one door": "what is turned into what",
    r"a hasher is none": "Hashers are not classifiers",
    r"itself is subtracted|whole or refused|formats of others": "the name of the task",
}
PATTERNS = {
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE): say for words, say in SAY_INSTEAD.items()
}

# A picture is drawn: in these files, and in lines that speak of one.
DRAW = re.compile(r"\b(draws?|drew|drawn)\b", re.IGNORECASE)
PICTURE = re.compile(r"figure|picture|display|plot|matplotlib", re.IGNORECASE)
FILES_OF_PICTURES = ("displays", "figures", "report")

SOURCES = sorted(PACKAGE.rglob("*.py"))
PAGES = [
    *(path for path in sorted(DOCS.rglob("*.rst")) if MADE_BY_SPHINX.isdisjoint(path.parts)),
    *(ROOT / name for name in ("README.md", "CHANGELOG.md")),
]


def prose(path):
    """Yield numbered lines: of a page all of them, of a module its comments and strings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if "STRING" in (name := tokenize.tok_name[token.type]) or name == "COMMENT":
            yield from enumerate(token.string.splitlines(), token.start[0])


def misuses(path):
    """Yield each place where a word of the table stands, with what to say instead."""
    of_pictures = any(word in "/".join(path.parts[-2:]) for word in FILES_OF_PICTURES)
    for number, line in prose(path):
        if of_pictures or PICTURE.search(line):
            line = DRAW.sub("", line)
        for pattern, say in PATTERNS.items():
            if found := pattern.search(line):
                yield f"{path.name}:{number}: not {found[0]!r} but {say}"


def test_words_are_those_of_the_glossary():
    assert len(SOURCES) > 200
    assert len(PAGES) > 30
    assert not [found for path in (*SOURCES, *PAGES) for found in misuses(path)]


@pytest.mark.parametrize(
    ("text", "n_found"),
    [
        ("# Rows are drawn at random", 1),
        ("# The display is drawn by matplotlib", 0),
        ("climb = 1", 0),
        ('"""Steps\nuphill, Drawn for couples."""', 3),
    ],
)
def test_a_misused_word_is_found_in_comments_and_strings(tmp_path, text, n_found):
    path = tmp_path / "module.py"
    path.write_text(text)
    assert len(list(misuses(path))) == n_found


def test_the_glossary_defines_the_words_of_the_table():
    terms = re.findall(r"^   (\S.*)\n      \S", (DOCS / "glossary.rst").read_text(), re.MULTILINE)
    assert len(terms) == len(set(terms)) >= 20
    assert {"sampled", "gradient ascent", "neighbouring bins", "low-variance directions"} <= {
        *terms
    }
