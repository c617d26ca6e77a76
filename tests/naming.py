"""Say which case of a test with a loop has failed."""

import contextlib


@contextlib.contextmanager
def naming(case):
    """Add a case to the message of whatever is raised within."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the case: {case}")
        raise
