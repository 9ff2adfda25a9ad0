"""Facts about coordinators: groups, committed offsets, transactions."""

from typing import NamedTuple

from emulator.protocol.types import TopicPartition


class ZombieCommits(NamedTuple):
    """A commit that a coordinator has accepted from a member that is none any more.

    Attributes:
        generation, current: the generation of the member, and that of the group.
        removed: the member was removed from the group.
    """

    broker: int
    group: str
    member: str
    generation: int
    current: int
    removed: bool

    def in_words(self, _tp: TopicPartition | None) -> str:
        who = f"{self.member or 'a client'} in generation {self.generation}"
        why = "it was removed" if self.removed else f"the group is in generation {self.current}"
        return f"broker {self.broker} accepts a commit of {who} for group {self.group}: {why}"


class ZombieWrites(NamedTuple):
    """A write that a leader has accepted from a producer with an epoch that is over.

    Attributes:
        what: ``records``, ``repeated records`` or ``offsets``.
        current: the highest epoch of the producer that this leader has accepted.
    """

    broker: int
    what: str
    producer_id: int
    epoch: int
    current: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: leader {self.broker} accepts {self.what} of producer {self.producer_id} in epoch {self.epoch}, "
            f"after epoch {self.current}"
        )


class GroupCommit(NamedTuple):
    """A committed offset, with the leader epoch (-1: none) and the text that were committed with it; -1: none."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""

    def __str__(self) -> str:
        epoch = "" if self.leader_epoch < 0 else f" in leader epoch {self.leader_epoch}"
        return f"{self.offset}{epoch}" + (f" ({self.metadata})" if self.metadata else "")


class CommitLost(NamedTuple):
    """The offset that a coordinator answers with, and those that were committed.

    Attributes:
        committed: what was acknowledged last.
        possible: commits since then without an outcome, which may count too.
    """

    broker: int
    group: str
    offset: GroupCommit
    committed: GroupCommit
    possible: tuple[GroupCommit, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        more = f", or one of {', '.join(map(str, self.possible))}" if self.possible else ""
        return (
            f"{tp}: broker {self.broker} tells group {self.group} that it is at {self.offset}; it has committed "
            f"{self.committed}{more}"
        )


class OffsetNotStable(NamedTuple):
    """The offset of an answer about stable offsets that an open transaction of a producer may replace; -1: none."""

    broker: int
    group: str
    offset: int
    producer_id: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker} tells {self.offset} as a stable offset of group {self.group}, and an open "
            f"transaction of producer {self.producer_id} has written another one"
        )


class OffsetStaysUnstable(NamedTuple):
    """An offset that is said to be unstable, ``held_us`` after the last transaction that wrote one has ended."""

    broker: int
    group: str
    held_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker} says that the offset of group {self.group} is not stable, "
            f"{self.held_us / 1e6:.1f} s after the last transaction with one has ended"
        )


class EndedOtherwise(NamedTuple):
    """A decision about a transaction for which its producer has not asked. ``asked``: it has asked for the other."""

    broker: int
    transactional_id: str
    committed: bool
    asked: bool

    def in_words(self, _tp: TopicPartition | None) -> str:
        decides = "commits" if self.committed else "aborts"
        other = "abort" if self.committed else "commit"
        why = f"has asked to {other} it" if self.asked else "has asked for nothing"
        return f"coordinator {self.broker} {decides} the transaction of {self.transactional_id}, whose producer {why}"


class AbortedEarly(NamedTuple):
    """A transaction that its coordinator aborts by itself ``lasted_us`` after its id had none, at most."""

    broker: int
    transactional_id: str
    lasted_us: int
    timeout_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} aborts a transaction of {self.transactional_id} by itself, "
            f"{self.lasted_us / 1e6:g} s after there was none: its timeout is {self.timeout_us / 1e6:g} s"
        )


class LeftOut(NamedTuple):
    """A member that a rebalance has not waited for, ``waited_us`` after it began."""

    node: int
    group: str
    member: str
    waited_us: int
    may_take_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"the coordinator of {self.group} on broker {self.node} leaves {self.member} out "
            f"{self.waited_us / 1e6:g} s after the rebalance began; it may take {self.may_take_us / 1e6:g} s"
        )


class RebalanceIsJoined(NamedTuple):
    """A rebalance that is not complete, though all members have joined."""

    broker: int
    group: str
    members: tuple[str, ...]
    held_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"group {self.group} prepares a rebalance at coordinator {self.broker}, and all of its "
            f"{len(self.members)} members have joined, for {self.held_us / 1e6:.1f} s"
        )


class RemovedLate(NamedTuple):
    """A member of a stable group that is silent, and is still a member."""

    broker: int
    group: str
    member: str
    silent_us: int
    session_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} keeps {self.member} in the stable group {self.group}, "
            f"{self.silent_us / 1e6:g} s after its last request; its session timeout is {self.session_us / 1e6:g} s"
        )


class RemovedEarly(NamedTuple):
    """A member whose session has ended too early.

    Attributes:
        silent_us: the time since the last request of it that was accepted; -1: it waits for its first generation.
    """

    broker: int
    group: str
    member: str
    silent_us: int
    session_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        done = "while it waits for its first generation"
        if self.silent_us >= 0:
            done = f"{self.silent_us / 1e6:g} s after its last request"
        return (
            f"coordinator {self.broker} ends the session of {self.member} of group {self.group} {done}; its session "
            f"timeout is {self.session_us / 1e6:g} s"
        )


class GenerationAgain(NamedTuple):
    """A generation with the number of an earlier one. ``before``: the last one."""

    broker: int
    group: str
    generation: int
    before: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} forms generation {self.generation} of group {self.group}, after generation "
            f"{self.before}"
        )


class IdStays(NamedTuple):
    """A transactional id that is kept, and was not used for too long."""

    broker: int
    transactional_id: str
    unused_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} keeps the transactional id {self.transactional_id}, which was not used for "
            f"{self.unused_us / 1e6:g} s"
        )


class StaticTwice(NamedTuple):
    """A static member that is added to its group, where it is a member already."""

    broker: int
    group: str
    instance: str
    there: str
    added: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} adds {self.added} to group {self.group} as the static member {self.instance}, "
            f"which {self.there} is"
        )


class StaticRemoved(NamedTuple):
    """A static member that is removed as it did not join again in time."""

    broker: int
    group: str
    member: str
    instance: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} removes {self.member} of group {self.group}, which has not joined again: "
            f"{self.instance} is a static member, and its session goes on"
        )


class NeverStable(NamedTuple):
    """A group whose rebalance does not end."""

    broker: int
    group: str
    state: str
    lasted_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"group {self.group} is in {self.state} at coordinator {self.broker} for {self.lasted_us / 1e6:g} s"


class MarkerDisagrees(NamedTuple):
    """A marker that is not what was decided.

    Attributes:
        decided: the state of the transaction.
    """

    broker: int
    producer_id: int
    committed: bool
    decided: str

    def in_words(self, tp: TopicPartition | None) -> str:
        marker = "COMMIT" if self.committed else "ABORT"
        return f"{tp}: leader {self.broker} writes {marker} for producer {self.producer_id}, which is {self.decided}"


class MarkerLacks(NamedTuple):
    """A partition of a transaction that is complete, and has no marker there."""

    broker: int
    transactional_id: str
    producer_id: int
    state: str

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: coordinator {self.broker} takes the transaction of {self.transactional_id} for {self.state}; "
            f"no leader has written a marker of producer {self.producer_id}"
        )


class EndsWithPartitions(NamedTuple):
    """A transaction that is complete, and still has partitions: the next one of its producer would have them, too."""

    broker: int
    transactional_id: str
    state: str
    partitions: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} writes the transaction of {self.transactional_id} as {self.state}, with "
            f"{self.partitions} partitions"
        )


class TransactionLasts(NamedTuple):
    """A transaction that stays in its state."""

    broker: int
    transactional_id: str
    state: str
    lasted_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"the transaction of {self.transactional_id} is {self.state} at coordinator {self.broker} for "
            f"{self.lasted_us / 1e6:g} s"
        )


class ProducerIdLost(NamedTuple):
    """A transactional id that gets another producer id than it had ``before``, in ``epoch``."""

    node: int
    transactional_id: str
    before: int
    epoch: int
    producer_id: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.node} has producer id {self.producer_id} for {self.transactional_id}, which had "
            f"{self.before} in epoch {self.epoch}"
        )


class ProducerIdTwice(NamedTuple):
    """Two owners of one producer id: clients by their machine, or transactional ids."""

    producer_id: int
    first: str
    second: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"producer id {self.producer_id} is given to {self.first} and to {self.second}"


class IdUnclaimed(NamedTuple):
    """A producer id that is given to ``owner``, and is in no block that ZooKeeper has, or had: they end at ``last``."""

    producer_id: int
    owner: str
    last: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"producer id {self.producer_id} is given to {self.owner}; what was claimed ends at {self.last}"


class BlockMisclaimed(NamedTuple):
    """A block of producer ids that does not begin after the ids before it, is empty, or is claimed by a broker for
    another one."""

    writer: int
    broker: int
    first: int
    last: int
    before: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.writer} claims the producer ids {self.first} to {self.last} for broker {self.broker}; those "
            f"before end at {self.before}"
        )


class WritesOutside(NamedTuple):
    """A batch of a transaction that is over."""

    broker: int
    producer_id: int
    offset: int
    state: str

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: leader {self.broker} appends a batch of producer {self.producer_id} at {self.offset}; its "
            f"transaction is {self.state}"
        )


class ExpiredEarly(NamedTuple):
    """An offset that a coordinator takes for expired.

    Attributes:
        age_us: the time since it was committed.
        has_members: whether the group has members, which have committed it.
    """

    broker: int
    group: str
    age_us: int
    has_members: bool

    def in_words(self, tp: TopicPartition | None) -> str:
        why = "the group has members" if self.has_members else "the group has not been empty for so long"
        return (
            f"{tp}: coordinator {self.broker} removes the offset of group {self.group} as expired, "
            f"{self.age_us / 1e6:g} s after its commit: {why}"
        )


class MemberLost(NamedTuple):
    """A member of the last stable generation that a coordinator refuses.

    Attributes:
        error: Kafka's name of the code.
    """

    broker: int
    group: str
    member: str
    error: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} answers {self.member} of group {self.group} with {self.error}: it is a member "
            "of the last stable generation"
        )


LEADER, CHANGED = "the leader", "a member with other topics"
BACK = "a static member that is back while the leader assigns"


class JoinsInVain(NamedTuple):
    """A member that asks for another assignment, and a group that does not rebalance.

    Attributes:
        who: the reason why it gets one, in words.
    """

    broker: int
    group: str
    member: str
    generation: int
    who: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"{self.member}, {self.who}, joins group {self.group} again in generation {self.generation}, and "
            f"coordinator {self.broker} begins no rebalance"
        )


class GoneInVain(NamedTuple):
    """A member that is gone, and a group that does not rebalance.

    Attributes:
        reason: as in ``GroupMemberRemoved``.
    """

    broker: int
    group: str
    member: str
    generation: int
    reason: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"{self.member} is gone from group {self.group} in generation {self.generation} ({self.reason}), and "
            f"coordinator {self.broker} begins no rebalance"
        )


class AssignedOtherwise(NamedTuple):
    """A member that gets another assignment than the leader of its generation has made for it."""

    broker: int
    group: str
    member: str
    generation: int
    given: str
    made: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} assigns {self.given or 'nothing'} to {self.member} of group {self.group} in "
            f"generation {self.generation}; its leader has assigned {self.made or 'nothing'} to it"
        )


class OldCoordinatorMarks(NamedTuple):
    """A marker that a leader has appended from a coordinator that was replaced.

    Attributes:
        epoch, current: the coordinator epoch of the marker, and the highest that this leader has appended.
    """

    broker: int
    producer_id: int
    committed: bool
    epoch: int
    current: int

    def in_words(self, tp: TopicPartition | None) -> str:
        marker = "COMMIT" if self.committed else "ABORT"
        return (
            f"{tp}: leader {self.broker} writes {marker} for producer {self.producer_id} from coordinator epoch "
            f"{self.epoch}, after epoch {self.current}"
        )


class IdWaitedFor(NamedTuple):
    """A member id that a coordinator has given, and waits for."""

    broker: int
    group: str
    member: str
    lasted_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} waits for a client of group {self.group} to join as {self.member} for "
            f"{self.lasted_us / 1e6:g} s"
        )


class EpochsSkipped(NamedTuple):
    """Epochs of a producer that no client has had.

    Attributes:
        before, after: two epochs that follow each other at this coordinator.
    """

    broker: int
    transactional_id: str
    producer_id: int
    before: int
    after: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} goes on from epoch {self.before} of producer {self.producer_id} "
            f"({self.transactional_id}) to {self.after}"
        )


class FencedAlone(NamedTuple):
    """A producer that is fenced as it asks for its next epoch, though no other has had one since.

    Attributes:
        epoch: the epoch that it says it has; ``current``: that of its id.
    """

    broker: int
    transactional_id: str
    producer_id: int
    epoch: int
    current: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} fences producer {self.producer_id} of {self.transactional_id}, which has epoch "
            f"{self.epoch}: epoch {self.current} was given to this producer itself"
        )
