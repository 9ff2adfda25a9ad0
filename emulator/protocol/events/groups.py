"""Events of group coordinators: where groups are, their states and generations, their members, what they commit."""

from typing import NamedTuple


class GroupsLoaded(NamedTuple):
    """A broker became the coordinator of the groups of one partition of ``__consumer_offsets``, and has read it.

    Attributes:
        groups, offsets: the numbers of groups and of offsets that it found.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    groups: int
    offsets: int


class GroupsUnloaded(NamedTuple):
    """A broker is no longer the coordinator of these groups.

    Attributes:
        groups, offsets: the numbers of groups and of offsets that it has dropped from its memory.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    groups: int
    offsets: int


class GroupStateChanged(NamedTuple):
    """A group is in another state than before.

    Attributes:
        state: Kafka's name.
        reason: the reason of a rebalance that begins; else "".
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    state: str
    generation: int
    reason: str


class GroupGeneration(NamedTuple):
    """The members of a group have joined, and learn their generation.

    Attributes:
        leader: the member that computes the assignment.
        members: all of them; none in a group that is empty now.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    generation: int
    protocol: str
    leader: str
    members: tuple[str, ...]


class GroupMemberAdded(NamedTuple):
    """A member has joined a group for the first time.

    Attributes:
        instance: the group.instance.id of a static member, else "".
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    member: str
    instance: str
    client: str


class GroupMemberRemoved(NamedTuple):
    """A member is gone from its group.

    Attributes:
        reason: ``left``, ``session`` (no heartbeat came in time), ``rebalance`` (it did not join again in time),
            ``sync`` (its SyncGroup did not come in time), ``size`` (the group was full), ``replaced`` (another client
            has joined as the same static member).
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    member: str
    instance: str
    reason: str


class OffsetsCommitted(NamedTuple):
    """A group's commit has its outcome.

    Attributes:
        member: the member id; "" from a client that is no member.
        error: Kafka's name of the code; ``NONE``: the commit is in the log of every in-sync replica.
        topics, partitions, offsets: columns, a row for each partition.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    member: str
    generation: int
    error: str
    topics: tuple[str, ...]
    partitions: tuple[int, ...]
    offsets: tuple[int, ...]


class OffsetsRemoved(NamedTuple):
    """A coordinator has removed offsets of a group, and the group itself if nothing else is left of it.

    Attributes:
        reason: ``expired``, ``deleted`` (by an administrator), ``topic`` (their topic was deleted).
        group_too: whether the group was removed as well.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    reason: str
    group_too: bool
    topics: tuple[str, ...]
    partitions: tuple[int, ...]
