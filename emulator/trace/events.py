"""Events of the emulator itself: ZooKeeper and gates."""

from typing import NamedTuple


class ZkWritten(NamedTuple):
    """ZooKeeper applied a write.

    Attributes:
        client: the machine that requested it (0 and above: a broker; -1: ZooKeeper itself, deleting the ephemerals of
            an expired session).
        op: ``create``, ``setData`` or ``delete``.
        version: the version of the data after the write; for a delete, before it.
        zxid: the transaction.
    """

    t_us: int
    seq: int
    cause: int
    client: int
    op: str
    path: str
    version: int
    zxid: int
    data: str


class ZkSession(NamedTuple):
    """A session was ``created``, ``closed`` or ``expired``."""

    t_us: int
    seq: int
    cause: int
    client: int
    session: int
    state: str


class Step(NamedTuple):
    """A gate was reached: an edge (``before`` or ``after``) of a step of a protocol. Fields that do not apply are
    ``""`` or -1."""

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
