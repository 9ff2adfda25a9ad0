"""``python worker.py``: runs seeds of the default chaos in the checkout of its folder, with bugs switched on.

The first line that it reads names the bugs and their edits. Every further line is a run: its bugs, profile and seed. It
answers each with a line: what was seen, and the CPU seconds. A run that takes longer than ``MOST_CPU_S`` ends it.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from switch import Edit, Switch  # type: ignore[import-not-found]

MOST_CPU_S = 40
MOST_BYTES = 6 << 30


@cache
def drawn(profile: str) -> Any:
    from scenarios.chaos.draw import default_swarm
    from scenarios.studies.chaos.seed_run import Drawn

    return Drawn(scenario=default_swarm().for_run(profile=profile))


def seen(profile: str, seed: int) -> str:
    """The first finding that the release does not explain, as CHECKER: TEXT; "" where there is none."""
    from scenarios.studies.chaos.seed_run import SeedChunk, work

    [result] = work(SeedChunk(drawn(profile), (seed,)))
    return "" if not result.new else f"{result.new[0].checker}: {result.new[0].in_short}"


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))

    def answer(text: str, cpu_s: float) -> None:
        print(json.dumps({"seen": text, "cpu_s": cpu_s}), file=answers, flush=True)

    def ends(*_: object) -> None:
        answer("a run that does not end: ", MOST_CPU_S)
        os._exit(0)

    signal.signal(signal.SIGPROF, ends)
    edits = {name: [Edit(*edit) for edit in of_bug] for name, of_bug in json.loads(sys.stdin.readline()).items()}
    switch = Switch(Path.cwd(), edits)
    from emulator import logger

    logger.silence()
    for line in sys.stdin:
        bugs, profile, seed = json.loads(line)
        switch.set(bugs)
        signal.setitimer(signal.ITIMER_PROF, MOST_CPU_S)
        began = time.process_time()
        text = seen(profile, seed)
        signal.setitimer(signal.ITIMER_PROF, 0)
        answer(text, time.process_time() - began)


if __name__ == "__main__":
    main()
