"""E1: a leader epoch belongs to one broker."""

from __future__ import annotations

from emulator.protocol.events import BecameLeader, LeaderElected
from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from scenarios.observe.checkers.checker import Checker, shared
from scenarios.observe.findings.epoch_facts import LeadsBy, TwoLeaders
from scenarios.observe.past.changes import StateWritten


class OneLeaderPerEpoch(Checker):
    """The first broker that leads a partition in an epoch, or is named as its leader in ZooKeeper, is the only one in
    that epoch.

    Verified: the state znodes, the controller's elections and the brokers' adoptions of leadership name one broker per
        partition and epoch, and agree with each other: a broker that leads an epoch which ZooKeeper gave to another
        broker is as wrong as two leaders. A partition that is deleted and created again starts with new epochs.

    Not verified: that epochs grow (E2); that a deposed leader stops (it may lead its old epoch for any length of
        time); that the leader is in the ISR (S4).
    """

    ids = ("E1",)
    statement = "leads[p, e] is set once: no two brokers lead one partition in the same leader epoch"
    catches = ("KAFKA-1188",)
    fails_when = "an election does not raise the epoch"

    def begin(self) -> None:
        self._leads: dict[int, dict[TopicPartition, tuple[int, LeadsBy]]] = {}
        """Leaders by epoch, and not by partition first: there are few epochs and many partitions."""

    def on_state(self, event: StateWritten) -> None:
        if event.state is None:
            for leads in self._leads.values():
                leads.pop(event.tp, None)
        else:
            self._check(event, event.tp, event.state.leader_epoch, event.state.leader, "znode")

    def on_elected(self, event: LeaderElected) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._check(event, tp, event.leader_epoch, event.leader, "election")

    def on_became_leader(self, event: BecameLeader) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._check(event, tp, event.leader_epoch, event.node, "role")

    def _check(self, event: Event, tp: TopicPartition, leader_epoch: int, leader: int, by: LeadsBy) -> None:
        if leader < 0:
            return
        first, first_by = self._leads.setdefault(leader_epoch, {}).setdefault(tp, shared((leader, by)))
        if first != leader:
            self.violated(event, TwoLeaders(leader_epoch, first, first_by, leader, by), tp)
