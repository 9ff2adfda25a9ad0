"""What a run records. Every event begins with ``t_us, seq, cause`` (see ``emulator.trace``); the rest is below.

``node`` is the broker id (clients are negative). A ``detail`` is for people; everything a fold needs has a field.
Processes, controllers and roles are here; the rest in files by theme, which are had from here, too.
"""

from typing import NamedTuple

from emulator.protocol.client_events import *  # noqa: F403
from emulator.protocol.copy_events import *  # noqa: F403
from emulator.protocol.fetcher_events import *  # noqa: F403
from emulator.protocol.isr_events import *  # noqa: F403
from emulator.protocol.log_events import *  # noqa: F403
from emulator.protocol.metric_events import *  # noqa: F403
from emulator.protocol.move_events import *  # noqa: F403


class Fault(NamedTuple):
    """The scenario did something: ``action`` (readings, 1) to ``target``."""

    t_us: int
    seq: int
    cause: int
    action: str
    target: str
    detail: str


class NodeStarted(NamedTuple):
    t_us: int
    seq: int
    cause: int
    node: int
    incarnation: int


class NodeCrashed(NamedTuple):
    """``kind``: ``process`` or ``host``."""

    t_us: int
    seq: int
    cause: int
    node: int
    incarnation: int
    kind: str


class BrokerRegistered(NamedTuple):
    """A broker is in /brokers/ids; its epoch is the czxid of the znode (KIP-380)."""

    t_us: int
    seq: int
    cause: int
    node: int
    broker_epoch: int


class ShutdownAsked(NamedTuple):
    """A broker that is going down has asked the controller to take over: what it was told, or DISCONNECTED; how many
    partitions with several replicas it still leads (-1: unknown)."""

    t_us: int
    seq: int
    cause: int
    node: int
    controller: int
    attempt: int
    error: str
    remaining: int


class ControllerElected(NamedTuple):
    t_us: int
    seq: int
    cause: int
    node: int
    controller_epoch: int


class ControllerResigned(NamedTuple):
    t_us: int
    seq: int
    cause: int
    node: int
    controller_epoch: int


class ControlRequest(NamedTuple):
    """The controller put a request on the wire. ``api``: LeaderAndIsr, UpdateMetadata or StopReplica."""

    t_us: int
    seq: int
    cause: int
    api: str
    node: int
    broker: int
    controller_epoch: int
    broker_epoch: int
    partitions: int
    detail: str


class ControlResponse(NamedTuple):
    """A broker handled a control request; ``error`` is Kafka's name of the code."""

    t_us: int
    seq: int
    cause: int
    api: str
    node: int
    controller: int
    controller_epoch: int
    error: str
    partition_errors: int


class LeaderElected(NamedTuple):
    """A leader was chosen and written. ``selector``: offline, unclean (asked for by an administrator), reassigned,
    preferred, controlled-shutdown, new."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    selector: str
    controller_epoch: int
    unclean: bool


class ElectionAnswered(NamedTuple):
    """What the API answered to a wish for a preferred leader: NONE, or Kafka's name of the code."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    error: str


class BecameLeader(NamedTuple):
    """A broker adopted leadership. ``isr``, ``adding``, ``removing``: as it was told; ``replicas``: those that it
    counts, itself first."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    log_end_offset: int
    high_watermark: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class ReplicasKnown(NamedTuple):
    """A leader was told which replicas count and which impend (KIP-352's draft); only while there are impending ones,
    and once when they are gone."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    current: tuple[int, ...]
    impending: tuple[int, ...]


class BecameFollower(NamedTuple):
    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    leader: int
    log_end_offset: int
    high_watermark: int


class ReplicaStopped(NamedTuple):
    """StopReplica took effect."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    deleted: bool


class Violated(NamedTuple):
    """A checker found a broken invariant."""

    t_us: int
    seq: int
    cause: int
    invariant: str
    statement: str
