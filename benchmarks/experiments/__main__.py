"""``python -m benchmarks.experiments [NAME ...] [--list] [--quick] [--write]``: figures that were published or
predicted beside the emulator's, each with its tolerance. Without a name: all of them.

``--quick`` runs scaled-down versions; ``--write`` puts tables and pictures into docs/understand/experiments.md
and docs/understand/pictures. Exit code 1 where a stated tolerance is missed, 2 for a name that is none.
"""

import argparse
import sys
import time
from collections.abc import Sequence

from benchmarks.experiments.experiment import Experiment
from benchmarks.experiments.page import write
from benchmarks.experiments.registry import experiments
from scenarios.errors import did_you_mean


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as e4; absent: all")
    parser.add_argument("--list", action="store_true", help="only say which there are")
    parser.add_argument("--quick", action="store_true", help="scaled down, for a first look")
    parser.add_argument("--write", action="store_true", help="write docs/understand/experiments.md and its pictures")
    options = parser.parse_args(arguments)
    if options.quick and options.write:
        parser.error("--write is for the whole experiment; leave out --quick")
    known = experiments()
    for name in options.names:
        if name not in known:
            parser.error(f"there is no experiment {name!r}; {did_you_mean(name, known)}")
    chosen = [known[name] for name in options.names or known]
    if options.list:
        print("\n".join(f"{each.name:<5} {each.title}" for each in chosen))
        return 0
    agree = [_carry_out(each, options.quick, options.write) for each in chosen]
    return 0 if all(agree) else 1


def _carry_out(experiment: Experiment, quick: bool, wanted_on_page: bool) -> bool:
    began = time.process_time()
    outcome = experiment.carry_out(quick)
    cpu_s = time.process_time() - began
    print(f"{experiment.name}: {experiment.title}\nSource: {experiment.source}\n")
    print("\n".join(outcome.lines()))
    print(f"\n{cpu_s:,.1f} s of CPU\n", flush=True)
    if wanted_on_page:
        write(experiment, outcome, cpu_s)
    for finding in outcome.findings:
        if not finding.agrees:
            print(f"disagrees: {experiment.name}, {finding.what}", file=sys.stderr)
    return outcome.agrees


if __name__ == "__main__":
    sys.exit(main())
