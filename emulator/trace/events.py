"""Events of the ground floor itself."""

from typing import NamedTuple


class ZkWritten(NamedTuple):
    """ZooKeeper applied a write. ``op``: create, setData, delete; ``client``: the machine that asked (0 and
    up: a broker; -1: ZooKeeper itself, removing the ephemerals of an expired session).

    ``version``: the data version of the znode after the write (before it, for a delete). ``zxid``: the
    transaction.
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
    """A gate was passed: an edge (``before`` or ``after``) of a step of a protocol. What does not apply is
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
