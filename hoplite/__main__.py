"""`python -m hoplite` is the command line."""

import sys

from hoplite.cli import main

if __name__ == "__main__":
    sys.exit(main())
