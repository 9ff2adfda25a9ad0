"""Auto leader rebalance: leadership returns to the preferred replicas without a request (kafka-behaviour §4).

A broker that has restarted only follows. At intervals the controller checks each broker's share of the partitions that
prefer it and are led by others; where the share is too large, it holds a preferred election for them.
"""

from collections.abc import Callable

from attrs import define, frozen

from controller.context import ControllerContext
from controller.event_manager import ControllerEventManager
from controller.events import AutoPreferredReplicaLeaderElection
from controller.operations.preferred import PreferredElections
from controller.state_machines import leader_election_algorithms
from controller.zk_client import KafkaZkClient
from emulator.kernel import Timer
from emulator.logger import get_logger
from emulator.nodes import Process
from emulator.protocol.configs import ConfigType, config
from emulator.protocol.shown import LeadersLookedAt
from emulator.protocol.types import TopicPartition

Eligible = Callable[[ControllerContext, TopicPartition], bool]


def preferred_is_live(context: ControllerContext, tp: TopicPartition) -> bool:
    """Whether the preferred replica is online; the election may still find it outside the ISR (up to Kafka 2.5)."""
    return context.is_online(context.replicas(tp)[0], tp)


def preferred_could_lead(context: ControllerContext, tp: TopicPartition) -> bool:
    """Whether the preferred replica is online, and in the ISR as far as the controller knows (Kafka 2.6,
    KAFKA-9866)."""
    candidates = leader_election_algorithms.Candidates(
        context.replicas(tp), context.leadership_info[tp].isr, context.online(tp)
    )
    return leader_election_algorithms.preferred(candidates) is not None


log = get_logger("controller.rebalance")


@frozen
class AutoRebalance:
    """The settings of the rebalance.

    Attributes:
        enabled: auto.leader.rebalance.enable.
        percentage: leader.imbalance.per.broker.percentage: a larger share is too large.
        interval_us: leader.imbalance.check.interval.seconds, from the end of one check to the next.
        first_us: the time from a controller's election to its first check.
        eligible: the partitions for which an election is tried.
        during_moves: whether elections are held while any partition is being moved (KAFKA-10149, 3.4).
    """

    enabled: bool = config(
        "auto.leader.rebalance.enable", True, "whether leadership goes back to preferred replicas by itself"
    )
    percentage: int = config(
        "leader.imbalance.per.broker.percentage", 10, "the share led elsewhere that is too much", at_least=0
    )
    interval_us: int = config(
        "leader.imbalance.check.interval.seconds",
        300,
        "how often the controller looks at the shares",
        type=ConfigType.LONG,
    )
    first_us: int = 5_000_000
    eligible: Eligible = preferred_is_live
    during_moves: bool = False


@define(eq=False, repr=False)
class AutoLeaderRebalance:
    """The checks of the active controller. Their timer is in the background: a cluster without work stays settled.

    Attributes:
        balanced_after: the value of ``KafkaZkClient.asked`` when a check found that every partition is led by its
            preferred replica. Until it changes the leaders cannot have, so an idle cluster is not checked again.
    """

    process: Process
    settings: AutoRebalance
    context: ControllerContext
    zk_client: KafkaZkClient
    event_manager: ControllerEventManager
    elections: PreferredElections
    balanced_after: int = -1
    _timer: Timer | None = None

    def start(self) -> None:
        """Begin the checks: this controller has become active."""
        if self.settings.enabled:
            self._check_after(self.settings.first_us)

    def stop(self) -> None:
        """End the checks: this controller has resigned."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def due(self) -> bool:
        """Whether a timer for the next check is set."""
        return self._timer is not None

    async def check(self) -> None:
        """Check the imbalance, and set the timer for the next check."""
        await self._balance()
        self._check_after(self.settings.interval_us)
        self.process.show(LeadersLookedAt, self.process.node.id, self.settings.percentage)

    def _check_after(self, delay_us: int) -> None:
        event = AutoPreferredReplicaLeaderElection
        self._timer = self.process.call_later(delay_us, lambda _: self.event_manager.put(event()))

    async def _balance(self) -> None:
        """One pass over the partitions, then an election for each broker that leads too few of those that prefer it."""
        if self.balanced_after == self.zk_client.asked:
            return
        context = self.context
        if any(() in partitions.values() for partitions in context.assignments.values()):
            log.error("no leaders are given back: a partition has no replicas")  # Kafka's event fails, too
            return
        preferring: dict[int, int] = {}
        led_elsewhere: dict[int, list[TopicPartition]] = {}
        for topic, partitions in context.assignments.items():
            for partition, replicas in () if context.is_deleting(topic) else partitions.items():
                first = replicas[0]
                preferring[first] = preferring.get(first, 0) + 1
                state = context.leadership_info.get(TopicPartition(topic, partition))
                if state is not None and state.leader != first:
                    led_elsewhere.setdefault(first, []).append(TopicPartition(topic, partition))
        if not led_elsewhere:
            self.balanced_after = self.zk_client.asked
        for broker, elsewhere in sorted(led_elsewhere.items()):
            # Checked for each broker, since an election takes time; until 3.3 a move of any partition prevents all.
            too_many = len(elsewhere) * 100 > self.settings.percentage * preferring[broker]
            if too_many and (self.settings.during_moves or not context.reassignments):
                await self.elections.elect([tp for tp in elsewhere if self.settings.eligible(context, tp)])
