"""Notes to the user, which are no errors."""

import sys


def note(text: str) -> None:
    """Print a note to standard error."""
    print(f"hashrank: note: {text}", file=sys.stderr)
