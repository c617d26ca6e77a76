"""How to install the extras of this package, for messages and for the documentation.

The package is on no index yet, so that both install it from a clone.
"""

WHERE = "in a clone of sklearn-hashrank"


def install_command(extra: str) -> str:
    """Return what to type for an extra."""
    return f'pip install ".[{extra}]"'


def how_to_install(extra: str) -> str:
    """Return what to type, and where, for messages."""
    return f"{install_command(extra)} {WHERE}"
