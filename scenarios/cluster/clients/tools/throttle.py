"""The throttle of kafka-reassign-partitions --throttle: lists on topics and rates on brokers, set before the plan and
cleared by --verify (ReassignPartitionsCommand, 2.3; KIP-73)."""

from collections.abc import Iterable

from emulator.protocol.assignments import without
from emulator.protocol.znodes import BROKER_IDS, broker_entity, topic_entity
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools import config_command
from scenarios.cluster.clients.tools.assignments import Assignments
from scenarios.language.kafka_settings import THROTTLED_REPLICAS
from scenarios.language.strategies import Throttle

SIDES = ("leader", "follower")
LISTS = THROTTLED_REPLICAS
RATES = tuple(f"{side}.replication.throttled.rate" for side in SIDES)
REASSIGNMENT_RATES = tuple(f"{side}.reassignment.throttled.rate" for side in SIDES)
COPY_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
BROKER_RATES = (*RATES, *REASSIGNMENT_RATES, COPY_RATE)


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
    operator: Operator, throttle: Throttle, before: Assignments, moves: Assignments, *, all_leaders: bool = False
) -> None:
    """List the replicas that ``moves`` copy from and to (KIP-542's rule needs no list), then limit their brokers.

    Args:
        before: the current replicas of the plan's topics.
        all_leaders: see ``throttled_lists``.
    """
    if not throttle.only_reassigned:
        for topic, lists in throttled_lists(before, moves, all_leaders=all_leaders).items():
            await config_command.alter(operator, [topic_entity(topic)], lists)
    await limit(operator, throttle, before, moves)


async def limit(operator: Operator, throttle: Throttle, before: Assignments, moves: Assignments) -> None:
    """Set the rates alone, on every broker of ``before`` and ``moves``."""
    rates = REASSIGNMENT_RATES if throttle.only_reassigned else RATES
    await config_command.alter(operator, involved(before, moves), dict.fromkeys(rates, str(throttle.rate)))


def involved(before: Assignments, moves: Assignments, others: Iterable[int] = ()) -> list[str]:
    """The entities of the brokers that have a replica or will get one, and of ``others``, by their ids."""
    replicas = (broker for replicas in (*before.values(), *moves.values()) for broker in replicas)
    return [broker_entity(broker) for broker in sorted({*replicas, *others})]


async def lift(operator: Operator, topics: Iterable[str], also: Iterable[int] = ()) -> bool:
    """Clear every rate of every registered broker and of those in ``also``, whichever command set it, and the lists of
    ``topics``; another broker that is down keeps its rates. Returns whether anything was set."""
    brokers = sorted({*map(int, await operator.zk.children(BROKER_IDS)), *also})
    rates = await config_command.remove(operator, map(broker_entity, brokers), BROKER_RATES)
    lists = await config_command.remove(operator, map(topic_entity, topics), LISTS)
    return rates or lists
