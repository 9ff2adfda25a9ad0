"""The throttle of kafka-reassign-partitions --throttle: lists on topics and rates on brokers, set before the plan and
cleared by --verify (ReassignPartitionsCommand, 2.3; KIP-73).

The tool of 2.6 and later has each broker write its own rates, if it is used with --bootstrap-server. A broker that is
down is waited for, as long as its admin client waits; then the command fails, where it is (KAFKA-13392, open in 3.9.0).
"""

from collections.abc import Awaitable, Callable, Iterable

from emulator.protocol.assignments import without
from emulator.protocol.errors import Errors
from emulator.protocol.znodes import BROKER_IDS, broker_entity, topic_entity
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools import config_command
from scenarios.cluster.clients.tools.assignments import Assignments
from scenarios.cluster.clients.tools.command_outcome import CommandOutcome
from scenarios.language.kafka_settings import THROTTLED_REPLICAS
from scenarios.language.strategies import Throttle

SIDES = ("leader", "follower")
LISTS = THROTTLED_REPLICAS
RATES = tuple(f"{side}.replication.throttled.rate" for side in SIDES)
REASSIGNMENT_RATES = tuple(f"{side}.reassignment.throttled.rate" for side in SIDES)
LOOKS_EVERY_US = 1_000_000
"""The time between two looks for a broker that is down; Kafka's client asks for metadata every retry.backoff.ms."""
COPY_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
BROKER_RATES = (*RATES, *REASSIGNMENT_RATES, COPY_RATE)


class BrokersDown(Exception):
    """A command gave up, for the brokers with these ids were down."""

    def __init__(self, brokers: Iterable[int]) -> None:
        names = ", ".join(f"broker {broker}" for broker in brokers)
        super().__init__(names)
        self.outcome = CommandOutcome(((names, Errors.REQUEST_TIMED_OUT),))


def throttled_lists(before: Assignments, moves: Assignments, *, all_leaders: bool = False) -> dict[str, dict[str, str]]:
    """The two lists of throttled replicas of each topic of ``moves``, for the partitions that gain a replica. Leaders:
    all replicas from before the move, since any of them may lead. Followers: the gained replicas.

    ``all_leaders``: list the partitions that gain no replica too, and sort the entries as texts, as the tool does since
    2.6.
    """
    lists: dict[str, dict[str, str]] = {}
    for topic in dict.fromkeys(tp.topic for tp in moves):
        leaders, followers = [], []
        for tp, target in moves.items():
            gained = without(target, before.get(tp, ()))
            if tp.topic == topic and (gained or all_leaders):
                leaders += [f"{tp.partition}:{broker}" for broker in before.get(tp, ())]
                followers += [f"{tp.partition}:{broker}" for broker in gained]
        if all_leaders:
            leaders.sort()
            followers.sort()
        lists[topic] = dict(zip(LISTS, (",".join(leaders), ",".join(followers)), strict=True))
    return lists


async def impose(
    operator: Operator,
    throttle: Throttle,
    before: Assignments,
    moves: Assignments,
    *,
    all_leaders: bool = False,
    by_brokers: bool = False,
) -> None:
    """List the replicas that ``moves`` copy from and to (KIP-542's rule needs no list), then limit their brokers.

    Args:
        before: the current replicas of the plan's topics.
        all_leaders: see ``throttled_lists``.
        by_brokers: whether brokers write their rates.

    Raises: BrokersDown.
    """
    if not throttle.only_reassigned:
        for topic, lists in throttled_lists(before, moves, all_leaders=all_leaders).items():
            await config_command.alter(operator, [topic_entity(topic)], lists)
    await limit(operator, throttle, before, moves, by_brokers=by_brokers)


async def limit(
    operator: Operator, throttle: Throttle, before: Assignments, moves: Assignments, *, by_brokers: bool = False
) -> None:
    """Set the rates alone, on every broker of ``before`` and ``moves``. Raises: BrokersDown."""
    rates = REASSIGNMENT_RATES if throttle.only_reassigned else RATES
    settings = dict.fromkeys(rates, str(throttle.rate))

    async def set_on(brokers: Iterable[int]) -> None:
        await config_command.alter(operator, map(broker_entity, brokers), settings)

    await _on(operator, _involved(before, moves), set_on, set(operator.admin.live), by_brokers=by_brokers)


def involved(before: Assignments, moves: Assignments, others: Iterable[int] = ()) -> list[str]:
    """The entities of the brokers that have a replica or will get one, and of ``others``, by their ids."""
    return list(map(broker_entity, _involved(before, moves, others)))


def _involved(before: Assignments, moves: Assignments, others: Iterable[int] = ()) -> list[int]:
    replicas = (broker for replicas in (*before.values(), *moves.values()) for broker in replicas)
    return sorted({*replicas, *others})


async def lift(
    operator: Operator, topics: Iterable[str], also: Iterable[int] = (), *, by_brokers: bool = False
) -> bool:
    """Clear every rate of every registered broker and of those in ``also``, whichever command set it, and the lists of
    ``topics``; another broker that is down keeps its rates. Returns whether anything was set. Raises: BrokersDown,
    before it clears the lists."""
    rates = False

    async def clear(brokers: Iterable[int]) -> None:
        nonlocal rates
        entities = map(broker_entity, brokers)
        rates = await config_command.remove(operator, entities, BROKER_RATES, by_broker=by_brokers) or rates

    up = await _registered(operator)
    await _on(operator, sorted({*up, *also}), clear, up, by_brokers=by_brokers)
    lists = await config_command.remove(operator, map(topic_entity, topics), LISTS, by_broker=by_brokers)
    return rates or lists


async def _registered(operator: Operator) -> set[int]:
    return set(map(int, await operator.zk.children(BROKER_IDS)))


async def _on(
    operator: Operator,
    brokers: list[int],
    change: Callable[[Iterable[int]], Awaitable[None]],
    up: set[int],
    *,
    by_brokers: bool,
) -> None:
    """``change`` something of ``brokers``; if they do it themselves, of each as soon as it is up. ``up``: those that
    are now."""
    if not by_brokers:
        await change(brokers)
        return
    world = operator.process.world
    deadline_us = world.now + operator.admin.api_timeout_us
    await change([broker for broker in brokers if broker in up])
    while brokers := [broker for broker in brokers if broker not in up]:
        if world.now >= deadline_us:
            raise BrokersDown(brokers)
        await world.sleep(LOOKS_EVERY_US)
        up = await _registered(operator)
        await change([broker for broker in brokers if broker in up])
