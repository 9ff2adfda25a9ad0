"""Refused: the plan."""

from tests.scenarios.language.builders import small_with
from tests.scenarios.language.refusals.writing import Case

CASES: dict[str, Case] = {
    "plan: wrong version": (
        small_with("version = 1", "version = 2"),
        "plan.version",
        "1, the only version of Kafka's reassignment JSON (Kafka: UNSUPPORTED_VERSION)",
    ),
    "plan: unknown topic": (
        small_with('topic = "orders", p', 'topic = "odrers", p'),
        "plan.partitions[0].topic",
        "'orders'? (Kafka: UNKNOWN_TOPIC_OR_PARTITION)",
    ),
    "plan: unknown partition": (
        small_with("partition = 0", "partition = 2"),
        "plan.partitions[0].partition",
        "0 to 1 (Kafka: UNKNOWN_TOPIC_OR_PARTITION)",
    ),
    "plan: unknown broker": (
        small_with("[3, 4, 5]", "[3, 4, 50]"),
        "plan.partitions[0].replicas: broker 50",
        "0 to 6 (Kafka: INVALID_REPLICA_ASSIGNMENT)",
    ),
    "plan: duplicate replicas": (
        small_with("[3, 4, 5]", "[3, 4, 3]"),
        "plan.partitions[0].replicas[2]: 3 is listed twice",
        "once (Kafka: INVALID_REPLICA_ASSIGNMENT)",
    ),
    "plan: no replicas": (
        small_with("[3, 4, 5]", "[]"),
        "plan.partitions[0].replicas: the list is empty",
        "at least one (Kafka: INVALID_REPLICA_ASSIGNMENT)",
    ),
    "plan: partition twice": (
        small_with("[3, 4, 5] }", '[3, 4, 5] }, { topic = "orders", partition = 0, replicas = [4] }'),
        "plan.partitions[1]: orders-0 is named twice",
        "keep one",
    ),
    "plan: log dir": (
        small_with("[3, 4, 5]", '[3], log_dirs = ["/data"]'),
        "plan.partitions[0].log_dirs[0]",
        "did you mean '/data/0'",
    ),
    "plan: no file": (
        small_with("version = 1", 'file = "gone.json"').replace("partitions = [{", "#"),
        "plan.file",
        "'gone.json'",
    ),
}
