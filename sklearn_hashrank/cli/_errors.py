"""What the command says when it cannot do what it was asked."""

from .._utils.extras import how_to_install


class UsageError(ValueError):
    """A wrong file, option or value; its message is one line for the user."""


def need_extra(package: str, purpose: str) -> UsageError:
    """Error for an optional package that is not installed."""
    return UsageError(f"{purpose} needs {package}, which is not installed: {how_to_install('cli')}")
