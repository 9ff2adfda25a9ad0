"""Refused: topics, workloads and consumers."""

from tests.scenarios.language.builders import small_and, small_with
from tests.scenarios.language.refusals.writing import Case

CASES: dict[str, Case] = {
    "topic on unknown broker": (
        small_with("[1, 2, 3]", "[1, 2, 9]"),
        "topics[0].assignment[1]: broker 9",
        "from 0 to 6",
    ),
    "topic with a replica twice": (
        small_with("[1, 2, 3]", "[1, 2, 2]"),
        "topics[0].assignment[1][2]: 2",
        "twice",
    ),
    "uneven replica lists": (small_with("[1, 2, 3]", "[1, 2]"), "topics[0].assignment[1]", "same number"),
    "partitions that disagree": (
        small_with('name = "orders"', 'name = "orders"\npartitions = 3'),
        "topics[0].partitions",
        "make them agree",
    ),
    "topic twice": (small_and("[[topics]]", 'name = "orders"'), "topics[1].name", "is there already"),
    "illegal topic name": (small_and("[[topics]]", 'name = "a b"'), "topics[1].name", "no topic name"),
    "more replicas than brokers": (
        small_and("[[topics]]", 'name = "b"', "replication_factor = 8"),
        "topics[1].replication_factor",
        "do not fit on 7 brokers",
    ),
    "load on unknown topic": (
        small_with('topic = "orders"\np', 'topic = "order"\np'),
        "workloads[0].topic",
        "'orders'?",
    ),
    "impossible acks": (small_with("= 100", "= 100\nacks = -2"), "workloads[0].acks", '"all"'),
    "acks as a number of replicas": (small_with("= 100", "= 100\nacks = 2"), "workloads[0].acks", '"all"'),
    "load that ends before it starts": (
        small_with("= 100", '= 100\nstart = "5s"\nstop = "4s"'),
        "workloads[0].stop",
        "before it starts",
    ),
}
