"""The few forms of Markdown that the project's own pages use, as reStructuredText."""

import re
from pathlib import Path

UNDERLINES = "=-~"


def to_rst(markdown: str) -> str:
    """Convert headings, inline code, fenced code and emphasis; lists are the same in both."""
    lines = []
    in_code = False
    for line in markdown.splitlines():
        if line.startswith("```"):
            in_code = not in_code
            lines += ["", "::", ""] if in_code else [""]
        elif in_code:
            lines.append("   " + line)
        elif heading := re.match(r"(#+) (.*)", line):
            title = heading[2]
            lines += [title, UNDERLINES[len(heading[1]) - 1] * len(title)]
        else:
            lines.append(re.sub(r"`([^`]+)`", r"``\1``", line))
    return "\n".join(lines) + "\n"


def convert(source: Path, target: Path) -> None:
    """Write the page anew where its text has changed."""
    text = to_rst(source.read_text())
    if not target.exists() or target.read_text() != text:
        target.write_text(text)
