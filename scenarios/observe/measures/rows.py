"""The rows of every table: one NamedTuple each, whose fields are the columns of the data set in their order.

Every row has ``t_us`` (virtual time, microseconds); an event's row has ``seq`` and ``cause``, its place in
the total order and the event that led to it; a state's row has ``w_us``, how long it held from ``t_us`` on.
Columns are named after Kafka's MBeans and request fields where one exists. The data set puts ``run_id``
before them.
Sources: the design's data set section; readings §8 and §10.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class IsrRow(NamedTuple):
    """A partition as ZooKeeper had it.

    ``assignment``: the replicas in the topic's znode. ``original``, ``target``: those before and after the
    move that is open, empty outside one. ``isr_live``: members of the ISR whose process runs, whatever
    ZooKeeper believes. The flags are defined in ``scenarios.observe.measures.isr``.
    """

    t_us: int
    seq: int
    w_us: int
    topic: str
    partition: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    assignment: tuple[int, ...]
    original: tuple[int, ...]
    target: tuple[int, ...]
    min_isr: int
    isr_live: int
    under_replicated_assigned: bool
    under_replicated_draft: bool
    under_replicated_final: bool
    under_min_isr: bool
    offline: bool


class LagRow(NamedTuple):
    """One follower's lag, on the grid of 100 ms, on change; see ``scenarios.observe.measures.lag``. Unit: records."""

    t_us: int
    w_us: int
    topic: str
    partition: int
    node: int
    leader: int
    lag: int | None
    true_lag: int


class IsrChangeRow(NamedTuple):
    """A leader's change of its ISR: ``kind`` shrink, expand, or failed (the write lost against a newer
    version)."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    kind: str
    isr: tuple[int, ...] | None
    zk_version: int | None


class MoveRow(NamedTuple):
    """One partition's move, from the operator's request; ``w_us`` ends with the run when ``finished`` is
    false."""

    t_us: int
    seq: int
    w_us: int
    topic: str
    partition: int
    original: tuple[int, ...]
    target: tuple[int, ...]
    finished: bool


class RequestRow(NamedTuple):
    """A control request on the wire; ``partitions``: the partition states in it."""

    t_us: int
    seq: int
    cause: int
    api: str
    node: int
    broker: int
    controller_epoch: int
    broker_epoch: int
    partitions: int


class ElectionRow(NamedTuple):
    """A leader chosen and written; ``selector`` as in the event ``LeaderElected``."""

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


class ProduceRow(NamedTuple):
    """The fate of a produced batch, as its producer learnt it."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    id: int
    acks: int
    error: str
    base_offset: int
    next_offset: int
    leader: int
    latency_us: int
    attempts: int
    fate: str


class ConsumeRow(NamedTuple):
    """What one poll gave an application of one partition; ``delay_us``: see ``measures.consumers``."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    offset: int
    next_offset: int
    leader: int
    leader_epoch: int
    high_watermark: int
    delay_us: int | None


class ConsumerLagRow(NamedTuple):
    """One consumer's lag, on the grid of 100 ms, on change; see ``measures.consumers``. Unit: records."""

    t_us: int
    w_us: int
    topic: str
    partition: int
    node: int
    lag: int


class FaultRow(NamedTuple):
    """What the scenario did to the cluster."""

    t_us: int
    seq: int
    cause: int
    action: str
    target: str
    detail: str


class StepRow(NamedTuple):
    """An edge of a protocol step."""

    t_us: int
    seq: int
    cause: int
    step: str
    edge: str
    topic: str
    partition: int
    broker: int
    hop: int
    node: int
    detail: str


class ViolationRow(NamedTuple):
    """A broken invariant."""

    t_us: int
    seq: int
    cause: int
    invariant: str
    statement: str


class FetcherRow(NamedTuple):
    """``kind``: started, stopped, failed or unfailed (KIP-461); columns that a kind lacks are null."""

    t_us: int
    seq: int
    cause: int
    node: int
    kind: str
    fetcher: str | None
    leader: int | None
    topic: str | None
    partition: int | None
    reason: str | None


class GaugeRow(NamedTuple):
    """A gauge's value from ``t_us`` on, for ``w_us``. ``node`` -1: of the cluster as a whole."""

    t_us: int
    w_us: int
    node: int
    name: str
    value: int


class BrokerMetricRow(NamedTuple):
    """What a broker's metric showed from ``t_us`` on, for ``w_us``. ``kind``: gauge, meter or timer; ``name``: the
    MBean with its tags, of which ``topic`` and ``partition`` are repeated; ``value``: a gauge's value, what a meter has
    counted, what a timer has timed in us."""

    t_us: int
    w_us: int
    node: int
    kind: str
    name: str
    topic: str | None
    partition: int | None
    value: int


class ZkWriteRow(NamedTuple):
    """A write that ZooKeeper applied, without its payload."""

    t_us: int
    seq: int
    cause: int
    client: int
    op: str
    path: str
    version: int
    zxid: int


class EventRow(NamedTuple):
    """Any event of the trace; ``fields``: what has no column of its own, as compact JSON."""

    t_us: int
    seq: int
    cause: int
    kind: str
    node: int | None
    topic: str | None
    partition: int | None
    fields: str


ROWS: dict[str, type[Any]] = {
    "isr_events": IsrRow,
    "replica_lag": LagRow,
    "isr_changes": IsrChangeRow,
    "moves": MoveRow,
    "requests": RequestRow,
    "elections": ElectionRow,
    "produce": ProduceRow,
    "consume": ConsumeRow,
    "consumer_lag": ConsumerLagRow,
    "faults": FaultRow,
    "steps": StepRow,
    "violations": ViolationRow,
    "fetchers": FetcherRow,
    "metrics": GaugeRow,
    "broker_metrics": BrokerMetricRow,
    "zk_writes": ZkWriteRow,
    "events": EventRow,
}
"""Table name to its row. ``runs`` is the data set's own (``scenarios.runs.dataset.schema``)."""
