"""Worker processes that do not outlive the process that started them."""

import os
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from joblib.parallel import get_active_backend

_SECONDS_BETWEEN_LOOKS = 0.5
# The backends of joblib whose workers are children of this process. Other workers, such as those of
# dask, belong to somebody else.
_WITH_CHILDREN = ("LokyBackend", "MultiprocessingBackend")
_watched: set[int] = set()


def for_workers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for tasks of joblib whose workers end when this process is gone.

    A worker ends when its parent tells it to, which a parent that was killed cannot do.
    """
    backend, _ = get_active_backend()
    parent = os.getpid() if type(backend).__name__ in _WITH_CHILDREN else None
    return partial(_run, parent, function)


def _run(parent: int | None, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if parent is not None and parent != os.getpid() and parent not in _watched:
        _watched.add(parent)
        threading.Thread(target=_end_with, args=[parent], daemon=True).start()
    return function(*args, **kwargs)


def _end_with(parent: int) -> None:
    """End this process when it has another parent, as an orphan has everywhere but on Windows."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)  # at once: nothing else in a worker looks at a flag
