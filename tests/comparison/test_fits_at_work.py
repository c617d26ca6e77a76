"""How far fits are, in this process and in others."""

import threading

import joblib
import numpy as np
import pytest

from sklearn_hashrank import LSHHasher
from sklearn_hashrank._utils.callbacks import watch_iterations, watched
from sklearn_hashrank.comparison import (
    _worker_progress as _fits_at_work,
)
from sklearn_hashrank.comparison import (
    compare,
    method_from_name,
)
from sklearn_hashrank.comparison._worker_progress import FitsAtWork, note_iterations
from tests.comparison.conftest import PROTOCOL

STEPS = {  # methods that learn in steps, and how many there are at most
    "fasthash:n_estimators=2": 3,
    "ksh:n_anchors=20": 3,
    "ssh": 3,
    "structhash:n_queries=20": 3,
    "machash:max_iter=4": 4,
    "bre:max_iter=5": 5,
    "autoencoder:max_iter=6": 6,
    "talr-ap:max_iter=3": 3,
    "lwh:max_iter=4": 4,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", STEPS)
def test_steps_of_a_fit_are_told(method, digits):
    X, y = digits
    told = []
    with watch_iterations(lambda *steps: told.append(steps)):
        n_bits = 16 if method.startswith("autoencoder") else 3  # of few bits, it is done at once
        method_from_name(method).set_params(n_bits=n_bits).fit(X[::9], y[::9])
    most = STEPS[method]
    assert told
    assert set(told) <= {(step, most) for step in range(1, most + 1)}
    assert [step for step, _ in told] == sorted({step for step, _ in told})


def test_notes_of_other_processes_are_reported(monkeypatch):
    monkeypatch.setattr(_fits_at_work, "_SECONDS_BETWEEN_LOOKS", 0.01)
    reported, is_reported = [], threading.Event()

    def report(*steps):
        reported.append(steps)
        is_reported.set()

    with FitsAtWork(report) as fits:
        note_iterations(fits.folder, 12)(1, 5)  # as another process does
        assert is_reported.wait(60)
    assert reported == [(12, 1, 5)]
    assert note_iterations(fits.folder, 12) is None  # it went with the comparison


def test_an_error_of_who_looks_on_is_raised(monkeypatch):
    monkeypatch.setattr(_fits_at_work, "_SECONDS_BETWEEN_LOOKS", 0.01)
    is_told = threading.Event()

    def report(*steps):
        is_told.set()
        raise KeyError("from the report")

    def look_on():
        with FitsAtWork(report) as fits:
            note_iterations(fits.folder, 0)(1, 5)
            assert is_told.wait(60)

    with pytest.raises(KeyError, match="from the report"):
        look_on()


class Waiting(LSHHasher):
    """Waits until its first step is shown, or half a second where nobody looks."""

    is_shown = threading.Event()

    def fit(self, X, y=None):
        for step in watched(2):
            if step == 1:
                self.is_shown.wait(0.5)
        return super().fit(X, y)


def test_steps_of_several_runs_at_a_time_are_shown(digits, monkeypatch):
    monkeypatch.setattr(_fits_at_work, "_SECONDS_BETWEEN_LOOKS", 0.01)
    shown = []

    class Shown:
        def __call__(self, result, n_done, n_runs):
            shown.append((result.method, result.n_bits, result.seed))

        def iteration(self, *of_fit):
            shown.append(of_fit)
            Waiting.is_shown.set()

    settings = {"methods": {"waiting": Waiting()}, "n_bits": [4, 8], "seeds": 1}
    with joblib.parallel_config("threading", n_jobs=2):
        compare(*digits, **settings, protocol=PROTOCOL, progress=Shown())
    of_fits = [each for each in shown if len(each) == 5]
    assert of_fits
    assert {each[:3] for each in of_fits} <= {("waiting", n_bits, 0) for n_bits in (4, 8)}
    assert {each[3:] for each in of_fits} <= {(1, 2), (2, 2)}
    assert np.all([shown.index(each) < shown.index(each[:3]) for each in of_fits])
