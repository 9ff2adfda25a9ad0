"""The znodes of the ZooKeeper era: paths, and payloads as Kafka writes them (kafka.zk.ZkData, 2.3).

Every payload is compact JSON with Kafka's key order, so that golden tests can compare bytes.
"""

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from attrs import frozen

from emulator.protocol.address import PORT, host
from emulator.protocol.assignments import ReassigningReplicas
from emulator.protocol.types import TopicPartition
from emulator.streams import Stream

CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
BROKER_IDS = "/brokers/ids"
TOPICS = "/brokers/topics"
REASSIGN_PARTITIONS = "/admin/reassign_partitions"
PREFERRED_REPLICA_ELECTION = "/admin/preferred_replica_election"
DELETE_TOPICS = "/admin/delete_topics"
ISR_CHANGE_NOTIFICATION = "/isr_change_notification"
LOG_DIR_EVENT_NOTIFICATION = "/log_dir_event_notification"
CONFIG_TOPICS = "/config/topics"
CONFIG_BROKERS = "/config/brokers"
CONFIG_CHANGES = "/config/changes"
PRODUCER_ID_BLOCK = "/latest_producer_id_block"
PRODUCER_ID_BLOCK_SIZE = 1000
ALL_BROKERS = "brokers/<default>"
"""The entity of the cluster-wide default settings of brokers (KIP-226)."""


def broker_entity(broker: int) -> str:
    return f"brokers/{broker}"


def topic_entity(topic: str) -> str:
    return f"topics/{topic}"


PERSISTENT_PATHS = (
    "/brokers", BROKER_IDS, TOPICS, "/admin", DELETE_TOPICS, ISR_CHANGE_NOTIFICATION, LOG_DIR_EVENT_NOTIFICATION,
    "/config", CONFIG_TOPICS, CONFIG_BROKERS, CONFIG_CHANGES,
)  # fmt: skip
"""The paths that a broker creates first, if they are missing."""


STATES_REMEMBERED = 4096
"""The number of different state znodes and replica lists that are cached: most partitions of a cluster have one of a
few."""
ENTRIES_REMEMBERED = 16_384
TEXTS_REMEMBERED = 4
"""The number of entries of topics' and moves' znodes that are cached: Kafka writes such a znode whole for each
partition that moves, with one entry changed."""


def broker_path(broker: int) -> str:
    return f"{BROKER_IDS}/{broker}"


def topic_path(topic: str) -> str:
    return f"{TOPICS}/{topic}"


def delete_topic_path(topic: str) -> str:
    return f"{DELETE_TOPICS}/{topic}"


def partitions_path(topic: str) -> str:
    return f"{TOPICS}/{topic}/partitions"


def partition_path(tp: TopicPartition) -> str:
    return f"{TOPICS}/{tp.topic}/partitions/{tp.partition}"


def state_path(tp: TopicPartition) -> str:
    return f"{TOPICS}/{tp.topic}/partitions/{tp.partition}/state"


def state_path_partition(path: str) -> TopicPartition | None:
    """The partition of the state znode at ``path``; None for any other path."""
    parts = path.split("/")
    if len(parts) == 7 and parts[6] == "state" and parts[2] == "topics":
        return TopicPartition.of(parts[3], int(parts[5]))
    return None


