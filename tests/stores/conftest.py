"""A PostgreSQL server for all tests."""

import tempfile
import warnings

import pytest

# What these warn of at their import is not ours; the tests import them again.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import lancedb  # noqa: F401
    import mteb  # noqa: F401
    import pgserver
    import sentence_transformers  # noqa: F401
    import skl2onnx  # noqa: F401


@pytest.fixture(scope="session")
def uri():
    # Not below pytest's own folder: the server runs as a user of its own where we are root.
    with tempfile.TemporaryDirectory() as folder:
        server = pgserver.get_server(folder, cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()
