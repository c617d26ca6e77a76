"""Settings of all tests."""

from hypothesis import settings

# No timed assertions: the first example compiles kernels, and machines are shared.
settings.register_profile("shared", deadline=None, print_blob=True)
settings.load_profile("shared")