def _dumps(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


RECOVERING = 1
"""The state of a leader that may lack committed records (LeaderRecoveryState, 3.2)."""


@frozen(weakref_slot=False)
class LeaderAndIsr:
    """The content of a state znode.

    Attributes:
        zk_version: the version of the znode that this was read from or written to; not part of the payload.
        recovering: whether the leader was elected outside the ISR, and has not written the znode since (KIP-704, 3.2);
            only then the payload has ``leader_recovery_state``.
    """

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    zk_version: int = 0
    recovering: bool = False

    def encode(self) -> str:
        return _encoded_state(self.controller_epoch, self.leader, self.leader_epoch, self.isr, self.recovering)

    @classmethod
    def decode(cls, data: str, zk_version: int) -> "LeaderAndIsr":
        return _decoded_state(data, zk_version)


@lru_cache(STATES_REMEMBERED)
def _encoded_state(
    controller_epoch: int, leader: int, leader_epoch: int, isr: tuple[int, ...], recovering: bool
) -> str:
    recovery = f'"leader_recovery_state":{RECOVERING},' if recovering else ""
    return (
        f'{{"controller_epoch":{controller_epoch},"leader":{leader},"version":1,{recovery}'
        f'"leader_epoch":{leader_epoch},"isr":[{",".join(map(str, isr))}]}}'
    )


@lru_cache(STATES_REMEMBERED)
def _decoded_state(data: str, zk_version: int) -> LeaderAndIsr:
    d = json.loads(data)
    recovering = d.get("leader_recovery_state") == RECOVERING
    return LeaderAndIsr(d["leader"], d["leader_epoch"], tuple(d["isr"]), d["controller_epoch"], zk_version, recovering)


def encode_controller(broker: int, timestamp_ms: int) -> str:
    return _dumps({"version": 1, "brokerid": broker, "timestamp": str(timestamp_ms)})


def decode_controller(data: str) -> int:
    return int(json.loads(data)["brokerid"])


def encode_broker(broker: int, timestamp_ms: int, rack: str | None = None) -> str:
    value: dict[str, Any] = {
        "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
        "endpoints": [f"PLAINTEXT://{host(broker)}:{PORT}"], "jmx_port": -1, "host": host(broker),
        "timestamp": str(timestamp_ms), "port": PORT, "version": 4,
    }  # fmt: skip
    if rack is not None:
        value["rack"] = rack
    return _dumps(value)


Reassigning = Mapping[int, ReassigningReplicas]
"""AR and RR of the partitions that are being reassigned, by partition (KIP-455)."""


def encode_topic(
    assignment: Mapping[int, Iterable[int]], reassigning: Reassigning | None = None, topic_id: str | None = None
) -> str:
    """/brokers/topics/T: partition -> replicas in order of preference.

    Version 1 (up to 2.3) without ``reassigning``; version 2 (2.4) with it, which lists the AR and RR that are not
    empty; version 3 (KIP-516, 2.8) also with ``topic_id``, which is left out where it is "".
    """
    version, lists = 1, {"partitions": _by_number(assignment)}
    identified = f',"topic_id":"{topic_id}"' if topic_id else ""
    if reassigning is not None:
        version = 2 if topic_id is None else 3
        lists["adding_replicas"] = _by_number({p: r.adding for p, r in reassigning.items() if r.adding})
        lists["removing_replicas"] = _by_number({p: r.removing for p, r in reassigning.items() if r.removing})
    written = ",".join([f'"{name}":{{{entries}}}' for name, entries in lists.items()])
    return f'{{"version":{version},{written}{identified}}}'


def _by_number(replicas: Mapping[int, Iterable[int]]) -> str:
    return ",".join([_entry(partition, tuple(brokers)) for partition, brokers in sorted(replicas.items())])


@lru_cache(ENTRIES_REMEMBERED)
def _entry(partition: int, brokers: tuple[int, ...]) -> str:
    return f'"{partition}":[{",".join(map(str, brokers))}]'


_ENTRIES = re.compile(r'\{"version":\d+,"partitions":\{(?=")')
"""The text before the first entry in a topic's znode."""


def decode_topic(data: str) -> dict[int, tuple[int, ...]]:
    """The replicas of each partition, in order of preference, of any version; of version 2, RS."""
    found = _ENTRIES.match(data)
    if found is not None:
        try:
            return dict(sorted(map(_decoded_entry, data[found.end() : data.index("]}", found.end())].split("],"))))
        except ValueError:
            pass  # Kafka does not write it like this: an operator did.
    return _numbered(json.loads(data)["partitions"])


@lru_cache(ENTRIES_REMEMBERED)
def _decoded_entry(entry: str) -> tuple[int, tuple[int, ...]]:
    """One entry without its last bracket.

    Raises: ValueError where it is not as ``_entry`` writes it.
    """
    number, colon, brokers = entry.partition(":[")
    found = int(number[1:-1]), _shared(tuple(map(int, brokers.split(","))))
    if _entry(*found) != f"{number}{colon}{brokers}]":
        raise ValueError(entry)
    return found


def decode_reassigning(data: str) -> dict[int, ReassigningReplicas]:
    """AR and RR of the partitions that are being reassigned, by partition; none in version 1."""
    if '"adding_replicas"' not in data:
        return {}
    # Kafka writes them after the partitions, of which there may be thousands.
    value = json.loads("{" + data[data.index('"adding_replicas"') :])
    if "removing_replicas" not in value:
        value = json.loads(data)
    adding, removing = _numbered(value["adding_replicas"]), _numbered(value["removing_replicas"])
    return {p: ReassigningReplicas(adding.get(p, ()), removing.get(p, ())) for p in sorted({**adding, **removing})}


TOPIC_IDS = "topic ids"
"""The purpose of the random streams that topics' ids are drawn from, one for each machine that creates topics."""


TOPIC_ID = '"topic_id"'
"""The key of the id in a topic's znode."""


def random_topic_id(stream: Stream) -> str:
    """The id of a new topic (KIP-516, 2.8): a random UUID (version 4) as org.apache.kafka.common.Uuid writes it, 22
    characters of base64 for URLs. A topic that is deleted and created again has another one."""
    bits = (stream.bits() << 64) | stream.bits()
    bits = bits & ~(0xF << 76) | 4 << 76
    bits = bits & ~(0x3 << 62) | 2 << 62
    return urlsafe_b64encode(bits.to_bytes(16, "big")).rstrip(b"=").decode()


def decode_topic_id(data: str) -> str:
    """The id in a topic's znode; "" where it has none, as before KIP-516 (2.8)."""
    return str(json.loads(data).get("topic_id", "")) if TOPIC_ID in data else ""


def _numbered(replicas: Mapping[str, Iterable[int]]) -> dict[int, tuple[int, ...]]:
    return {int(p): _shared(tuple(brokers)) for p, brokers in sorted(replicas.items(), key=_number)}


@lru_cache(STATES_REMEMBERED)
def _shared(replicas: tuple[int, ...]) -> tuple[int, ...]:
    """One tuple for all partitions with these replicas: there are few such lists and many partitions."""
    return replicas


def _number(item: tuple[str, Any]) -> int:
    return int(item[0])


def encode_reassignment(moves: Mapping[TopicPartition, Iterable[int]]) -> str:
    """/admin/reassign_partitions: partition -> target replicas, in the order of ``moves``."""
    return f'{{"version":1,"partitions":[{",".join([_move(tp, tuple(rs)) for tp, rs in moves.items()])}]}}'


@lru_cache(ENTRIES_REMEMBERED)
def _move(tp: TopicPartition, replicas: tuple[int, ...]) -> str:
    return _dumps({"topic": tp.topic, "partition": tp.partition, "replicas": replicas})


def decode_reassignment(data: str) -> dict[TopicPartition, tuple[int, ...]]:
    return dict(_moves(data))


@lru_cache(TEXTS_REMEMBERED)
def _moves(data: str) -> tuple[tuple[TopicPartition, tuple[int, ...]], ...]:
    entries = json.loads(data)["partitions"]
    return tuple({TopicPartition(e["topic"], e["partition"]): tuple(e["replicas"]) for e in entries}.items())


def encode_isr_change(partitions: Iterable[TopicPartition]) -> str:
    return _dumps({"version": 1, "partitions": [{"topic": tp.topic, "partition": tp.partition} for tp in partitions]})


def decode_isr_change(data: str) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(e["topic"], e["partition"]) for e in json.loads(data)["partitions"])


