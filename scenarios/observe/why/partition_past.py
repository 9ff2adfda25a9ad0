"""The past of one partition up to a moment, from the events of a run: the basis of every answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

from attrs import evolve

from controller.procedures import STEPS
from controller.reassignment.protocol import ReassignmentProtocol
from controller.shapes import SHAPES
from emulator.protocol.events import ControllerElected, ControlRequest, LogDirFailed, NodeStarted
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.protocol.znodes import LeaderAndIsr, broker_entity, broker_path, state_path, topic_entity
from emulator.trace.events import ZkWritten
from scenarios.observe.history.quotas import QuotaUse, ThrottledReplica
from scenarios.observe.timeline.explain import chain
from scenarios.observe.timeline.moment import ClusterMoment, Moments, PartitionState, partition_state
from scenarios.observe.timeline.selection import may_name

LINKS = 6
"""The most links of a chain of causes: what came before explains little."""


class Stated(NamedTuple):
    """A write of the partition's state to ZooKeeper. ``state``: None where it was deleted."""

    event: ZkWritten
    state: LeaderAndIsr | None

    @property
    def isr(self) -> tuple[int, ...]:
        return () if self.state is None else self.state.isr

    @property
    def leader(self) -> int:
        return NO_LEADER if self.state is None else self.state.leader


class Seen(NamedTuple):
    """Facts that a run knows of its logs as it goes on, though not all of their events are kept.

    Attributes:
        end: the end of the log of a broker's replica; None: nothing was seen of it.
    """

    end: Callable[[int, TopicPartition], int | None]
    quotas: tuple[QuotaUse, ...]


