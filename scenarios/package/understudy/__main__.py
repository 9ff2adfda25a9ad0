"""``python -m understudy``, and the script ``understudy`` of an installation: the command line."""

import sys

from scenarios.cli.start import program

if __name__ == "__main__":
    sys.exit(program())
