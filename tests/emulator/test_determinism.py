"""One seed, one digest: over 20 hash seeds, in processes where nothing switches Trio's private determinism
on."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.emulator.mixed import rows_of

ROOT = Path(__file__).parents[2]


def trace_of(hash_seed: int, *arguments: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.emulator.mixed", *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return ran.stdout.splitlines()


def traces(count: int, *arguments: str) -> list[list[str]]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda seed: trace_of(seed, *arguments), range(count)))


def first_difference(one: list[str], other: list[str]) -> str:
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            return f"{mine}\n{theirs}"
    return "" if one == other else "one goes on"


def test_twenty_hash_seeds_leave_one_trace() -> None:
    first, *others = traces(20)
    assert len(first) > 150
    for other in others:
        assert first_difference(first, other) == ""
    assert first == rows_of(injected=False), "and the same in this process"
    assert first == rows_of(injected=False, backend="attached"), "and on the other backend"


def test_an_injected_set_of_strings_is_noticed() -> None:
    injected = traces(4, "injected")
    assert len({rows[-1] for rows in injected}) > 1
    differences = [first_difference(injected[0], other) for other in injected[1:] if other != injected[0]]
    assert differences
    assert all("Noted(t_us=" in difference for difference in differences), "the event is named, not the digest"
