"""``python -m sklearn_hashrank`` is the ``hashrank`` command."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
