"""S20: a leader refuses a batch, or a fetch, only for a reason."""

from __future__ import annotations

from emulator.protocol import znodes
from emulator.protocol.fetch import ReadRefused
from emulator.protocol.shown import ProduceRefused
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Gravity
from scenarios.observe.checkers.role_refusals import RoleRefusals
from scenarios.observe.findings.client_facts import FollowerRefuses, ReadRefusedInVain, RefusedInVain
from scenarios.observe.history.settings_history import MIN_ISR

NO_LEADER, TOO_FEW = "NOT_LEADER_FOR_PARTITION", "NOT_ENOUGH_REPLICAS"
UNKNOWN = "UNKNOWN_TOPIC_OR_PARTITION"
KNOWN_US = 10_000_000
"""How long after it became leader a broker may not know the topic: the controller sends the metadata with it."""


class LeadersAccept(RoleRefusals):
    """A leader takes what producers write, and gives what readers ask for: it says that it leads no more only when it
    does not, and that too few replicas are in sync only while its ISR has fewer than min.insync.replicas
    (Partition.appendRecordsToLeader and fetchOffsetSnapshot, 0.8 to 3.9). A broker that does not lead says so.

    Verified: each batch that a broker refuses with NOT_LEADER_FOR_PARTITION or NOT_ENOUGH_REPLICAS, against the role
        and the ISR that it has received or written itself. For a minute after a change of the setting any of its values
        will do. Where it counts as the number of replicas at most (KAFKA-15583, 3.7), they are those that the leader
        has received. Each partition of a fetch that it refuses with NOT_LEADER_FOR_PARTITION; with
        UNKNOWN_TOPIC_OR_PARTITION, where it has led for 10 s and nothing was between it and the controller.

    Not verified: other errors (``no_batch_twice`` looks at sequence numbers, ``polls_go_on`` at positions); followers
        that are not assigned, as far as their leader knows, and may not read; topics that are being deleted; brokers
        that have a min.insync.replicas of their own; that the broker knows the setting of now (``broker_remembers``).
    """

    ids = ("S20",)
    gravity = Gravity.LIVENESS
    statement = (
        "refused(batch) ⇒ ¬leads ∨ |isr| < min.insync.replicas, refused(fetch) ⇒ ¬leads: "
        "a leader refuses a batch, or a fetch, only for a reason"
    )
    fails_when = "a leader wants one replica more in sync than it has to"

    def begin(self) -> None:
        super().begin()
        self._settings = self.history.settings
        self._own: dict[int, None] = {}
        """The brokers that have a setting of their own."""

    def on_written(self, event: ZkWritten) -> None:
        if event.path.startswith(znodes.CONFIG_BROKERS + "/") and MIN_ISR in event.data:
            name = event.path.rpartition("/")[2]
            if name.isdigit():
                self._own[int(name)] = None

    def on_refused(self, event: ProduceRefused) -> None:
        if event.error not in (NO_LEADER, TOO_FEW):
            return
        node, tp = event.node, TopicPartition.of(event.topic, event.partition)
        led = self.cluster.as_led(node, tp)
        if led is None or self.cluster.leads(node, tp) is None:
            if event.error == TOO_FEW and self.cluster.follows(node, tp) is not None:
                self.violated(event, FollowerRefuses(node, event.error), tp, (node,))
            return
        replicas = len(led.replicas) or len(self.cluster.assignment(tp))
        least = max(self._settings.min_isrs(event.topic, replicas, event.t_us))
        facts = RefusedInVain(node, event.error, led.isr, least)
        if event.error == NO_LEADER:
            self.refused(event, tp, facts)
        elif len(led.isr) >= least and node not in self._own:
            self.violated(event, facts, tp, (node,))

    def on_read_refused(self, event: ReadRefused) -> None:
        if event.error not in (NO_LEADER, UNKNOWN):
            return
        node, tp, reader = event.node, event.tp, event.reader
        led, role = self.cluster.as_led(node, tp), self.cluster.leads(node, tp)
        if led is None or role is None or self.cluster.is_deleting(tp.topic):
            return
        if reader >= 0 and reader not in led.replicas:
            return
        facts = ReadRefusedInVain(node, event.error, reader)
        if event.error == NO_LEADER:
            self.refused(event, tp, facts)
            return
        reached_us = self.now.reached_since_us(node)
        if reached_us is not None and event.t_us - max(role.t_us, reached_us) > KNOWN_US:
            self.violated(event, facts, tp, (node,))
