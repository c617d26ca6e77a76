"""Examples whose numbers are compared as far as they are printed, as by pytest's NUMBER."""

import doctest
import re
import sys
import types

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d*\.\d+(?:[eE][-+]?\d+)?(?![\w.])")
# A difference of one in the last digit, which a value at the edge of rounding makes.
_LAST_DIGIT = 1.01


class DigitsChecker(doctest.OutputChecker):
    """Let numbers with a decimal point differ by one in the last digit that is printed."""

    def check_output(self, want, got, optionflags):
        """Compare what an example prints with what it should print."""
        if super().check_output(want, got, optionflags):
            return True
        expected, found = _NUMBER.findall(want), _NUMBER.findall(got)
        if len(expected) != len(found):
            return False
        if not all(_is_near(*pair) for pair in zip(expected, found)):
            return False
        numbers = iter(expected)
        return super().check_output(want, _NUMBER.sub(lambda _: next(numbers), got), optionflags)


def _is_near(expected, found):
    digits, _, exponent = expected.lower().partition("e")
    last = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    return abs(float(expected) - float(found)) <= _LAST_DIGIT * last


def run_page(path, text=None, names=()):
    """Run the examples of a page, and return how many there are and how many fail.

    They run as a module that can be imported, so that their classes can be pickled.
    """
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    text = path.read_text(encoding="utf-8") if text is None else text
    examples = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    name = f"page_{path.stem}"
    sys.modules[name] = module = types.ModuleType(name)
    examples.globs = vars(module)
    examples.globs.update(names)
    try:
        return doctest.DocTestRunner(DigitsChecker(), optionflags=flags).run(examples)
    finally:
        del sys.modules[name]
