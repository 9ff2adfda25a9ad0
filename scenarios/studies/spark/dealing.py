"""The division of a sweep's runs into chunks that take about the same time, however long a run takes.

The first chunk of an arm is a single run; later ones have as many as should take ``CHUNK_S``, by the time of its runs
so far. Towards the end chunks become smaller, so that no core waits long for the last one. The arms go on side by side:
a sweep that is interrupted has runs with the same seeds under all of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Mapping

from attrs import define, field

from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.run_record import RunSpec

CHUNK_S = 5.0
"""The time of a chunk. It is long beside the start of a task and the writing of a dozen files (some 50 ms), and short
beside a sweep."""

MOST_RUNS = 100
_SHARE = 2
"""The divisor of a core's share of the remaining runs: it gets half of it at once."""


def _left(specs: Mapping[Arm, tuple[RunSpec, ...]]) -> dict[Arm, deque[RunSpec]]:
    return {arm: deque(of_arm) for arm, of_arm in specs.items()}


@define
class Dealing:
    """The runs that are not handed out yet.

    Attributes:
        left: these runs by arm, in the order of seeds.
        seconds: the recent time of a run of each arm.
    """

    left: dict[Arm, deque[RunSpec]] = field(converter=_left)
    seconds: dict[Arm, float] = field(factory=dict)
    _again: deque[RunSpec] = field(init=False, factory=deque)
    _total: dict[Arm, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._total = {arm: len(specs) for arm, specs in self.left.items()}

    def __len__(self) -> int:
        return len(self._again) + sum(map(len, self.left.values()))

    def deal(self, cores: int) -> tuple[RunSpec, ...]:
        """The next runs for one core of ``cores``, all of one arm; empty when no run is left."""
        if self._again:
            return (self._again.popleft(),)
        arms = [arm for arm, specs in self.left.items() if specs]
        if not arms:
            return ()
        arm = max(arms, key=lambda arm: len(self.left[arm]) / self._total[arm])  # the first of those equally far
        specs, size = self.left[arm], self._size(arm, cores)
        return tuple(specs.popleft() for _ in range(min(size, len(specs))))

    def _size(self, arm: Arm, cores: int) -> int:
        seconds = self.seconds.get(arm)
        if seconds is None:
            return 1
        share = -(-len(self) // (_SHARE * cores))
        return max(1, min(MOST_RUNS, share, int(CHUNK_S / max(seconds, 1e-6))))

    def took(self, arm: Arm, runs: int, seconds: float) -> None:
        """Take note of the time of a chunk that is done."""
        self.seconds[arm] = seconds / runs

    def again(self, specs: tuple[RunSpec, ...]) -> None:
        """Hand these runs out again, before the others and each by itself."""
        self._again.extend(specs)


def without(specs: Mapping[Arm, tuple[RunSpec, ...]], done: Container[str]) -> dict[Arm, tuple[RunSpec, ...]]:
    """The runs without those that are done."""
    return {arm: tuple(spec for spec in of_arm if spec.run_id not in done) for arm, of_arm in specs.items()}