encode_preferred_election = encode_isr_change
"""/admin/preferred_replica_election lists partitions in the same form."""
decode_preferred_election = decode_isr_change


def encode_log_dir_event(broker: int) -> str:
    """The announcement that a log directory of ``broker`` has failed (KIP-112)."""
    return _dumps({"version": 1, "broker": broker, "event": 1})


def decode_log_dir_event(data: str) -> int:
    return int(json.loads(data)["broker"])


def encode_config(config: Mapping[str, str]) -> str:
    return _dumps({"version": 1, "config": dict(config)})


def decode_config(data: str) -> dict[str, str]:
    """The settings of an entity. A znode that was only made for those below it has no data, and no settings."""
    return dict(json.loads(data)["config"]) if data else {}


def encode_config_change(entity: str) -> str:
    """/config/changes: the announcement that settings of ``entity`` changed, such as ``topics/orders``
    or ``brokers/<default>``."""
    return _dumps({"version": 2, "entity_path": entity})


def decode_config_change(data: str) -> str:
    return str(json.loads(data)["entity_path"])


def encode_producer_id_block(broker: int, first: int, last: int) -> str:
    """The block of producer ids that a broker has claimed."""
    return _dumps({"version": 1, "broker": broker, "block_start": str(first), "block_end": str(last)})


def decode_producer_id_block(data: str) -> int:
    """The last id of the block."""
    return decode_claimed_block(data)[2]


def decode_claimed_block(data: str) -> tuple[int, int, int]:
    """The broker that has claimed the block, its first id and its last."""
    claimed = json.loads(data)
    return int(claimed["broker"]), int(claimed["block_start"]), int(claimed["block_end"])
