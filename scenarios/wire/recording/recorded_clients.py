"""Recorded clients as a part of any scenario: their frames arrive at the virtual times at which they came in, whatever
the brokers answer."""

from __future__ import annotations

from attrs import define, field

from scenarios.errors import BadInput
from scenarios.runs.runner import Stage
from scenarios.wire.gateway.gateway import Gateway
from scenarios.wire.inputs import Closed, Operation
from scenarios.wire.recording.answers import CountedAnswers
from scenarios.wire.recording.log import Ended, Entry, entries_of
from scenarios.wire.released_versions import is_release
from scenarios.wire.served import served_cluster
from scenarios.wire.versions import known_releases

FIRST_PORT = 9092


@define(eq=False)
class RecordedClients:
    """The clients of one run."""

    stage: Stage
    _entries: list[Entry] = field(init=False)
    _gateway: Gateway = field(init=False)
    _next: int = 0

    def __attrs_post_init__(self) -> None:
        """Raises: BadInput."""
        frames = self.stage.scenario.frames
        assert frames is not None
        if not is_release(frames.api_versions):
            raise BadInput(
                f"no release with versions of APIs: {frames.api_versions!r}; known: {known_releases()}",
                where="frames.api_versions",
            )
        brokers = self.stage.cluster.setup.brokers
        addresses = {broker: ("127.0.0.1", FIRST_PORT + place) for place, broker in enumerate(brokers)}
        served = served_cluster(self.stage, addresses, frames.api_versions)
        self._gateway = Gateway(
            self.stage.cluster, served, CountedAnswers(), _no_operation, lambda _: None, self.stage.defect
        )
        self._entries = [
            entry
            for entry in entries_of(frames.log(), "frames").entries
            if not isinstance(entry.what, Operation | Ended)
        ]

    def begin(self) -> None:
        """Begin to send: the cluster is up."""
        self._schedule()

    def _schedule(self) -> None:
        world = self.stage.world
        if self._next < len(self._entries):
            # In the foreground: the run does not end before the clients have.
            world.call_at(max(world.now, self._entries[self._next].t_us), self._perform)
        else:
            for number in list(self._gateway.connections):
                self._gateway.perform(Closed(number))

    def _perform(self, _: None) -> None:
        what = self._entries[self._next].what
        assert not isinstance(what, Ended)
        self._next += 1
        self._gateway.perform(what)
        self._schedule()


def _no_operation(operation: Operation) -> None:
    raise AssertionError(f"operations are entries of the method: {operation.text}")


def attach(stage: Stage) -> None:
    """Let the recorded clients of the stage's scenario attach."""
    RecordedClients(stage).begin()
