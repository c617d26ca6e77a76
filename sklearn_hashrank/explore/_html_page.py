"""Put a page together from text, style sheets, scripts and data."""

import base64
import hashlib
import html
import json
import posixpath
import re
import zlib
from importlib.resources import files
from typing import Any

import numpy as np

from .._utils.text import plain

_PACKAGE = "sklearn_hashrank"
_IMPORT = re.compile(r'^import \{[^}]*\} from "(\.{1,2}/[\w./]+\.js)";\n', re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.M)
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
{data}<script type="module">{script}</script>
</body>
</html>
"""


def escape(value: object) -> str:
    """Plain text as HTML, also between quotes."""
    return html.escape(plain(str(value)))


def read_style(*names: str) -> str:
    """Join style sheets of the package, given as paths such as ``"explore/page.css"``."""
    return "\n" + "".join(_read(name) for name in names)


def read_script(name: str) -> str:
    """Join a module of JavaScript and what it imports, so that a page can hold it as one script.

    Imports stand at the top of a file, one statement a line, and name files beside it. Names at
    the top of the joined files must differ; a browser refuses the script otherwise.
    """
    parts: dict[str, str] = {}

    def add(path: str) -> None:
        if path in parts:
            return
        source = _read(path)
        parts[path] = ""  # also ends a circle
        for imported in _IMPORT.findall(source):
            add(posixpath.normpath(posixpath.join(posixpath.dirname(path), imported)))
        del parts[path]
        parts[path] = _EXPORT.sub("", _IMPORT.sub("", source))

    add(name)
    return "\n" + "\n".join(parts.values())


def html_page(
    *, title: str, body: str, style: str, script: str, data: Any = None, images: str = "'none'"
) -> str:
    """Return a page that loads nothing and runs no other script than its own.

    Parameters
    ----------
    title : str
        Plain text.
    body : str
        HTML, in which all other people's text is escaped.
    style, script : str
        What :func:`read_style` and :func:`read_script` return.
    data : object, default=None
        What the script finds in the element ``data``, as JSON.
    images : str, default="'none'"
        Where pictures may come from, as a policy names it.

    Returns
    -------
    page : str
    """
    policy = (
        f"default-src 'none'; img-src {images}; style-src {_digest(style)}; "
        f"script-src {_digest(script)}; base-uri 'none'; form-action 'none'"
    )
    block = ""
    if data is not None:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        text = text.replace("<", r"\u003c")  # so that no character ends or opens an element
        block = f'<script type="application/json" id="data">{text}</script>\n'
    return _PAGE.format(
        policy=policy, title=escape(title), style=style, body=body, data=block, script=script
    )


def encode_array(array: np.ndarray) -> dict[str, Any]:
    """Describe an array of numbers for a page: base64 of its bytes, deflated where that is less."""
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    given = array.tobytes()
    deflated = zlib.compress(given, 6)
    is_less = len(deflated) < 0.9 * len(given)
    return {
        "type": array.dtype.name,
        "deflated": is_less,
        "base64": base64.b64encode(deflated if is_less else given).decode(),
    }


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return files(_PACKAGE).joinpath(*name.split("/")).read_text("utf-8")
