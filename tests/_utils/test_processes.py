"""Workers end when the process that started them was killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.pool,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc"),
]
SECONDS = 120  # for two workers to start on a busy machine

SLOW = """
import os, sys, time
from pathlib import Path
import numpy as np
from sklearn_hashrank import LSHHasher
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.model_selection import cross_validate_retrieval

class Slow(LSHHasher):
    def fit(self, X, y=None):
        (Path(sys.argv[1]) / str(os.getpid())).touch()
        time.sleep(600)

X = np.random.default_rng(0).normal(size=(80, 8))
if sys.argv[2] == "compare":
    methods = {"a": Slow(), "b": Slow()}
    compare(X, methods=methods, n_bits=[4], seeds=1, n_jobs=2)
else:
    cross_validate_retrieval(Slow(4), X, np.arange(80) % 2, cv=2, n_jobs=2)
"""


def wait_for(condition):
    until = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"  # an orphan may wait for whoever starts processes here


@pytest.mark.parametrize("what", ["compare", "cross_validate"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_do_not_outlive_their_parent(tmp_path, number, what):
    (tmp_path / "slow.py").write_text(SLOW)
    pids = tmp_path / "pids"
    pids.mkdir()
    process = subprocess.Popen([sys.executable, tmp_path / "slow.py", pids, what])
    try:
        wait_for(lambda: len(list(pids.iterdir())) == 2 or process.poll() is not None)
        workers = [int(path.name) for path in pids.iterdir()]
        assert len(workers) == 2
        assert all(map(is_running, workers))
        process.send_signal(number)
        process.wait()
        wait_for(lambda: not any(map(is_running, workers)))
    finally:
        process.kill()
        for path in pids.iterdir():
            if is_running(path.name):
                os.kill(int(path.name), signal.SIGKILL)
