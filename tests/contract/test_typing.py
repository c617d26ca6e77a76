"""What `make lint` checks the types of also runs."""

from tests.contract import user_code


def test_user_code_runs(tmp_path):
    user_code.use(tmp_path)
