"""A PostgreSQL server for all tests."""

import tempfile

import pgserver
import pytest


@pytest.fixture(scope="session")
def uri():
    # Not below pytest's own folder: the server runs as a user of its own where we are root.
    with tempfile.TemporaryDirectory() as folder:
        server = pgserver.get_server(folder, cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()
