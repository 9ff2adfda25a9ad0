"""A group coordinator on a bench: one broker that leads the only partition of ``__consumer_offsets``. Its timers fire
when the test lets time pass."""

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.coordinators.find import CoordinatorFinder, CoordinatorStore
from brokers.groups.config import GROUP_METADATA_TOPIC, GroupCoordinatorConfig
from brokers.groups.coordinator import GroupCoordinator
from brokers.groups.group import GroupMetadata
from brokers.groups.handler import GroupsHandler
from brokers.groups.policies import GroupPolicies
from brokers.requests.produce import ProduceHandler
from emulator.protocol.errors import Errors
from emulator.protocol.groups.find_coordinator import CoordinatorType
from emulator.protocol.groups.group_offsets import (
    CommittedOffset,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetsWanted,
    OffsetToCommit,
)
from emulator.protocol.groups.membership import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeavingMember,
    SyncGroupRequest,
)
from emulator.protocol.groups.operations import DescribedGroup, DescribeGroupsRequest
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import TP, Bench, Line, state

SECOND = 1_000_000
OFFSETS = TopicPartition.of(GROUP_METADATA_TOPIC, 0)
GROUP = "shoppers"
RANGE = (("range", b"topics"), ("roundrobin", b"topics"))
DELAY = 3 * SECOND
SESSION, REBALANCE = 10 * SECOND, 60 * SECOND


def policies(groups: GroupPolicies | None = None, **settings: int) -> BrokerPolicies:
    config = GroupCoordinatorConfig(num_partitions=1, initial_rebalance_delay_us=DELAY)
    return BrokerPolicies(BrokerConfig(groups=evolve(config, **settings)), groups=groups or GroupPolicies())


class GroupBench(Bench):
    """The coordinator is elected unless the test says otherwise."""

    def __init__(
        self, groups: GroupPolicies | None = None, *, elected: bool = True, isr: Sequence[int] = (0,), **settings: int
    ) -> None:
        self.isr = tuple(isr)
        super().__init__(policies(groups, **settings))
        if elected:
            self.elect()

    def restart(self) -> None:
        super().restart()
        self.created: list[tuple[Any, ...]] = []
        self.groups = GroupCoordinator(self.process, self.manager, ProduceHandler(self.manager))
        self.manager.coordinators[GROUP_METADATA_TOPIC] = self.groups
        self.router.add(GroupsHandler(self.groups, self._finder()))
        self.learn(TP, 0)

    def _finder(self) -> CoordinatorFinder:
        stores: dict[int, CoordinatorStore] = {CoordinatorType.GROUP: self.groups.store}
        return CoordinatorFinder(self.process, self.manager.metadata, stores.get, self._create)

    async def _create(self, *topic: Any) -> None:
        self.created.append(topic)

    def elect(self, epoch: int = 0) -> None:
        """Lead the partition, and read it."""
        self.lead(epoch, self.isr, tp=OFFSETS, replicas=self.isr)
        self.wait(0)

    def resign(self, epoch: int = 1) -> None:
        assert not self.leader_and_isr(state(1, epoch, (1, 0), replicas=(1, 0), tp=OFFSETS)).error
        self.learn(OFFSETS, 1)

    @property
    def group(self) -> GroupMetadata:
        return self.groups.store.groups[GROUP]

    # -- requests ---------------------------------------------------------------------------------------------------

    def ask_join(self, member: str = "", instance: str | None = None, **changes: Any) -> Line:
        stated: dict[str, Any] = {
            "session_timeout_us": SESSION, "rebalance_timeout_us": REBALANCE, "protocol_type": "consumer",
            "protocols": RANGE, "client_id": "client", "client_host": "/127.0.0.1", "group": GROUP,
        }  # fmt: skip
        request = JoinGroupRequest(**{**stated, "member_id": member, "instance_id": instance, **changes})
        return self.send(request)

    def join(self, member: str = "", instance: str | None = None, **changes: Any) -> JoinGroupResponse:
        """A JoinGroup whose answer needs no time but that of an empty group's first rebalance."""
        line = self.ask_join(member, instance, **changes)
        if not line.replies:
            self.wait(DELAY)
        response: JoinGroupResponse = line.last
        return response

    def ask_sync(self, member: str, generation: int, assigned: Sequence[str] = (), **changes: Any) -> Line:
        assignments = tuple((each, f"for {each}".encode()) for each in assigned)
        return self.send(SyncGroupRequest(GROUP, generation, member, assignments=assignments, **changes))

    def heartbeat(self, member: str, generation: int, instance: str | None = None) -> Errors:
        error: Errors = self.send(HeartbeatRequest(GROUP, generation, member, instance)).last.error
        return error

    def leave(self, *members: str | tuple[str, str]) -> Any:
        leaving = tuple(LeavingMember(each) if isinstance(each, str) else LeavingMember(*each) for each in members)
        return self.send(LeaveGroupRequest(GROUP, leaving)).last

    def ask_commit(
        self, offset: int, member: str = "", generation: int = -1, *, group: str = GROUP, **changes: Any
    ) -> Line:
        offsets = (OffsetToCommit(TP, offset, metadata=changes.pop("metadata", "")),)
        return self.send(OffsetCommitRequest(group, offsets, generation, member, **changes))

    def commit(self, offset: int, member: str = "", generation: int = -1, **changes: Any) -> Errors:
        ((_tp, error),) = self.ask_commit(offset, member, generation, **changes).last.partitions
        return Errors(error)

    def fetch(self, group: str = GROUP, *, stable: bool = False) -> CommittedOffset:
        (found,) = self.send(OffsetFetchRequest((OffsetsWanted(group, (TP,)),), stable)).last.groups
        assert not found.error, found.error.name
        only: CommittedOffset = found.partitions[0]
        return only

    def described(self, group: str = GROUP) -> DescribedGroup:
        found: DescribedGroup = self.send(DescribeGroupsRequest((group,))).last.groups[0]
        return found

    # -- whole rebalances -------------------------------------------------------------------------------------------

    def stable(self, **changes: Any) -> tuple[str, int]:
        """A group with one member, which leads it: its member id and the generation."""
        joined = self.join(**changes)
        assert not joined.error
        line = self.ask_sync(joined.member_id, joined.generation, (joined.member_id,))
        assert not line.last.error
        return joined.member_id, joined.generation

    def stable_pair(self, **changes: Any) -> tuple[str, str, int]:
        """A group of two: leader, follower, generation."""
        leader, _generation = self.stable()
        waiting = self.ask_join(**changes)
        again = self.ask_join(leader)
        follower, generation = waiting.last.member_id, waiting.last.generation
        assert again.last.generation == generation
        waiting = self.ask_sync(follower, generation)
        assert not self.ask_sync(leader, generation, (leader, follower)).last.error
        assert waiting.last.assignment == f"for {follower}".encode()
        return leader, follower, generation
