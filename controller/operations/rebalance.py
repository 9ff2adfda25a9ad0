"""Auto leader rebalance: leadership goes back to the preferred replicas by itself (kafka-behaviour §4).

A broker that has come back follows everywhere. From time to time the controller looks at each broker's share of the
partitions that prefer it and are led by others; where it is too large, it holds a preferred election for them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from attrs import define, frozen

from controller.context import Context
from controller.events.state import ControllerState
from controller.operations import preferred
from controller.states import selectors
from emulator.kernel import Timer
from emulator.protocol.configs import config
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from controller.controller import Controller

Eligible = Callable[[Context, TopicPartition], bool]


def preferred_is_live(context: Context, tp: TopicPartition) -> bool:
    """The preferred replica is up; the election may still find it outside the ISR (up to Kafka 2.5)."""
    return context.is_online(context.replicas(tp)[0], tp)


def preferred_could_lead(context: Context, tp: TopicPartition) -> bool:
    """It is up, and in the ISR as far as the controller knows (Kafka 2.6, KAFKA-9866)."""
    candidates = selectors.Candidates(context.replicas(tp), context.leadership[tp].isr, context.online(tp))
    return selectors.preferred(candidates) is not None


@frozen
class AutoRebalance:
    """When leadership is brought back.

    Attributes:
        enabled: auto.leader.rebalance.enable.
        percentage: leader.imbalance.per.broker.percentage: more than that share is too large.
        interval_us: leader.imbalance.check.interval.seconds, from the end of one look to the next.
        first_us: from a controller's election to its first look.
        eligible: the partitions for which an election is tried.
    """

    enabled: bool = config(
        "auto.leader.rebalance.enable", True, "whether leadership goes back to preferred replicas by itself"
    )
    percentage: int = config(
        "leader.imbalance.per.broker.percentage", 10, "the share led elsewhere that is too much", at_least=0
    )
    interval_us: int = config(
        "leader.imbalance.check.interval.seconds", 300, "how often the controller looks at the shares"
    )
    first_us: int = 5_000_000
    eligible: Eligible = preferred_is_live


@define(eq=False)
class AutoPreferredReplicaLeaderElection:
    """It is time to look."""

    state: ClassVar = ControllerState.AUTO_LEADER_BALANCE

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await balance(controller)
            controller.rebalance.after(controller, controller.policies.auto_rebalance.interval_us)


@define(eq=False)
class RebalanceTimer:
    """The next look of the present term. It is in the background: a cluster at rest stays settled.

    Attributes:
        balanced_after: how often ZooKeeper had been asked when a look found that every partition is led by its
            preferred replica. Until it is asked again nothing can have changed, so a cluster at rest is not gone
            through over and over.
    """

    balanced_after: int = -1
    _timer: Timer | None = None

    def begin(self, c: "Controller") -> None:
        """A term begins."""
        if c.policies.auto_rebalance.enabled:
            self.after(c, c.policies.auto_rebalance.first_us)

    def after(self, c: "Controller", delay_us: int) -> None:
        self._timer = c.process.call_later(delay_us, lambda _: c.queue.put(AutoPreferredReplicaLeaderElection()))

    def stop(self) -> None:
        """The term is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


async def balance(c: "Controller") -> None:
    """One pass over the partitions, then an election for each broker that leads too few of those that prefer it."""
    if c.rebalance.balanced_after == c.store.asked:
        return
    rule, context = c.policies.auto_rebalance, c.context
    preferring: dict[int, int] = {}
    led_elsewhere: dict[int, list[TopicPartition]] = {}
    for topic, partitions in context.assignments.items():
        for partition, replicas in () if context.is_deleting(topic) else partitions.items():
            first = replicas[0]
            preferring[first] = preferring.get(first, 0) + 1
            state = context.leadership.get(TopicPartition(topic, partition))
            if state is not None and state.leader != first:
                led_elsewhere.setdefault(first, []).append(TopicPartition(topic, partition))
    if not led_elsewhere:
        c.rebalance.balanced_after = c.store.asked
    for broker, elsewhere in sorted(led_elsewhere.items()):
        # Asked for each broker, since an election takes its time; a move anywhere keeps all where they are.
        if len(elsewhere) * 100 > rule.percentage * preferring[broker] and not context.moves:
            await preferred.elect_preferred(c, [tp for tp in elsewhere if rule.eligible(context, tp)])
