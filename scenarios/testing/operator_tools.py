"""The operator's tools in a test: topics, reassignments, elections, settings, offsets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from emulator.kernel import World
from emulator.protocol.configs import as_text
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER, NO_EPOCH
from emulator.protocol.offsets_for_leader_epoch import ListOffsetsRequest, ListOffsetsResponse
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.protocol.znodes import ALL_BROKERS, broker_entity, topic_entity
from emulator.zookeeper import ZkClient
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.tools import config_command, leader_election_command, reassign, topic_command
from scenarios.cluster.clients.tools.command_outcome import CommandOutcome
from scenarios.cluster.cluster import Cluster
from scenarios.errors import BadInput
from scenarios.language import Scenario, split_partition
from scenarios.profiles import PROFILES
from scenarios.testing.state_reading import ClusterState, Partition
from scenarios.testing.virtual_time import LOOK_US, NotInTime, duration_us

Assignment = Sequence[Sequence[int]]


class Offsets(NamedTuple):
    """The first offset of a partition, and the one after the last that a consumer gets."""

    start: int
    end: int


class OperatorTools:
    """The actions of a test on a running cluster as its operator."""

    __slots__ = ()

    scenario: Scenario
    _world: World
    _cluster: Cluster
    _state: ClusterState

    @property
    def zk(self) -> ZkClient:
        """A ZooKeeper session of the operator's, to write znodes by hand."""
        return self._cluster.operator.zk

    async def create_topic(self, topic: str, assignment: Assignment, config: Mapping[str, Any] | None = None) -> None:
        """Create a topic. Raises: KafkaError where Kafka refuses it."""
        replicas = {number: tuple(each) for number, each in enumerate(assignment)}
        settings = {name: as_text(value) for name, value in (config or {}).items()}
        self._state.topics[topic] = None
        await self._operate(topic_command.create, topic, replicas, settings, True)

    async def create_partitions(self, topic: str, total: int, assignment: Assignment | None = None) -> None:
        """Extend a topic to ``total`` partitions. ``assignment``: the replicas of the new ones. Raises: KafkaError."""
        replicas = None if assignment is None else tuple(map(tuple, assignment))
        await self._operate(topic_command.expand, topic, total, replicas, self._cluster.setup.moves_forbid_expansion)

    async def delete_topic(self, topic: str) -> None:
        """Mark a topic for deletion, which takes the controller a moment. Raises: KafkaError."""
        await self._operate(topic_command.delete, topic)

    async def reassign(self, plan: Mapping[str, Sequence[int]], *, via: Literal["zk", "api"] | None = None) -> None:
        """Hand a plan to the controller; it returns when the plan was accepted.

        Args:
            via: /admin/reassign_partitions or AlterPartitionReassignments; None: as the release's tool.

        Raises: KafkaError with the first error.
        """
        moves = {TopicPartition(*split_partition(name)): tuple(replicas) for name, replicas in plan.items()}
        await self._operate(reassign.execute, moves, via or self.scenario.reassigns_by)

    async def cancel_reassignment(self, *partitions: Partition) -> None:
        """Cancel the reassignment of these partitions, or of all. Raises: KafkaError with the first error."""
        await self._operate(reassign.cancel, [self._state.tp(one) for one in partitions] or None)

    async def reassigning(self) -> list[str]:
        """The partitions that are being reassigned, as the release's tool finds them. Raises: KafkaError."""
        found = await self._cluster.operate(reassign.in_progress, self.scenario.reassigns_by)
        if found is None:
            raise KafkaError(Errors.REQUEST_TIMED_OUT, "the list of reassignments")
        return [str(tp) for tp in found]

    async def reassigned(self, within: str = "5m") -> None:
        """Wait until no partition is being reassigned. Raises: NotInTime, KafkaError."""
        __tracebackhide__ = True
        deadline_us = self._world.now + duration_us(within)
        while left := await self.reassigning():
            if self._world.now >= deadline_us:
                raise NotInTime(f"not within {within}: still being reassigned: {', '.join(left)}")
            await self._world.sleep(LOOK_US, background=True)

    async def list_offsets(self, partition: Partition) -> Offsets:
        """The start and the end of a partition, as its leader answers a consumer (ListOffsets): the end is the high
        watermark.

        Raises: KafkaError, also where there is no leader.
        """
        tp = self._state.tp(partition)
        state = self._state.leader_and_isr(tp)
        if state is None or state.leader == NO_LEADER:
            raise KafkaError(Errors.LEADER_NOT_AVAILABLE, f"ListOffsets of {tp}")
        request = ListOffsetsRequest(tp, NO_EPOCH, CONSUMER)
        admin = self._cluster.operator.admin
        answer: ListOffsetsResponse = await admin.ask_broker(state.leader, request, duration_us("30s"))
        if answer.error is not Errors.NONE:
            raise KafkaError(answer.error, f"ListOffsets of {tp}")
        return Offsets(answer.start, answer.end)

    async def elect_preferred(self, *partitions: Partition) -> None:
        """Elect the preferred replicas of these partitions, or of all. Raises: KafkaError with the first error."""
        by_api = PROFILES[self.scenario.profile].election_tool == "api"
        command = leader_election_command.by_api if by_api else leader_election_command.by_znode
        await self._operate(command, [self._state.tp(one) for one in partitions] or None)

    async def alter_config(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        remove: Collection[str] = (),
        topic: str | None = None,
        broker: int | None = None,
    ) -> None:
        """Change settings of a topic, of a broker, or of all brokers, while the cluster runs.

        Args:
            remove: settings that fall back to what holds without them.

        Raises: KafkaError where there is no such topic, or a value cannot be; BadInput for nothing to change.
        """
        if isinstance(remove, str) or not (settings or remove):
            raise BadInput(
                'nothing is changed; write settings such as {"retention.ms": 1000}, or remove=["retention.ms"]'
            )
        entity = ALL_BROKERS
        if topic is not None:
            entity = topic_entity(topic)
        elif broker is not None:
            entity = broker_entity(self._state.broker(broker))
        texts = {name: as_text(value) for name, value in (settings or {}).items()}
        await self._operate(config_command.alter, [entity], texts, tuple(remove))

    async def _operate(self, command: Any, *args: object) -> None:
        outcome: CommandOutcome = await self._cluster.operate(command, *args)
        for what, error in outcome.errors:
            raise KafkaError(error, what)
