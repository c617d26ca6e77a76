"""The documentation: every public name is in it, every docstring is whole, every example runs."""

import doctest
import importlib
import inspect
import re
import runpy
import textwrap

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_hashrank import LSHHasher, objectives
from sklearn_hashrank.cli import main
from sklearn_hashrank.comparison._method_table import GROUPS, METHODS
from sklearn_hashrank.metrics import list_measures
from sklearn_hashrank.metrics._registry import forget
from tests.contract.digits import DigitsChecker, run_page
from tests.contract.guides import as_session, run_guide
from tests.contract.public import (
    DOCS,
    GUIDES,
    HAS_TORCH,
    PAGES,
    REFERENCE,
    api_reference,
    load,
    public_modules,
)
from tests.instances import METHODS_HERE

EXTENSIONS = sorted((DOCS / "contribute" / "extend").glob("*.py"))


def test_every_public_name_is_in_the_reference():
    for module in map(importlib.import_module, public_modules()):
        public = {name: getattr(module, name) for name in getattr(module, "__all__", ())}

        missing = [
            f"{module.__name__}.{name}"
            for name, thing in public.items()
            if callable(thing) and not any(thing is known for known in REFERENCE.values())
        ]
        assert not missing, "give them a line in docs/api_reference.py"


def test_every_section_of_the_reference_is_on_one_page():
    placed = [title for _, _, sections in api_reference.PAGES for title in sections]
    assert sorted(placed) == sorted(section.title for section in api_reference.SECTIONS)


def test_estimators_link_to_their_pages():
    kinds = {
        name: thing
        for name, thing in REFERENCE.items()
        if inspect.isclass(thing) and issubclass(thing, BaseEstimator)
        if not inspect.isabstract(thing)
    }
    assert len(kinds) > 40
    for name, kind in kinds.items():
        link = kind.__new__(kind)._get_doc_link()
        assert link.endswith(f"/reference/generated/{name}.html"), name


def test_estimators_of_users_have_no_page_here():
    own = type("OwnHasher", (LSHHasher,), {"__module__": "own"})
    assert own()._get_doc_link() == ""


def test_every_docstring_has_an_example():
    for name, thing in REFERENCE.items():
        assert re.search(r"^Examples\n-+\n.*>>>", inspect.getdoc(thing), re.M | re.S), name


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_pages_run(path):
    result = run_page(path)
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: str(path.relative_to(DOCS)))
def test_guides_run_with_their_commands(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run_guide(path)
    assert result.attempted
    assert not result.failed


def test_a_guide_shows_what_its_commands_print():
    text = ".. code-block:: sh\n\n   hashrank a\n   make b\n\n.. code-block:: text\n\n   c\n\nd\n"
    assert as_session(text) == ">>> sh('hashrank a')\n>>> sh('make b', shown=True)\nc\n\nd\n"


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: str(path.relative_to(DOCS)))
def test_guides_have_no_block_that_is_not_run(path):
    text = as_session(path.read_text("utf-8"))
    assert re.findall(r"^\.\. code-block:: (?!text)(\w+)", text, re.M) == []
    assert not re.search(r"::$", re.sub(r"^\.\. .*::$", "", text, flags=re.M), re.M)


@pytest.mark.parametrize(
    ("want", "got", "is_equal"),
    [
        ("0.53", "0.54", True),
        ("0.53", "0.55", False),
        ("array([0.5 , 1.25])", "array([0.5 , 1.26])", True),
        ("array([0.5 , 1.25])", "array([0.5 ])", False),
        ("1.5e-3", "1.6e-3", True),
        ("1.5e-3", "0.1", False),
        ("3 rows, 0.5", "4 rows, 0.5", False),
        ("version 1.2.3", "version 1.2.4", False),
    ],
)
def test_numbers_of_pages_may_differ_in_the_last_digit(want, got, is_equal):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert DigitsChecker().check_output(want + "\n", got + "\n", flags) == is_equal


@pytest.fixture
def registry():
    """Forget the measures that a test registers."""
    before = list_measures()
    yield
    for measure in list_measures():
        if measure not in before:
            forget(measure)


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("path", EXTENSIONS, ids=lambda path: path.name)
def test_extensions_run_and_print_what_their_page_shows(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    shown = textwrap.indent(capsys.readouterr().out, "   ")
    assert any(shown in page.read_text() for page in (DOCS / "contribute" / "extend").glob("*.rst"))


@parametrize_with_checks(
    [load(DOCS / "contribute" / "extend" / "median_hasher.py").MedianHasher(n_bits=1)]
)
def test_the_hasher_of_the_documentation_passes_the_checks(estimator, check):
    check(estimator)


def test_the_table_of_methods_has_every_name_and_says_who_needs_labels():
    page = (DOCS / "methods" / "index.rst").read_text(encoding="utf-8")
    rows = re.findall(
        r"\* - :ref:`(\S+) <\w+>`\n +- :class:`~sklearn_hashrank\.(?:deep\.)?(\w+)`\n +- (.+)\n",
        page,
    )
    in_order = sorted(METHODS, key=lambda name: list(GROUPS).index(METHODS[name].group))
    assert [name for name, _, _ in rows] == in_order
    for name, class_name, labels in rows:
        if METHODS[name].group != "deep" or HAS_TORCH:
            assert class_name == type(METHODS[name].hasher).__name__
        assert (labels == "required") == METHODS[name].needs_y


def test_the_table_of_names_shows_the_hashers_that_names_stand_for(tmp_path, monkeypatch):
    table = load(DOCS / "method_names.py")
    monkeypatch.setattr(table, "METHODS", {name: METHODS[name] for name in METHODS_HERE})
    table.write_table(tmp_path / "names.txt")
    rows = re.findall(
        r"\* - ``(\S+)``\n +- ``(.+)``\n +- (.+)\n", (tmp_path / "names.txt").read_text()
    )
    assert sorted(name for name, _, _ in rows) == sorted(METHODS_HERE)
    for name, text, line in rows:
        hasher = METHODS[name].hasher
        made = eval(text, {**vars(objectives), type(hasher).__name__: type(hasher)})
        assert type(made) is type(hasher)
        assert repr(made.get_params()) == repr(hasher.get_params())
        assert line == METHODS[name].line


def test_every_option_of_the_command_line_is_on_its_page(tmp_path, capsys):
    load(DOCS / "command_options.py").write_page(tmp_path / "options.rst")
    page = (tmp_path / "options.rst").read_text("utf-8")
    for part in page.split("\nhashrank ")[1:]:
        name = part.split()[0]
        with pytest.raises(SystemExit):
            main([name, "--help"])
        shown = set(re.findall(r"^  (--[\w-]+)", capsys.readouterr().out, re.M))
        assert shown - {"--help"} <= set(re.findall(r"``(--[\w-]+)", part)), name
    assert page.count("\n=====") > 8
    assert "FILE\\:NAME" in page  # no link of a scheme "file"


def test_tables_that_pages_include_are_there():
    included = [
        page.parent / name
        for page in DOCS.rglob("*.rst")
        for name in re.findall(r"^\.\. include:: (\S+\.inc)$", page.read_text("utf-8"), re.M)
    ]
    assert len(included) >= 9
    assert not [path for path in included if not path.is_file()]
