"""S20: a leader refuses a batch only for a reason."""

from __future__ import annotations

from emulator.protocol import znodes
from emulator.protocol.events import BecameFollower, ReplicaOffline, ReplicaStopped
from emulator.protocol.shown import ProduceRefused
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.findings.client_facts import RefusedInVain
from scenarios.observe.history.settings_history import MIN_ISR

NO_LEADER, TOO_FEW = "NOT_LEADER_FOR_PARTITION", "NOT_ENOUGH_REPLICAS"


class LeadersAccept(Checker):
    """A leader takes what producers write: it says that it leads no more only when it does not, and that too few
    replicas are in sync only while its ISR has fewer than min.insync.replicas (Partition.appendRecordsToLeader, 0.8 to
    3.0).

    Verified: each batch that a broker refuses with NOT_LEADER_FOR_PARTITION or NOT_ENOUGH_REPLICAS, against the role
        and the ISR that it has received or written itself. For a minute after a change of the setting any of its values
        will do. Where it counts as the number of replicas at most (KAFKA-15583, 3.7), they are those that the leader
        has received.

    Not verified: other errors (``no_batch_twice`` looks at sequence numbers); brokers that have a min.insync.replicas
        of their own; that the broker knows the setting of now (``broker_remembers``).
    """

    ids = ("S20",)
    gravity = Gravity.LIVENESS
    statement = "refused(batch) ⇒ ¬leads ∨ |isr| < min.insync.replicas: a leader refuses a batch only for a reason"
    fails_when = "a leader wants one replica more in sync than it has to"

    def begin(self) -> None:
        self._settings = self.history.settings
        self._own: dict[int, None] = {}
        """The brokers that have a setting of their own."""
        self._refused: dict[tuple[int, TopicPartition], tuple[ProduceRefused, RefusedInVain]] = {}
        """The batches that brokers refused since the last look as they lead no more, which nothing has shown. It may
        show yet: a broker that becomes a follower answers those that wait first, and takes their next requests."""

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
            return
        replicas = len(led.replicas) or len(self.cluster.assignment(tp))
        least = max(self._settings.min_isrs(event.topic, replicas, event.t_us))
        facts = RefusedInVain(node, event.error, led.isr, least)
        if event.error == NO_LEADER:
            self._refused[node, tp] = event, facts
        elif len(led.isr) >= least and node not in self._own:
            self.violated(event, facts, tp, (node,))

    def on_end(self, event: BecameFollower | ReplicaStopped | ReplicaOffline) -> None:
        if self._refused:
            self._refused.pop((event.node, TopicPartition.of(event.topic, event.partition)), None)

    def look(self, moment: Moment) -> None:
        refused, self._refused = self._refused, {}
        for (node, tp), (event, facts) in refused.items():
            self.violated(event, facts, tp, (node,))

    def finish(self) -> None:
        for (node, tp), (event, facts) in self._refused.items():
            self.violated(event, facts, tp, (node,))
