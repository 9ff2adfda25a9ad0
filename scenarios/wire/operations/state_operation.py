"""The state of the cluster at this instant, for an operator: ``{"action": "state", "partition": "orders-0"}``. Without
a partition it is that of all of them, those of Kafka's internal topics last."""

from collections.abc import Iterator
from typing import Any

from attrs import field, frozen

from brokers.topic_creation import INTERNAL_TOPICS
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import TOPICS, decode_reassigning, decode_topic, topic_path
from scenarios.errors import BadInput
from scenarios.faults.performer import machine_name
from scenarios.language.schema.kinds import Text
from scenarios.language.schema.table_reader import Checked, key
from scenarios.language.topic_spec import split_partition
from scenarios.wire.live_stage import LiveStage
from scenarios.wire.operations.performing import Answer, Reply, operation


@frozen(kw_only=True)
class StateKeys(Checked):
    """The keys of ``state``."""

    partition: str | None = field(default=None, metadata=key(Text(), "only this one; absent = all"))


@operation("state", StateKeys)
def state(stage: LiveStage, asked: StateKeys, reply: Reply) -> None:
    """Answer with the controller, the brokers and the partitions: leaders and ISRs from ZooKeeper, logs from the
    brokers."""
    partitions = list(_partitions(stage, asked.partition))
    roles, cluster = stage.method.performer.roles, stage.cluster
    answer: Answer = {
        "ok": True,
        "at_us": stage.world.now,
        "controller": next(iter(roles.controller()), None),
        "brokers": [{"broker": broker, "state": roles.state_of(broker)} for broker in cluster.nodes],
        "clients": [machine_name(cluster, machine) for machine in roles.clients()],
        "partitions": partitions,
    }
    reply(answer)


def _partitions(stage: LiveStage, wanted: str | None) -> Iterator[dict[str, Any]]:
    """The state of the wanted partitions. Raises: BadInput for a partition that does not exist."""
    tree = stage.cluster.zookeeper.tree
    named = None
    if wanted is not None:
        named = TopicPartition(*split_partition(wanted))
        lacking = stage.method.performer.roles.lacks_partition(str(named))
        if lacking:
            raise BadInput(lacking)
    users_first = sorted(tree.children(TOPICS), key=lambda topic: (topic in INTERNAL_TOPICS, topic))
    for topic in users_first if named is None else (named.topic,):
        data = tree.get(topic_path(topic)) or ""
        reassigning = decode_reassigning(data)
        for number, replicas in decode_topic(data).items():
            if named is None or named.partition == number:
                found = _partition(stage, TopicPartition(topic, number), replicas)
                if number in reassigning:
                    found["adding"] = list(reassigning[number].adding)
                    found["removing"] = list(reassigning[number].removing)
                yield found


def _partition(stage: LiveStage, tp: TopicPartition, replicas: tuple[int, ...]) -> dict[str, Any]:
    written = stage.method.performer.roles.state(tp)
    found: dict[str, Any] = {"partition": str(tp), "replicas": list(replicas)}
    if written is not None:
        found |= {"leader": written.leader, "leader_epoch": written.leader_epoch, "isr": list(written.isr)}
    found["logs"] = [_log(stage, tp, broker) for broker in stage.cluster.brokers if _holds(stage, tp, broker)]
    return found


def _holds(stage: LiveStage, tp: TopicPartition, broker: int) -> bool:
    process, running = stage.cluster.nodes[broker].process, stage.cluster.brokers[broker]
    return process is not None and process.alive and running.started and tp in running.replicas.partitions


def _log(stage: LiveStage, tp: TopicPartition, broker: int) -> dict[str, int]:
    partition = stage.cluster.brokers[broker].replicas.partitions[tp]
    return {
        "broker": broker,
        "log_end_offset": partition.log.end_offset,
        "high_watermark": partition.high_watermark,
        "leader_epoch": partition.leader_epoch,
    }
