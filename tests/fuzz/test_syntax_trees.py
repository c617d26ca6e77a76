"""No file that a user names can run code: the package has nothing that would."""

import ast
from pathlib import Path

import pytest

import sklearn_hashrank

PACKAGE = Path(sklearn_hashrank.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

MODULES_THAT_RUN_CODE = {
    *("pickle", "_pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle"),
    *("pickletools", "yaml", "runpy", "code", "imp", "copyreg"),
}
FUNCTIONS_THAT_RUN_CODE = {"eval", "exec", "compile", "__import__"}
METHODS_THAT_RUN_CODE = {
    *("import_module", "read_pickle", "load_module", "exec_module", "Unpickler"),
}
LOADERS = {("joblib", "load"), ("torch", "load"), ("os", "system"), ("os", "popen")}
HARMLESS = {("pickle", "PicklingError"), ("pickle", "Pickler")}  # a Pickler reads no file
KNOWN = {
    # Of tensors alone: weights_only=True, which a test of its own looks at.
    "_files/tensors.py": ["load"],
    # The module that a user names on the command line, as python -m does. No file names one.
    "cli/_arguments.py": ["import_module"],
}
"""What runs code all the same, and why no file decides which."""


def findings(source):
    """What a module has that could run code out of a file: names, in order."""
    tree = ast.parse(source)
    names = {}  # what a local name stands for
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    imported_for = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            imported_for.setdefault(names.get(node.value.id), set()).add(node.attr)
    for name in names.values():
        top = name.split(".")[0]
        if top in MODULES_THAT_RUN_CODE:
            used = imported_for.get(name, {None}) if "." not in name else {name.split(".")[1]}
            if any((top, attribute) not in HARMLESS for attribute in used):
                yield top
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in FUNCTIONS_THAT_RUN_CODE:
            yield node.id
        if isinstance(node, ast.Attribute):
            owner = names.get(node.value.id, "") if isinstance(node.value, ast.Name) else ""
            if node.attr in METHODS_THAT_RUN_CODE or (owner.split(".")[0], node.attr) in LOADERS:
                yield node.attr
        if isinstance(node, ast.Name) and tuple(names.get(node.id, "").split(".")[-2:]) in LOADERS:
            yield names[node.id]
        if isinstance(node, ast.keyword) and _may_allow_pickle(node):
            yield "allow_pickle"


def _may_allow_pickle(node):
    if isinstance(node.value, ast.Dict) and node.arg is None:
        keys = [key.value for key in node.value.keys if isinstance(key, ast.Constant)]
        return "allow_pickle" in keys
    is_false = isinstance(node.value, ast.Constant) and node.value.value is False
    return node.arg == "allow_pickle" and not is_false


def test_nothing_runs_code_from_a_file():
    assert len(MODULES) > 200
    found = {path.relative_to(PACKAGE).as_posix(): findings(path.read_text()) for path in MODULES}
    assert {path: names for path in found if (names := list(found[path]))} == KNOWN


def test_torch_loads_tensors_alone():
    tree = ast.parse((PACKAGE / "_files/tensors.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    [load] = [call for call in calls if ast.unparse(call.func) == "torch.load"]
    assert [ast.unparse(each) for each in load.keywords if each.arg == "weights_only"] == [
        "weights_only=True"
    ]


@pytest.mark.parametrize(
    "source",
    [
        "import pickle\npickle.load(f)",
        "from pickle import loads",
        "import pickle as p\np.Unpickler(f).load()",
        "import numpy as np\nnp.load(f, allow_pickle=True)",
        "import numpy as np\nnp.load(f, allow_pickle=flag)",
        "import numpy as np\nnp.load(f, **{'allow_pickle': True})",
        "import joblib\njoblib.load(f)",
        "from joblib import load\nload(f)",
        "import torch\ntorch.load(f)",
        "import yaml\nyaml.load(f)",
        "import pandas as pd\npd.read_pickle(f)",
        "eval(text)",
        "exec(text)",
        "run = eval",
        "import importlib\nimportlib.import_module(name)",
        "import os\nos.system(name)",
    ],
)
def test_the_test_sees_what_it_looks_for(source):
    assert list(findings(source))


def test_what_is_harmless_is_not_reported():
    assert not list(findings("import pickle\ntry: f()\nexcept pickle.PicklingError: pass"))
    assert not list(findings("import numpy as np\nnp.load(f, allow_pickle=False)"))
    assert not list(findings("import ast\nast.literal_eval(text)"))
