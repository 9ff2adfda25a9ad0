"""``python -m benchmarks.studies [NAME ...] [--list] [--data DIR] [--seeds A:B] [--write]``: carries out the studies
that come with the tool, and prints what they find. Without a name: all of them.

Each is swept by the command that a user has (``understudy sweep NAME``) into ``--data``, from where a study that was
interrupted goes on. ``--write`` puts tables and pictures into docs/understand/studies; with other ``--seeds`` than the
study's own nothing is written.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.studies.page import write
from scenarios.errors import did_you_mean
from scenarios.language.files import studies
from scenarios.runs.dataset.joined import open_data_sets
from scenarios.studies.statistics.of_data_set import compare_data_set
from scenarios.studies.statistics.own_figures import own_figures
from scenarios.studies.statistics.result import Comparison

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as throttles; absent: all")
    parser.add_argument("--list", action="store_true", help="only say which there are")
    parser.add_argument("--data", type=Path, help="the folder of the data sets, one in each; absent: they are not kept")
    parser.add_argument("--seeds", metavar="A:B", help="other seeds than the study's own, for a first look")
    parser.add_argument("--write", action="store_true", help="write docs/understand/studies")
    options = parser.parse_args(arguments)
    if options.seeds and options.write:
        parser.error("--write is for the study's own seeds; leave out --seeds")
    for name in options.names:
        if name not in studies():
            parser.error(f"there is no study {name!r}; {did_you_mean(name, studies())}")
    chosen = options.names or studies()
    if options.list:
        print("\n".join(chosen))
        return 0
    with tempfile.TemporaryDirectory(prefix="understudy-studies-") as folder:
        for name in chosen:
            comparison = carry_out(name, (options.data or Path(folder)) / name, options.seeds)
            print(f"{comparison.text}\n", flush=True)
            if options.write:
                write(name, comparison)
    return 0


def carry_out(name: str, data: Path, seeds: str | None) -> Comparison:
    """Sweep the study, unless its runs are there, and compare its arms."""
    data.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "scenarios.cli", "sweep", name, "--out", str(data)]
    subprocess.run([*command, *(["--seeds", seeds] if seeds else [])], check=True, cwd=ROOT, env=dict(os.environ))
    data_set = open_data_sets([data])
    return compare_data_set(data_set, own_figures(data_set))


if __name__ == "__main__":
    sys.exit(main())
