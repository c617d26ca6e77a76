"""Settings of all tests."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or scikit-learn skips a check; before scipy loads

from hypothesis import settings

# No timed assertions: the first example compiles kernels, and machines are shared.
settings.register_profile("shared", deadline=None, print_blob=True)
settings.load_profile("shared")
