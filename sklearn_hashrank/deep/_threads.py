"""How many threads torch has: the one place that decides it.

Torch takes all cores by itself. Its threads wait for each other in every layer, and for a free core
where other processes are at work: there, two threads on two cores took 3 times as long as one for
images of 28 x 28, and 10 times for those of 8 x 8. So it is one thread, unless `n_jobs` asks for
more; on a machine that has nothing else to do, those pay for convolutions.
"""

import contextlib
import threading
from collections.abc import Iterator

import torch

from .._utils.threads import count_threads


class _TorchThreads:
    """Torch has one number for the process: the first that enters sets it, the last restores it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside, self._before = 0, 1

    def enter(self, number: int) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._before = torch.get_num_threads()
                torch.set_num_threads(number)
            self._n_inside += 1

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                torch.set_num_threads(self._before)


_torch_threads = _TorchThreads()


@contextlib.contextmanager
def torch_threads(n_jobs: int | None) -> Iterator[None]:
    """Give torch as many threads as `n_jobs` asks for, see `count_threads`."""
    _torch_threads.enter(count_threads(n_jobs))
    try:
        yield
    finally:
        _torch_threads.leave()
