"""Write the stub by which editors and type checkers know the methods of a histogram.

    python -m tests.metrics.method_stub

Run it after a change of a measure of the package; a test compares the file.
"""

from pathlib import Path

import sklearn_hashrank
from sklearn_hashrank.metrics._measure import MEASURES

PATH = Path(sklearn_hashrank.__file__).parent / "metrics" / "_measure_methods.pyi"
HEAD = """# Written by tests/metrics/method_stub.py.
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ._measure import TieOrder

Values = NDArray[np.float64]

class MeasureMethods:
"""
TYPES = {
    "k": "int | None",
    "radius": "int",
    "ties": "TieOrder",
    "zero_division": "float",
    "min_relevance": "float | None",
}


def stub():
    """The text of the stub."""
    return HEAD + "".join(map(method, MEASURES.values()))


def method(measure):
    lines = [f"    def {measure.name}(", "        self,", "        *,"]
    for name, keyword in measure.keywords.items():
        values = measure.options.get(name)
        if isinstance(values, tuple):
            options = ", ".join(f'"{value}"' for value in values)
            type_ = f"Literal[{options}]"
        else:
            type_ = TYPES.get(name, "float")
        default = f'"{keyword.default}"' if isinstance(keyword.default, str) else keyword.default
        if name == "zero_division":
            default = "..."  # nan has no literal
        lines.append(f"        {name}: {type_} = {default},")
    lines += ["    ) -> Values:", f'        """{measure.meaning}"""']
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PATH.write_text(stub())
