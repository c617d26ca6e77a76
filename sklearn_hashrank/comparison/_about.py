"""What a comparison was, in words."""

import os
import platform
from typing import Any

from scipy import sparse

from ..affinity import BaseAffinity


def describe_data(name: str, X: Any, y: Any, affinity: BaseAffinity) -> dict[str, str]:
    """Name, size and kind of relevance."""
    levels = ", ".join(f"{level:g}" for level in affinity.levels_)
    understood = affinity.describe(y, "X" if y is X else "y")
    return {
        "name": name,
        "items": f"{X.shape[0]:,}",
        "features": f"{X.shape[1]:,}{', sparse' if sparse.issparse(X) else ''}, {X.dtype}",
        "relevance": f"{understood}; {affinity!r}, levels {levels}",
    }


def describe_machine() -> str:
    """Processor, number of processors that may be used, system."""
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            processor = next(
                (line.split(":", 1)[1].strip() for line in file if line.startswith("model name")),
                processor,
            )
        count = len(os.sched_getaffinity(0))
    except (OSError, AttributeError):  # not Linux
        count = os.cpu_count() or 1
    return f"{processor}, {count} processors, {platform.system()} {platform.machine()}"
