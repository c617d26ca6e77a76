"""Handle Ctrl-C while ``python -m sklearn_hashrank`` loads, as ``hashrank`` does.

Python imports the package before it comes to ``__main__``. The package imports this module first.
"""

import sys

# What Python says while it looks for the module of ``-m``; other programs keep their handlers.
if sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)] == __name__.partition(".")[0]:
    from _hashrank_launcher import end_at_interrupt

    end_at_interrupt()
