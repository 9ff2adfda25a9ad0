"""The compared facts, in one form for both sides: writes to ZooKeeper, control requests that brokers answered, and in
some cases the final contents of logs, or what a client was answered."""

import json
import re
from typing import Any, NamedTuple

from attrs import frozen

TOOL = "tool"
ZOOKEEPER = "zookeeper"
NO_ERROR = "NONE"


@frozen
class Write:
    """ZooKeeper applied a write.

    Attributes:
        by: the broker that asked for it; ``tool`` for an operator, ``zookeeper`` where a session ended.
        op: ``create``, ``setData`` or ``delete``.
        version: the version of the data after a ``setData``; else 0.
        data: the written data; "" where they name addresses or times and so are not compared.
    """

    by: int | str
    op: str
    path: str
    version: int
    data: str


class PartitionState(NamedTuple):
    """The state of a partition in LeaderAndIsr or UpdateMetadata.

    Attributes:
        isr: the ISR, sorted, since the order of joins differs between two runs of Kafka.
        more: ``isNew``, ``adding=…``, ``removing=…`` and ``recovering`` of LeaderAndIsr, ``offline=…`` of
            UpdateMetadata; empty where they are not set.
    """

    topic: str
    partition: int
    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    zk_version: int
    replicas: tuple[int, ...]
    more: str
    error: str


@frozen
class Request:
    """A control request that a broker answered.

    Attributes:
        to: the broker.
        api: LeaderAndIsr, UpdateMetadata or StopReplica.
        broker_epoch: the number of the broker's incarnation, from 1 on; 0 where the release does not say.
        error: the error of the whole request.
        partitions: the partitions by topic and number. StopReplica has the fields that it lacks set to -1.
        brokers: the live brokers, or the live leaders.
        delete: whether StopReplica deletes.
    """

    to: int
    api: str
    controller: int
    controller_epoch: int
    broker_epoch: int
    error: str
    partitions: tuple[PartitionState, ...]
    brokers: tuple[int, ...]
    delete: bool = False


@frozen
class Log:
    """The final content of a replica.

    Attributes:
        epochs: the leader epochs of its records.
        content: equal for replicas that hold the same records.
    """

    broker: int
    topic: str
    partition: int
    epochs: tuple[int, ...]
    content: str


BY_TOOL = "by-tool"
"""The tag of cases whose moves are asked for by kafka-reassign-partitions of the release, and whose settings in
ZooKeeper are compared too."""

LOGS = "logs"
"""The tag of cases whose logs are compared in the end."""


@frozen
class Answer:
    """The answer of a broker to a client (``benchmarks.calibration.clients``).

    Attributes:
        of: the broker that answered; the client, where a case has several.
        text: when and what it was asked, and what it answered.
    """

    of: int | str
    topic: str
    text: str


COUNTS = "counts"
"""The tag of cases whose brokers' metrics are compared in the end."""
COUNTED = re.compile(
    r"kafka.server:type=BrokerTopicMetrics,name=(BytesRejected|(Total|Failed)ProduceRequests|MessagesIn|BytesIn)PerSec.*"
    r"|kafka.network:type=RequestMetrics,name=(Errors|Requests)PerSec,request=Produce.*"
)
"""The metrics that are compared: those that neither the speed of the machine nor an idle cluster changes."""


@frozen
class Count:
    """A meter of a broker at the end.

    Attributes:
        metric: its name. The version of a request in it is not compared: the emulator shows its release's newest.
    """

    broker: int
    metric: str
    value: int


Fact = Write | Request | Log | Answer | Count


def stopped(topic: str, partition: int, leader_epoch: int, error: str, delete: bool) -> PartitionState:
    """A partition of a StopReplica request. ``leader_epoch``: -1 before KIP-570."""
    return PartitionState(topic, partition, -1, -1, leader_epoch, (), -1, (), "delete" if delete else "", error)


def compared(path: str, data: str) -> str:
    """The data of a znode, without what names addresses, times and processes."""
    if path == "/controller":
        return json.dumps({"brokerid": json.loads(data)["brokerid"]}) if data else ""
    return "" if path.startswith(("/brokers/ids/", "/cluster", "/latest_producer_id_block")) else data


def to_json(fact: Fact) -> list[Any]:
    """A fact as one line of a recording."""
    if isinstance(fact, Log):
        return ["log", fact.broker, fact.topic, fact.partition, list(fact.epochs), fact.content]
    if isinstance(fact, Answer):
        return ["answer", fact.of, fact.topic, fact.text]
    if isinstance(fact, Count):
        return ["count", fact.broker, fact.metric, fact.value]
    if isinstance(fact, Write):
        return ["zk", fact.by, fact.op, fact.path, fact.version, fact.data]
    return [
        fact.api, fact.to, fact.controller, fact.controller_epoch, fact.broker_epoch, fact.error,
        [list(each) for each in fact.partitions], list(fact.brokers), fact.delete,
    ]  # fmt: skip


def from_json(line: list[Any]) -> Fact:
    """Undo ``to_json``."""
    if line[0] == "zk":
        return Write(*line[1:])
    if line[0] == "log":
        return Log(line[1], line[2], line[3], tuple(line[4]), line[5])
    if line[0] == "count":
        return Count(*line[1:])
    if line[0] == "answer":
        return Answer(*line[1:])
    api, to, controller, controller_epoch, broker_epoch, error, partitions, brokers, delete = line
    states = tuple(
        PartitionState(*each[:5], tuple(each[5]), each[6], tuple(each[7]), *each[8:])  # type: ignore[call-arg]
        for each in partitions
    )
    return Request(to, api, controller, controller_epoch, broker_epoch, error, states, tuple(brokers), delete)
