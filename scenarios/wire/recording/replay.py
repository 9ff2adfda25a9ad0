"""The replay of a recorded live run in virtual time: no sockets, no clock."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from emulator.kernel.live import UNBOUNDED, LiveWorld
from scenarios.runs.record import Recording, write_trace
from scenarios.runs.run import Run
from scenarios.runs.runner import conclude
from scenarios.wire.gateway.gateway import Gateway
from scenarios.wire.inputs import Input, Operation
from scenarios.wire.live_stage import LiveStage
from scenarios.wire.operations.performing import ACTION, Operations
from scenarios.wire.operations.run_operations import STOP
from scenarios.wire.recording.answers import CountedAnswers
from scenarios.wire.recording.folder import RecordedLiveRun
from scenarios.wire.recording.log import Ended, Entry
from scenarios.wire.served import served_cluster


@define(eq=False)
class ReplayedInputs:
    """The inputs of a log, each at its virtual time. The last one stops the run.

    Attributes:
        entries: the entries in order; at least one.
        perform: handles each input, in the world.
    """

    entries: Iterator[Entry]
    perform: Callable[[Any], object] = field(init=False)
    _coming: Entry | None = field(init=False)
    """The next entry; None: the last one was taken."""
    _coming_us: int = field(init=False)
    """The time of that, or of the last one."""
    _began_us: int = UNBOUNDED

    def __attrs_post_init__(self) -> None:
        self._coming = next(self.entries)
        self._coming_us = self._coming.t_us

    def begin(self, now_us: int) -> None:
        """Let time wait for inputs from now on: the cluster is up."""
        self._began_us = now_us

    def horizon_us(self, _next_us: float) -> int:
        """The time of the next input, whatever is due before."""
        return self._due_us

    @property
    def _due_us(self) -> int:
        """The time of the next input. If that is too early, as the end of a run without inputs is, it is the first time
        at which there can be inputs."""
        return max(self._coming_us, self._began_us)

    def take(self, now_us: int) -> Input | None:
        """The next input, at its time."""
        if self._coming is None or self._due_us != now_us:
            return None
        what = self._coming.what
        assert not isinstance(what, Ended)
        self._coming = next(self.entries, None)
        if self._coming is not None:
            self._coming_us = self._coming.t_us
        return what

    def seconds_until(self, _t_us: float) -> float:
        """Zero: no time passes outside."""
        return 0.0


@frozen
class Replay:
    """A replay, judged.

    Attributes:
        run: the run, judged like any other.
        same: whether the trace and the answers are those of the live run; None: unknown, because the live run was
            killed before it recorded them, or only its beginning was replayed.
    """

    run: Run
    same: bool | None


@define(eq=False)
class ReplayedRun:
    """One replay.

    Attributes:
        until_us: the virtual time at which it stops; None: where the live run ended.
        on_event: called with every chunk of events.
    """

    recorded: RecordedLiveRun
    until_us: int | None = None
    on_event: Callable[[list[Any]], None] | None = None
    _inputs: ReplayedInputs = field(init=False)
    _stage: LiveStage = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._inputs = ReplayedInputs(_stopped(self.recorded.inputs.entries, self.until_us))

    def play(self, trace_dir: Path | None = None) -> Replay:
        """Replay and judge. ``trace_dir``: the folder for the data set of the run. Raises: BadInput."""
        if trace_dir is not None:
            from scenarios.extras import need_study

            need_study("a recorded run")
        recorded, inputs = self.recorded, self._inputs
        self._stage = stage = LiveStage(
            recorded.scenario, keep_rows=trace_dir is not None, inputs=inputs, ready=self._ready
        )
        stage.cluster.epoch_us = recorded.served.clock_us
        recording = None if trace_dir is None else Recording(stage)
        if self.on_event is not None:
            stage.cluster.trace.sink(self.on_event)
        answers = CountedAnswers()
        as_served = recorded.served
        served = served_cluster(
            stage, as_served.addresses, as_served.api_versions, as_served.listens, as_served.secured
        )
        gateway = Gateway(stage.cluster, served, answers, Operations(stage).perform, lambda _: None, stage.defect)
        inputs.perform = gateway.perform
        began = time.perf_counter()
        stage.play()
        run, figures = conclude(stage, recorded.scenario, time.perf_counter() - began, replay=recorded.replay)
        if trace_dir is not None and recording is not None:
            write_trace(run, recorded.scenario, figures, recording.tables(run), trace_dir, overwrite=True)
        ended = recorded.inputs.ended
        whole = ended is not None and (self.until_us is None or self.until_us >= recorded.inputs.last_us)
        return Replay(run, Ended(run.digest, answers.checksum) == ended if whole else None)

    def _ready(self) -> None:
        world = self._stage.world
        assert isinstance(world, LiveWorld)
        self._inputs.begin(world.now)
        world.horizon_moved()


def _stopped(entries: Iterable[Entry], until_us: int | None) -> Iterator[Entry]:
    """The inputs up to ``until_us`` (None: all), and after them an input that stops the run."""
    stop, last_us = Operation(json.dumps({ACTION: STOP})), 0
    for entry in entries:
        if isinstance(entry.what, Ended):
            break
        if until_us is not None and entry.t_us > until_us:
            last_us = until_us
            break
        last_us = entry.t_us
        yield entry
    yield Entry(last_us, stop)