class PartitionPast:
    """The events of a run up to a moment.

    Attributes:
        events: the events of the run, in their order.
        tp: the partition that is asked about.
        at_us: the moment.
        moment: the state of the cluster then.
    """

    def __init__(
        self,
        events: Sequence[Any],
        tp: TopicPartition,
        at_us: int,
        protocol: ReassignmentProtocol | None = None,
        seen: Seen | None = None,
        by_seq: Mapping[int, Any] | None = None,
    ) -> None:
        """``protocol``: how the run moves partitions; None: not known. ``seen``: what is known where ``events`` lack
        those of logs. ``by_seq``: has the causes that are not among ``events``."""
        moments = Moments()
        self.events: list[Any] = []
        self._of_kind: dict[type, list[Any]] = {}
        self._writes: dict[str, list[ZkWritten]] = {}
        for event in events:
            if event.t_us > at_us:
                break
            self.events.append(event)
            self._of_kind.setdefault(type(event), []).append(event)
            if type(event) is ZkWritten:
                self._writes.setdefault(event.path, []).append(event)
            moments.see(event)
        self.tp = tp
        self.at_us = at_us
        self._protocol = protocol
        self._by_seq = by_seq
        moment = moments.now(at_us)
        self.moment: ClusterMoment = moment if seen is None else evolve(moment, quotas=seen.quotas)
        self._end = moments.log_end if seen is None else seen.end
        self._past = moments.past
        self._cluster = moments.past.now

    def about(self, tp: TopicPartition) -> PartitionPast:
        """The past of another partition, from the same events."""
        other = copy(self)
        other.tp = tp
        return other

    def at(self, t_us: int) -> PartitionPast:
        """The past of the partition as it was at an earlier moment."""
        return PartitionPast(self.events, self.tp, t_us, self._protocol, by_seq=self._by_seq)

    # -- looking back ----------------------------------------------------------------------------------------------

    def last(self, kind: Any, fits: Callable[[Any], bool] = lambda _: True, before: int | None = None) -> Any:
        """The newest event of a kind that fits, with a ``seq`` below ``before``; None: there is none."""
        for event in reversed(self._of_kind.get(kind, [])):
            if (before is None or event.seq < before) and fits(event):
                return event
        return None

    def first(self, kind: Any, fits: Callable[[Any], bool]) -> Any:
        """The oldest event of a kind that fits; None: there is none."""
        return next((event for event in self._of_kind.get(kind, []) if fits(event)), None)

    def of_partition(self, kind: type, fits: Callable[[Any], bool] = lambda _: True, before: int | None = None) -> Any:
        """The last event of a kind about the partition (``last``)."""
        return self.last(kind, lambda event: self.names(event) and fits(event), before)

    def names(self, event: Any) -> bool:
        """Whether the event is one of the partition."""
        return (event.topic, event.partition) == self.tp

    def causes(self, seq: int) -> tuple[Any, ...]:
        """The chain of causes that ends with event ``seq``, oldest first: its last links."""
        return chain(self._known, seq).events[-LINKS:]

    @cached_property
    def _known(self) -> Mapping[int, Any]:
        return {event.seq: event for event in self.events} if self._by_seq is None else self._by_seq

    # -- the partition ---------------------------------------------------------------------------------------------

    @property
    def state(self) -> PartitionState | None:
        """The partition as ZooKeeper has it at the moment; None: it does not exist."""
        return partition_state(self._cluster, self.tp)

    @property
    def is_requested(self) -> bool:
        """Whether /admin/reassign_partitions names the partition at the moment."""
        return self.tp in self._cluster.requested_moves()

    @property
    def stated(self) -> tuple[Stated, ...]:
        """All writes of its state, oldest first; of a topic that was made again under its name, those since then."""
        found: list[Stated] = []
        for event in self._writes.get(state_path(self.tp), ()):
            if found and found[-1].state is None:
                found.clear()
            state = None if event.op == "delete" else LeaderAndIsr.decode(event.data, event.version)
            found.append(Stated(event, state))
        return tuple(found)

    def changed(self, holds: Callable[[Stated], bool]) -> Stated | None:
        """The write with which ``holds`` last became true or false; None: it was so from the first write on."""
        before: Stated | None = None
        found: Stated | None = None
        for now in self.stated:
            if before is not None and holds(before) != holds(now):
                found = now
            before = now
        return found

    def log_end(self, broker: int) -> int | None:
        """The end of the log of a broker's replica; None: nothing was seen of it."""
        return self._end(broker, self.tp)

    def protocol(self, step: str) -> ReassignmentProtocol:
        """The protocol that carries out a step of a move. Where it is not known, the shape that has the name of the
        step's protocol."""
        return self._protocol or SHAPES[STEPS[step].name].make(1)

    # -- brokers ---------------------------------------------------------------------------------------------------

    @property
    def brokers(self) -> tuple[int, ...]:
        """The brokers that have ever started."""
        return tuple(sorted(node for node in self._cluster.lives if node >= 0))

    def stopped(self, broker: int) -> Any:
        """The crash with which a broker went down, or its pause; None where it runs."""
        if self._cluster.is_down(broker):
            return self._cluster.ends[broker]
        return self._cluster.paused.get(broker)

    def failed_directory(self, broker: int) -> Any:
        """The failure of one of a broker's log directories since it started (KIP-112)."""
        started = self.last(NodeStarted, lambda start: start.node == broker)
        return self.last(
            LogDirFailed, lambda event: event.node == broker and (started is None or event.seq > started.seq)
        )

    def cut(self, one: int, other: int) -> Any:
        """The event that cut one of the routes between two machines, if one is cut."""
        cuts = (self._cluster.cut.get(route) for route in ((one, other), (other, one)))
        return max((event for event in cuts if event is not None), key=lambda event: event.seq, default=None)

    def held_back(self, broker: int) -> tuple[QuotaUse, ThrottledReplica] | None:
        """The exhausted quota that holds back a broker's replica of the partition, one that is used up first."""
        found = [
            (use, held)
            for use in self.moment.quotas
            for held in use.held
            if (held.partition, held.broker) == (str(self.tp), broker)
        ]
        return min(found, key=lambda one: not one[0].used_up, default=None)

    def throttle(self, use: QuotaUse) -> tuple[ZkWritten, ZkWritten]:
        """The writes that set a quota's rate, and the list of the topic's replicas that it limits."""
        rate, listed = f"/config/{broker_entity(use.broker)}", f"/config/{topic_entity(self.tp.topic)}"
        return self._writes[rate][-1], self._writes[listed][-1]

    def registration(self, broker: int) -> ZkWritten | None:
        """The last write of a broker's znode; None: it has never registered."""
        return next(reversed(self._writes.get(broker_path(broker), [])), None)

    def deregistered(self, broker: int, before: int) -> Any:
        """The deletion of a broker's registration before event ``before``, where it has not registered since."""
        writes = self._writes.get(broker_path(broker), [])
        last = next((write for write in reversed(writes) if write.seq < before), None)
        return last if last is not None and last.op == "delete" else None

    def expired(self, broker: int, before: int) -> Any:
        """The expiry of a broker's newest session before event ``before``; None where that one stands."""
        then = self._past.before(before)
        newest, expiry = then.newest_sessions.get(broker), then.expiries.get(broker)
        if newest is None or expiry is None or expiry.session != newest.session:
            return None
        return expiry

    def requested(self, api: str, broker: int, after: int) -> Any:
        """The newest control request to a broker after event ``after`` that names the partition, or names more
        partitions than its event lists."""
        return self.last(
            ControlRequest,
            lambda event: (event.api, event.broker) == (api, broker) and event.seq > after and may_name(event, self.tp),
        )

    def controller_of(self, epoch: int) -> int:
        """The broker that was the controller of an epoch; -1: unknown."""
        elected = self.last(ControllerElected, lambda event: event.controller_epoch == epoch)
        return -1 if elected is None else int(elected.node)
