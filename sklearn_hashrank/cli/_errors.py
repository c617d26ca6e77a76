"""The error of a wrong file, option or value, which the command shows in one line."""


class UsageError(ValueError):
    """A wrong file, option or value; its message is one line for the user."""


def need_extra(package: str, purpose: str) -> UsageError:
    """Error for an optional package that is not installed."""
    return UsageError(
        f"{purpose} needs {package}, which is not installed: pip install 'sklearn-hashrank[cli]'"
    )
