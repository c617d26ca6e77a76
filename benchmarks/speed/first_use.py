"""What the first block of the README compiles, with an empty cache: CPU seconds of each kernel.

python -m benchmarks.speed.first_use
"""

import argparse
import os
import re
import tempfile
import time
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def compiled_forms(code):
    """Run code with an empty cache; return CPU seconds and name of each form that it compiles."""
    from numba.core import event

    forms, starts = [], []

    class Listener(event.Listener):
        def on_start(self, event):
            starts.append(time.process_time())

        def on_end(self, event):
            seconds = time.process_time() - starts.pop()
            if not starts:
                forms.append((seconds, event.data["dispatcher"].py_func.__name__))

    with event.install_listener("numba:compile", Listener()):
        exec(code, {"__name__": "__main__"})
    return forms


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    code = re.search(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)[1]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder  # numba reads it when it is imported
        forms = compiled_forms(code)
    for seconds, name in sorted(forms, reverse=True):
        print(f"{seconds:7.3f} s  {name}")
    print(f"{sum(seconds for seconds, _ in forms):7.3f} s  {len(forms)} forms")


if __name__ == "__main__":
    main()
