"""The error of a wrong file, option or value, which the command shows in one line."""

from .._utils.extras import how_to_install


class UsageError(ValueError):
    """A wrong file, option or value; its message is one line for the user."""


def need_extra(package: str, purpose: str) -> UsageError:
    """Error for an optional package that is not installed."""
    return UsageError(f"{purpose} needs {package}, which is not installed: {how_to_install('cli')}")
