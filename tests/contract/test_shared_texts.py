"""Equal parameters and attributes of public classes and functions have equal texts.

Docstrings are written out, so that an IDE shows what the reference shows. This test keeps equal
what several of them say of one thing, as ``assert_docstring_consistency`` of scikit-learn does.
"""

import ast
import inspect
import re
from collections import defaultdict

import pytest
from numpydoc.docscrape import NumpyDocString

from sklearn_hashrank.base import BaseHasher
from sklearn_hashrank.objectives import Objective, PairwiseObjective
from tests.contract.public import PACKAGE, REFERENCE

# Names whose texts differ, by family, and what all of them have in common. The reason stands above.
MAY_DIFFER = {
    "hashers": {
        # A method has bounds of its own.
        "n_bits": r"Length of a code",
        "max_iter": r"(Largest number of|Most) ",
        "n_candidates": r"(Features|Projections) that a hash compares",
        "tol": r"\w.* (at most|less than|accepted|within|converged)",
        # A method says what it does with it.
        "random_state": r"(Samples|Controls|Used) ",
        "affinity": r"How `y` says what is relevant",
        "affinity_": r"The affinity that was learned from|Relevance by .*, set when",
        "n_jobs": r"Threads over .* None means 1 unless in a :obj:`joblib.parallel_config` context",
        "rotation": r"Rotation of ",
        # Nearly the same for linear hashers and for those of kernels.
        "alpha": r"Steepness of the relaxed codes|Weight of|Strength of",
        "alpha_end": r"Steepness at the end",
        "dropout": r"Share of the features of each row that a step leaves at their mean",
        "verbose": r"Print a line every ",
        # Some hashers keep fewer rows.
        "codes_": r"Packed codes of the training rows",
        "y_": r"`y` of the training rows",
        # What a method makes its bits of.
        "anchors_": r"\w.* anchors|Rows that all others are compared with",
        "components_": r"\w",
        "intercept_": r"\w",
        "thresholds_": r"\w",
        "unit_": r"A bit is 1 where ",
        "n_candidates_": r"Number of (features|projections) that a hash compares",
        # What a solver reports.
        "converged_": r"Whether ",
        "history_": r"(For each|After each) ",
        "loss_": r"Mean ",
        "n_iter_": r"(Number of|Passes) ",
        "objective_": r"\w",
    },
    "objectives": {},
    "metrics": {
        # No order of ties matters within a radius.
        "ties": r"The mean over all orders of tied items|Without effect",
        # Scorers find affinities of hashers, and options of several metrics.
        "affinity": r"A fitted object is used as it is|What is relevant",
        "n_jobs": r"Threads",
        # Tests of differences say what they sample.
        "n_resamples": r"Random (changes of sign|exchanges)",
        "random_state": r"Controls the (changes of sign|exchanges)",
    },
    "displays": {
        # One display has several axes, or other things than lines.
        "ax_": r"\w|$",
        "lines_": r"\w|$",
        "label": r"Name of the (measure|values)",
    },
}


def family(name, thing):
    """Name of the family whose members share texts, or None."""
    if inspect.isclass(thing):
        for base, found in (
            (BaseHasher, "hashers"),
            (Objective, "objectives"),
            (PairwiseObjective, "objectives"),
        ):
            if issubclass(thing, base):
                return found
        return "displays" if name.endswith("Display") else None
    return "metrics" if name.startswith("sklearn_hashrank.metrics.") else None


def entries(things):
    """Texts of parameters and attributes by name and type, with the things that have them."""
    found = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for name, thing in things.items():
        doc = NumpyDocString(inspect.getdoc(thing))
        for section in ("Parameters", "Attributes"):
            for entry in doc[section]:
                text = " ".join(" ".join(entry.desc).split())
                found[entry.name][" ".join(entry.type.split())][text].append(name)
    return found


def differences(things, may_differ):
    """Yield what things of a family say differently of one parameter or attribute."""
    for name, types in entries(things).items():
        for type_, texts in types.items():
            if name in may_differ:
                wrong = [text for text in texts if not re.match(may_differ[name], text)]
            else:
                wrong = list(texts) if len(texts) > 1 else []
            for text in wrong:
                yield f"{name} : {type_}: {text!r} ({', '.join(texts[text])})"


FAMILIES = defaultdict(dict)
for name, thing in REFERENCE.items():
    if found := family(name, thing):
        FAMILIES[found][name] = thing


@pytest.mark.parametrize("group", MAY_DIFFER)
def test_equal_parameters_have_equal_texts(group):
    assert len(FAMILIES[group]) > 4
    assert not list(differences(FAMILIES[group], MAY_DIFFER[group]))


@pytest.mark.parametrize("group", MAY_DIFFER)
def test_every_exception_is_needed(group):
    found = entries(FAMILIES[group])
    needless = [
        name for name in MAY_DIFFER[group] if all(len(texts) == 1 for texts in found[name].values())
    ]
    assert not needless


def first(n_bits):
    """Encode.

    Parameters
    ----------
    n_bits : int
        Length of a code.
    """


def second(n_bits):
    """Encode.

    Parameters
    ----------
    n_bits : int
        Length of a code, in bits.
    """


def test_a_difference_is_found():
    things = {"first": first, "second": second}
    assert len(list(differences(things, {}))) == 2
    assert not list(differences(things, {"n_bits": "Length of a code"}))
    assert len(list(differences(things, {"n_bits": "Length of a code, "}))) == 1


def test_docstrings_are_written_out():
    """No line of a docstring stands for a text that is put in its place on import."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for path in sorted(PACKAGE.rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        docstrings = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, kinds)]
        found = re.findall(r"^ *\{[\w ]+\}$", "\n".join(docstrings), re.MULTILINE)
        assert not found, path
