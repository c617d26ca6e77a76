"""``python -m sklearn_hashrank`` is the ``hashrank`` command."""

import sys

from _hashrank_launcher import main

if __name__ == "__main__":
    sys.exit(main())
