"""The few forms of Markdown that the project's own pages use, as reStructuredText."""

import re
from pathlib import Path

UNDERLINES = "=-~^"


def to_rst(markdown: str) -> str:
    """Convert headings, code, emphasis, tables and links to pages; lists are the same in both."""
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
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not lines[-1].startswith("   "):
                lines += [".. csv-table::", "   :header-rows: 1", ""]
            if set("".join(cells)) != set("-:"):
                lines.append("   " + ", ".join(f'"{_inline(cell)}"' for cell in cells))
        else:
            lines.append(_inline(line))
    return "\n".join(lines) + "\n"


def _inline(text: str) -> str:
    text = re.sub(r"`([^`]+)`", r"``\1``", text)
    return re.sub(r"\[([^\]]+)\]\(docs/([\w/]+)\.rst\)", r":doc:`\1 </\2>`", text)


def convert(source: Path, target: Path) -> None:
    """Write the page anew where its text has changed."""
    text = to_rst(source.read_text())
    if not target.exists() or target.read_text() != text:
        target.write_text(text)
