"""Every public docstring is well formed; those of the reference are complete."""

import dataclasses
import functools
import importlib
import inspect

from numpydoc.docscrape import NumpyDocString, get_doc_object
from numpydoc.validate import validate

from tests.contract.public import REFERENCE, public_modules

# Checks of numpydoc for every public docstring: sections, their order and indentation, summaries
# of one line that end with a period, parameters with a type and a description. Ruff checks where
# the quotation marks stand.
WELL_FORMED = {
    *("GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10"),
    *("SS01", "SS02", "SS03", "SS04", "SS06"),
    *("PR02", "PR04", "PR05", "PR06", "PR07", "PR08", "PR09", "PR10"),
    *("RT04", "RT05", "SA02", "SA03", "SA04"),
}
# For names of the reference: all parameters in order, and what comes back.
COMPLETE = {"PR01", "PR03", "RT01", "YD01"}


def is_ours(thing):
    return getattr(thing, "__module__", "").startswith("sklearn_hashrank")


def members(thing):
    """Public methods and properties that a class itself defines."""
    for name, member in vars(thing).items():
        member = getattr(member, "__func__", member)
        if not name.startswith("_") and isinstance(
            member, (property, functools.cached_property, type(members))
        ):
            yield name, member


def public_things():
    """Public classes, functions, methods and properties, by name."""
    found = {}
    for module in map(importlib.import_module, public_modules()):
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            if is_ours(thing) and (inspect.isclass(thing) or inspect.isfunction(thing)):
                found.setdefault(thing, f"{module.__name__}.{name}")
                for inner, member in members(thing) if inspect.isclass(thing) else ():
                    found.setdefault(member, f"{found[thing]}.{inner}")
    return {name: thing for thing, name in found.items()}


def errors(thing, codes):
    found = validate(get_doc_object(thing))["errors"]
    return [f"{code}: {text}" for code, text in found if code in codes]


def misread(docstring):
    """Entries of attributes and results that are no entries, as where indentation is missing."""
    doc = NumpyDocString(docstring)
    for section in ("Attributes", "Returns", "Yields"):
        for names, type_, _ in doc[section]:
            if not type_ or type_.endswith("."):
                yield f"{section}: {names or type_}"


def test_docstrings_are_well_formed():
    for name, thing in public_things().items():
        assert not errors(thing, WELL_FORMED), name
        assert not list(misread(inspect.getdoc(thing))), name


def overridden(thing, name):
    """A method and those of the same name that it overrides, nearest first."""
    return [vars(base)[name] for base in thing.__mro__ if name in vars(base) and is_ours(base)]


def test_docstrings_of_the_reference_are_complete():
    for full_name, thing in REFERENCE.items():
        if not inspect.isclass(thing):
            assert not errors(thing, COMPLETE), full_name
            continue
        if not (dataclasses.is_dataclass(thing) or issubclass(thing, tuple)):
            assert not errors(thing, {"PR01", "PR03"}), full_name
        methods = [name for name, member in members(thing) if not isinstance(member, property)]
        for name in methods:
            found = [errors(getattr(m, "__func__", m), COMPLETE) for m in overridden(thing, name)]
            assert [] in found, f"{full_name}.{name}: {found[0]}"


def double(x):
    """Return twice a number.

    Parameters
    ----------
    x : float
    The number.

    Returns
    -------
    twice : float
    Twice the number.
    """
    return 2 * x


def test_missing_indentation_is_found():
    assert any("PR07" in each for each in errors(double, WELL_FORMED))
    assert list(misread(inspect.getdoc(double))) == ["Returns: Twice the number."]
