"""Pages of one file: their script is one script, and nothing that they hold is markup."""

import base64
import hashlib
import json
import re
import zlib

import numpy as np
import pytest

from sklearn_hashrank.explore._html_page import (
    encode_array,
    escape,
    html_page,
    read_script,
    read_style,
)
from tests.contract.public import PACKAGE
from tests.hostile import HOSTILE

SCRIPTS = ("comparison/report.js", "explore/main.js")
MODULES = sorted(PACKAGE.rglob("*.js"))


def digest(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@pytest.mark.parametrize("name", SCRIPTS)
def test_modules_are_joined_imports_first(name):
    script = read_script(name)
    assert "import" not in re.findall(r"^(\w+)", script, re.M)
    assert "export" not in re.findall(r"^(\w+)", script, re.M)
    declared = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", script, re.M)
    assert "element" in declared
    assert len(declared) == len(set(declared)), "names at the top of joined modules differ"
    assert script.index("function element(") < script.index(" element(")


def test_every_module_is_in_a_page():
    joined = "".join(map(read_script, SCRIPTS))
    for path in MODULES:
        last = re.findall(
            r"^export (?:async )?(?:function|const|class) (\w+)", path.read_text(), re.M
        )
        assert all(re.search(rf"^(?:async )?\w+ {name}\b", joined, re.M) for name in last), path


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_modules_parse_no_text_and_load_nothing(path):
    source = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    for unsafe in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert unsafe not in source
    for loads in ("fetch(", "XMLHttpRequest", "WebSocket", "import(", "localStorage"):
        assert loads not in source
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", source)


def page_of(**given):
    return html_page(**{"title": "t", "body": "<p>b</p>", "style": "\n", "script": "\n", **given})


def test_the_policy_names_the_style_and_the_script_only():
    style, script = read_style("explore/page.css"), read_script("comparison/report.js")
    page = page_of(style=style, script=script)
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.split("; ") == [
        "default-src 'none'",
        "img-src 'none'",
        f"style-src 'sha256-{digest(style)}'",
        f"script-src 'sha256-{digest(script)}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert page.count(f"<style>{style}</style>") == 1
    assert page.count(f'<script type="module">{script}</script>') == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_data_come_back_as_they_were(text):
    page = page_of(data={"text": text, text: [text]})
    [block] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert "<" not in block
    assert json.loads(block) == {"text": text, text: [text]}
    assert page.count("<script") == 2
    assert page.count("<!--") == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_a_title_is_text(text):
    page = page_of(title=text)
    [title] = re.findall("<title>(.*?)</title>", page)
    assert not set(title) & set("<>\"'")
    assert title == escape(text)
    page.encode()


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "float32", "float64"])
def test_arrays_keep_their_bytes(dtype):
    for values in (np.zeros(1000), np.random.default_rng(0).integers(0, 200, 1000)):
        encoded = encode_array(values.astype(dtype))
        data = base64.b64decode(encoded["base64"])
        data = zlib.decompress(data) if encoded["deflated"] else data
        np.testing.assert_array_equal(np.frombuffer(data, f"<{np.dtype(dtype).str[1:]}"), values)
        assert encoded["type"] == dtype
    assert encode_array(np.zeros(1000))["deflated"]
    assert not encode_array(np.frombuffer(np.random.default_rng(0).bytes(999), "u1"))["deflated"]


def test_a_big_endian_array_is_turned():
    encoded = encode_array(np.array([1, 2], ">u4"))
    assert base64.b64decode(encoded["base64"]) == b"\1\0\0\0\2\0\0\0"
