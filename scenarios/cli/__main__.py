"""``python -m scenarios.cli``, which the bootstrap script runs."""

import sys

from scenarios.cli.start import program

# Processes that a command spawns import this file under another name, and must not run the command again.
if __name__ == "__main__":
    sys.exit(program())
