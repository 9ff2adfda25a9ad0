"""A member of a consumer group of the classic protocol: it joins, gets partitions, commits how far it is, and leaves
now and then (ConsumerCoordinator, 2.3)."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from attrs import field, frozen

from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.groups.find_coordinator import CoordinatorType
from emulator.protocol.groups.group_offsets import (
    NO_OFFSET,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetsWanted,
    OffsetToCommit,
)
from emulator.protocol.groups.membership import (
    NO_MEMBER,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeavingMember,
    SyncGroupRequest,
)
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.behaviours.coordinator import BACKOFF, MOVED, Coordinator
from scenarios.language.clients import Behaviour, behaviour
from scenarios.language.schema.kinds import DURATION, Integer, ListOf, Text, as_tuple
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME, split_partition
from scenarios.units import format_duration

if TYPE_CHECKING:
    from scenarios.language.clients import Client

PROTOCOL_TYPE, PROTOCOL = "consumer", "range"
_SHORT, _INT = Struct(">h"), Struct(">i")


def subscription(topics: list[str]) -> bytes:
    """The metadata of a member that reads ``topics`` (ConsumerProtocolSubscription, version 0)."""
    names = b"".join(_SHORT.pack(len(topic)) + topic.encode() for topic in topics)
    return _SHORT.pack(0) + _INT.pack(len(topics)) + names + _INT.pack(0)


@behaviour("group-member", "a member of a consumer group: it joins, commits offsets, and leaves now and then")
@frozen(kw_only=True)
class GroupMember(Behaviour):
    """One member. It reads no records: what it commits grows by a few with each commit.

    Attributes:
        instance: its group.instance.id (KIP-345); "": it is a dynamic member.
        stays: how many commits it makes before it leaves; 0: it never does. A static member does not leave, but its
            process ends: the next one does not know its member id.
        rejoins: how many commits it makes before it joins again, as a consumer does whose topics have changed. A commit
            of the generation before comes after that, as one that is sent again does.
        stalls: how often it stops for longer than its session, and commits before it has heard that this is over.
        quiet: how many commits it makes before it has nothing more to commit, as a reader of a topic to which nothing
            is written. It sends heartbeats.
        away_us: the time from when it leaves, or its process ends, until it joins again.
        busy: how often it works on its records for as long as max.poll.interval.ms allows, at most: its heartbeats go
            on, and it joins no rebalance before the end.
        assigns_us: how long it takes to divide the partitions, as the leader.
        gives_up: how often its process ends while it joins: with a member id that it has not used, or before it asks
            for its assignment.
    """

    group: str = field(metadata=key(Text(), "the group"))
    partitions: tuple[str, ...] = field(
        converter=as_tuple, metadata=key(ListOf(PARTITION_NAME, unique=True, empty=False), "what the group reads")
    )
    instance: str = field(default="", metadata=key(Text(), "group.instance.id; absent = a dynamic member"))
    session_us: int = field(default=10_000_000, metadata=key(DURATION, "session.timeout.ms", name="session"))
    rebalance_us: int = field(default=20_000_000, metadata=key(DURATION, "max.poll.interval.ms", name="rebalance"))
    commit_us: int = field(default=1_000_000, metadata=key(DURATION, "the time between two commits", name="commit"))
    stays: int = field(default=0, metadata=key(Integer(0), "how many commits until it leaves; 0 = it stays"))
    rejoins: int = field(default=0, metadata=key(Integer(0), "how many commits until it joins again; 0 = never"))
    stalls: int = field(
        default=0, metadata=key(Integer(0, 100), "percentage of commits before which it outsleeps its session")
    )
    quiet: int = field(
        default=0, metadata=key(Integer(0), "how many commits until it has nothing more to commit; 0 = never")
    )
    away_us: int = field(default=0, metadata=key(DURATION, "from when it leaves until it joins again", name="away"))
    busy: int = field(
        default=0,
        metadata=key(Integer(0, 100), "percentage of commits before which it works for long, with heartbeats"),
    )
    assigns_us: int = field(
        default=0, metadata=key(DURATION, "how long it takes to divide the partitions as the leader", name="assigns")
    )
    gives_up: int = field(
        default=0, metadata=key(Integer(0, 100), "percentage of joins in the middle of which its process ends")
    )

    async def run(self, client: Client) -> None:
        coordinator = Coordinator(client, self.group, CoordinatorType.GROUP)
        member, late = NO_MEMBER, list[OffsetCommitRequest]()
        while True:
            try:
                member = await self._belong(client, coordinator, member, late)
            except KafkaError as lost:
                if lost.error in MOVED:
                    coordinator.moved()
                if lost.error in (Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_INSTANCE_ID):
                    member = NO_MEMBER
                await client.sleep(BACKOFF)

    async def _belong(
        self, client: Client, coordinator: Coordinator, member: str, late: list[OffsetCommitRequest]
    ) -> str:
        """Join, and be a member until the generation ends. Returns the member id. ``late``: the commits of the
        generation before that are still to be sent. Raises: KafkaError."""
        joined = await self._join(coordinator, member)
        if joined.error is Errors.MEMBER_ID_REQUIRED:
            return await self._ended(client) if self._gives_up(client) else joined.member_id
        _check(joined.error)
        if self._gives_up(client):
            return await self._ended(client)
        if self.assigns_us and joined.members:
            await client.sleep(format_duration(self.assigns_us))
        synced = await coordinator.ask(self._sync_of(joined))
        _check(synced.error)
        mine = tuple(TopicPartition(*split_partition(name)) for name in synced.assignment.decode().split(",") if name)
        while late:
            await coordinator.ask(late.pop())
        return await self._read(client, coordinator, joined, mine, late)

    def _gives_up(self, client: Client) -> bool:
        return bool(self.gives_up) and client.below(100) < self.gives_up

    async def _ended(self, client: Client) -> str:
        """The member id of the next process."""
        if self.away_us:
            await client.sleep(format_duration(self.away_us))
        return NO_MEMBER

    async def _join(self, coordinator: Coordinator, member: str) -> JoinGroupResponse:
        topics = list(dict.fromkeys(split_partition(name)[0] for name in self.partitions))
        request = JoinGroupRequest(
            self.group, member, self.session_us, self.rebalance_us, PROTOCOL_TYPE, ((PROTOCOL, subscription(topics)),),
            self.instance or None, requires_member_id=True,
        )  # fmt: skip
        found: JoinGroupResponse = await coordinator.ask(request, format_duration(self.rebalance_us + 5_000_000))
        return found

    def _sync_of(self, joined: JoinGroupResponse) -> SyncGroupRequest:
        """The request for the assignment. The leader has divided the partitions."""
        members = [each.member_id for each in joined.members]
        divided = tuple(
            (id, ",".join(self.partitions[place :: len(members)]).encode()) for place, id in enumerate(members)
        )
        return SyncGroupRequest(
            self.group,
            joined.generation,
            joined.member_id,
            self.instance or None,
            divided,
            PROTOCOL_TYPE,
            joined.protocol,
        )

    async def _read(
        self, client: Client, coordinator: Coordinator, joined: JoinGroupResponse, mine: tuple[TopicPartition, ...],
        late: list[OffsetCommitRequest],
    ) -> str:  # fmt: skip
        """Commit again and again, and leave in the end. Raises: KafkaError where the generation ends before."""
        positions = await self._committed(coordinator, mine)
        commits, generation, member = 0, joined.generation, joined.member_id
        beat = HeartbeatRequest(self.group, generation, member, self.instance or None)
        while True:
            await client.sleep(format_duration(self.commit_us))
            if self.stalls and client.below(100) < self.stalls:
                await client.sleep(format_duration(self.session_us + 1 + client.below(self.session_us)))
            else:
                _check(await self._beat(coordinator, beat))
            if self.busy and client.below(100) < self.busy:
                await self._work(client, coordinator, beat)
            commits += 1
            if mine and not 0 < self.quiet < commits:
                for tp in mine:
                    positions[tp] += 1 + client.below(5)
                offsets = tuple(OffsetToCommit(tp, offset) for tp, offset in positions.items())
                commit = OffsetCommitRequest(self.group, offsets, generation, member, self.instance or None)
                if commits == self.rejoins:
                    late.append(commit)
                await self._commit(coordinator, commit)
            if commits == self.rejoins:
                return member
            if commits == self.stays:
                if not self.instance:
                    leaving = LeaveGroupRequest(self.group, (LeavingMember(member, None),))
                    _check((await coordinator.ask(leaving)).error)
                return await self._ended(client)

    async def _beat(self, coordinator: Coordinator, beat: HeartbeatRequest) -> Errors:
        """The answer to a heartbeat. A coordinator that has moved is no error: the member asks the next one when its
        next heartbeat is due."""
        try:
            error: Errors = (await coordinator.ask(beat)).error
        except KafkaError:
            return NO_ERROR
        if error in MOVED:
            coordinator.moved()
            return NO_ERROR
        return error

    async def _commit(self, coordinator: Coordinator, commit: OffsetCommitRequest) -> None:
        """Commit; the next commit makes up for one that did not find the coordinator. Raises: KafkaError."""
        try:
            errors = [error for _tp, error in (await coordinator.ask(commit)).partitions]
        except KafkaError:
            return
        for error in errors:
            if error in MOVED:
                coordinator.moved()
            elif error is not Errors.UNKNOWN_TOPIC_OR_PARTITION:  # one that is deleted: the others are committed
                _check(error)

    async def _work(self, client: Client, coordinator: Coordinator, beat: HeartbeatRequest) -> None:
        """Work, while heartbeats go on. Raises: KafkaError where the member is none any more."""
        left_us = 1 + client.below(self.rebalance_us)
        while left_us > 0:
            for_us = min(left_us, self.session_us // 3)
            await client.sleep(format_duration(for_us))
            left_us -= for_us
            error = await self._beat(coordinator, beat)
            if error is not Errors.REBALANCE_IN_PROGRESS:
                _check(error)

    async def _committed(self, coordinator: Coordinator, mine: tuple[TopicPartition, ...]) -> dict[TopicPartition, int]:
        """Where the group is in the member's partitions. Raises: KafkaError."""
        if not mine:
            return {}
        response = await coordinator.ask(OffsetFetchRequest((OffsetsWanted(self.group, mine),)))
        (of_group,) = response.groups
        _check(of_group.error)
        for one in of_group.partitions:
            _check(one.error)
        return {one.tp: 0 if one.offset == NO_OFFSET else one.offset for one in of_group.partitions}


def _check(error: Errors) -> None:
    """Raises: KafkaError unless all is well."""
    if error is not NO_ERROR:
        raise KafkaError(error)
