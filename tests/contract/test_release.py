"""What a release is made of: metadata, links of the README, and how extras are installed."""

import re
import subprocess
import sys
import tomllib

import pytest
import yaml

import sklearn_hashrank
from sklearn_hashrank._utils.extras import how_to_install
from tests.contract.public import DOCS, PACKAGE, ROOT, load

CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = CONFIG["project"]
README = (ROOT / "README.md").read_text("utf-8")
TARGET = re.compile(r"\]\(([^)\s]+)\)")


def test_links_of_the_readme_work_outside_the_repository():
    """Each relative link and picture becomes an address of the same file in the repository."""
    source = PROJECT["urls"]["Source"]
    absolute = load(ROOT / "setup.py").absolute_links(README, source)
    before, after = TARGET.findall(README), TARGET.findall(absolute)
    assert len(before) == len(after) > 20
    pictures = set(re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README))
    assert pictures
    for old, new in zip(before, after, strict=True):
        assert (ROOT / old).exists()
        assert new == f"{source}/{'raw' if old in pictures else 'blob'}/main/{old}"


def test_links_that_are_absolute_stay():
    absolute_links = load(ROOT / "setup.py").absolute_links
    text = "[a](https://b.c/d) ![e](http://f.g/h.png) [i](#j)"
    assert absolute_links(text, "https://k") == text


def test_addresses_are_those_of_one_repository():
    source = PROJECT["urls"]["Source"]
    assert all(url.startswith(source) for url in PROJECT["urls"].values())


def test_addresses_are_written_in_one_place():
    """Only pyproject.toml names the repository, so that nothing else has to be replaced."""
    pages = [*ROOT.glob("*.*"), *DOCS.glob("*/*.*"), *(ROOT / ".github").rglob("*.*")]
    naming = {
        path.name
        for path in pages
        if path.suffix in {".md", ".rst", ".py", ".toml", ".cff", ".yml"}
        and PROJECT["urls"]["Source"] in path.read_text("utf-8")
    }
    assert naming == {"pyproject.toml"}


def test_actions_are_pinned_to_commits():
    workflows = [path.read_text("utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")]
    used = re.findall(r"uses: *(.+)", "\n".join(workflows))
    assert len(used) > 8
    assert [each for each in used if not re.fullmatch(r"\S+@[0-9a-f]{40}  # v[\d.]+", each)] == []


def test_every_supported_python_is_tested():
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))
    assert workflow["jobs"]["tests"]["strategy"]["matrix"]["python"] == named
    assert f">={named[0]}" == PROJECT["requires-python"]


def test_the_workflow_makes_what_the_integration_script_makes():
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))
    made = set(re.findall(r"^make (\S+)", (ROOT / ".ci/run").read_text("utf-8"), re.M))
    assert made - {"test"} <= set(workflow["jobs"]["make"]["strategy"]["matrix"]["target"])


def test_a_citation_has_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == sklearn_hashrank.__version__
    assert citation["license"] == PROJECT["license"]


@pytest.mark.process
def test_obstacles_to_a_release_are_named():
    command = [sys.executable, ".ci/releasable.py", "v0.0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith("the tag is v0.0, the version")


@pytest.mark.parametrize("extra", PROJECT["optional-dependencies"])
def test_every_extra_has_a_line_on_the_page(extra):
    assert f"* - ``{extra}``\n" in (DOCS / "get_started" / "install.rst").read_text("utf-8")


def test_extras_that_messages_name_exist():
    asked = re.compile(r"how_to_install\([\"'](\w+)[\"']\)")
    named = {
        extra for path in PACKAGE.rglob("*.py") for extra in asked.findall(path.read_text("utf-8"))
    }
    assert (
        {"cli", "plot", "deep", "onnx", "faiss"} == named <= set(PROJECT["optional-dependencies"])
    )


def test_how_to_install_names_the_extra():
    assert '[plot]"' in how_to_install("plot")


@pytest.mark.process
def test_the_oldest_versions_are_those_of_the_requirements():
    command = [sys.executable, ".ci/oldest.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    pins = set(done.stdout.split())
    for requirement in PROJECT["dependencies"]:
        assert requirement.replace(">=", "==") in pins
