"""Facts about ZooKeeper that no recorded event has. They are shown to folds and not recorded (``Trace.show``)."""

from typing import NamedTuple


class ZnodeCreated(NamedTuple):
    """ZooKeeper created a znode. The ``ZkWritten`` of ``seq`` has the rest.

    Attributes:
        ephemeral: it ends with the session of its creator.
    """

    t_us: int
    seq: int
    cause: int
    client: int
    path: str
    ephemeral: bool
