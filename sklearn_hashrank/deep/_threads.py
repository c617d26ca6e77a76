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
    """The number of threads of torch, which every thread of the process has for itself.

    A thread that enters sets its own number, and restores it when it leaves. A new thread starts
    with the number that was set last by any other: where others are inside, that is theirs, so that
    it is given the number that the first of them came with.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside, self._outside = 0, 1
        self._own = threading.local()

    def enter(self, number: int) -> None:
        with self._lock:
            before = torch.get_num_threads()
            numbers = self._own.__dict__.setdefault("numbers", [])
            if self._n_inside == 0:
                self._outside = before
            elif not numbers:
                before = self._outside
            numbers.append(before)
            self._n_inside += 1
            torch.set_num_threads(number)

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            torch.set_num_threads(self._own.numbers.pop())


_torch_threads = _TorchThreads()


@contextlib.contextmanager
def torch_threads(n_jobs: int | None) -> Iterator[None]:
    """Give torch as many threads as `n_jobs` asks for, see `count_threads`."""
    _torch_threads.enter(count_threads(n_jobs))
    try:
        yield
    finally:
        _torch_threads.leave()
