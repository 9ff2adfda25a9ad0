"""The controller's reads and writes in ZooKeeper. Every write goes through a ``Fence``, which decides whether a
controller that has been replaced can still change anything.

All requests go through ``ZkClient.pipeline``, which retries after lost connections: a write can have been applied
although its answer was lost; the caller then sees ``BAD_VERSION`` or ``NODE_EXISTS`` and has to read again.

Raises, everywhere: SessionExpired; every fenced write: ControllerMoved.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from attrs import define

from controller.context import NO_CONTROLLER, ControllerContext
from controller.errors import StateChangeFailed
from emulator.kernel import Signal
from emulator.nodes import Process
from emulator.protocol import znodes
from emulator.protocol.assignments import Replicas
from emulator.protocol.scala_order import SCALA_2_12, ScalaCollections
from emulator.protocol.shown import RequestedMovesRead
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.zookeeper import ZkClient, ZkCode, error_of
from emulator.zookeeper.messages import Create, Delete, Exists, GetChildren, GetData, Op, Request, SetData, ZkResponse

ANY_VERSION = -1
UNKNOWN_EPOCH = -1

IDENTIFIED = 3
"""The version of the topics' znodes since which they have ids."""


class Fence(Protocol):
    """The rule by which the writes of one controller epoch are made (see ``controller.fencing``)."""

    def write(self, op: Op, epoch_zk_version: int) -> Request:
        """The request that carries out ``op`` for a controller whose /controller_epoch has that version."""

    def answer(self, response: ZkResponse) -> ZkResponse:
        """The response to the op itself.

        Raises: ControllerMoved where another controller has been elected.
        """


class UpdateLeaderAndIsrResult(NamedTuple):
    """The outcome of writing state znodes.

    Attributes:
        written: the states that were written, with their new versions.
        beaten: the partitions whose leader wrote first, or where this write was applied and its answer lost.
    """

    written: dict[TopicPartition, LeaderAndIsr]
    beaten: list[TopicPartition]


@define(eq=False, repr=False)
class KafkaZkClient:
    """One controller's access to ZooKeeper. Its writes are fenced by the controller epoch of its context.

    Attributes:
        process: the broker that is the controller.
        broker_epochs: whether the incarnations of a broker are distinguished by the czxid of its znode (KIP-380).
        topic_version: the version of the topics' znodes that it writes; 2 has adding and removing replicas (KIP-455),
            3 the topic's id (KIP-516).
        collections: the collections of the controller's build.
        new_id: returns a new id for a topic.
        never: the signal that requests in an expired session wait for (``ControllerPolicies.expiry_waits_for_event``);
            None: they fail.
        asked: the number of requests to ZooKeeper. While it stays the same, the context stays as it was.
    """

    zk: ZkClient
    process: Process
    context: ControllerContext
    fence: Fence
    broker_epochs: bool
    new_id: Callable[[], str]
    topic_version: int = 1
    collections: ScalaCollections = SCALA_2_12
    never: Signal | None = None
    asked: int = 0

    @property
    def session_id(self) -> int:
        return self.zk.session_id

    # -- requests -----------------------------------------------------------------------------------------------------

    async def ask(self, requests: Iterable[Request]) -> list[ZkResponse]:
        """The responses, in order, errors included. The cause in the trace stays what it was."""
        await self._begin()
        trace = self.process.node.trace
        cause = trace.cause
        responses = await self.zk.pipeline(requests)
        trace.cause = cause
        return responses

    async def _begin(self) -> None:
        """Count a request; in an expired session none is sent."""
        self.asked += 1
        if self.never is not None and self.zk.expired:
            await self.never.wait()

    async def ask_one(self, request: Request) -> ZkResponse:
        return (await self.ask([request]))[0]

    async def write(self, ops: Iterable[Op]) -> list[ZkResponse]:
        """Carry out each of ``ops`` as a fenced write of its own; returns the responses to the ops."""
        version = self.context.epoch_zk_version
        responses = await self.ask(self.fence.write(op, version) for op in ops)
        return [self.fence.answer(response) for response in responses]

    async def exists(self, path: str) -> bool:
        """Whether there is such a znode. Arms the watch where a handler is registered."""
        return (await self.ask_one(Exists(path))).error is ZkCode.OK

    async def children(self, path: str) -> tuple[str, ...]:
        """The children's names; none where there is no such znode."""
        return (await self.ask_one(GetChildren(path))).children

    # -- the controller ------------------------------------------------------------------------------------------------

    async def controller(self) -> int:
        """The broker that /controller names, ``NO_CONTROLLER`` where there is none."""
        response = await self.ask_one(GetData(znodes.CONTROLLER))
        return znodes.decode_controller(response.data) if response.error is ZkCode.OK else NO_CONTROLLER

    # -- brokers and topics -------------------------------------------------------------------------------------------

    async def brokers(self) -> list[tuple[int, int]]:
        """All registered brokers, ascending, with their epochs: the czxid of the znode, or -1 for unknown."""
        return await self.registered(await self.broker_ids())

    async def broker_ids(self) -> list[int]:
        """The ids of all registered brokers, ascending. Arms the watch for changes."""
        return sorted(int(name) for name in await self.children(znodes.BROKER_IDS))

    async def registered(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """The brokers of ``ids`` that are registered now, with their epochs."""
        responses = await self.ask([GetData(znodes.broker_path(broker)) for broker in ids])
        stats = [(b, r.stat) for b, r in zip(ids, responses, strict=True) if r.stat is not None]
        return [(broker, stat.czxid if self.broker_epochs else UNKNOWN_EPOCH) for broker, stat in stats]

    async def topics(self) -> tuple[str, ...]:
        return tuple(sorted(await self.children(znodes.TOPICS)))

    async def assignments(self, topics: Sequence[str]) -> dict[str, dict[int, Replicas]]:
        """The replicas by topic and partition; a topic without a znode is left out."""
        return {topic: znodes.decode_topic(data) for topic, data in (await self.topic_data(topics)).items()}

    async def load_assignments(self, topics: Sequence[str]) -> None:
        """Read the assignments of ``topics``, adding and removing replicas and ids included, into the context."""
        read = await self.topic_data(topics)
        self.context.assignments = {topic: znodes.decode_topic(data) for topic, data in read.items()}
        reassigning = {topic: znodes.decode_reassigning(data) for topic, data in read.items()}
        self.context.reassigning = {topic: found for topic, found in reassigning.items() if found}
        await self.identify(read)

    async def identify(self, topics: Mapping[str, str]) -> None:
        """Take the ids of ``topics`` into the context, given what their znodes hold. One that has none gets one, which
        is written at once, whatever the znode holds by now (KafkaController.processTopicIds, 2.8)."""
        if self.topic_version < IDENTIFIED:
            return
        ids = {topic: znodes.decode_topic_id(data) for topic, data in topics.items()}
        nameless = [topic for topic, found in ids.items() if not found]
        for topic in nameless:
            ids[topic] = self.new_id()
        if nameless:
            await self.write(
                SetData(znodes.topic_path(topic), _with_id(topics[topic], ids[topic]), ANY_VERSION)
                for topic in nameless
            )
        self.context.topic_ids.update(ids)

    async def topic_data(self, topics: Sequence[str]) -> dict[str, str]:
        """The contents of the znodes of ``topics``; a topic without a znode is left out."""
        responses = await self.ask([GetData(znodes.topic_path(topic)) for topic in topics])
        return {topic: r.data for topic, r in zip(topics, responses, strict=True) if r.error is ZkCode.OK}

    async def write_assignment(
        self, topic: str, assignment: Mapping[int, Replicas], reassigning: znodes.Reassigning | None = None
    ) -> None:
        """Write a topic's assignment.

        ``reassigning``: the adding and removing replicas to write with it, where they are not those of the context.

        Raises: StateChangeFailed where there is no such topic.
        """
        if reassigning is None and self.topic_version > 1:
            reassigning = self.context.reassigning.get(topic, {})
        topic_id = self.context.topic_ids.get(topic, "") if self.topic_version >= IDENTIFIED else None
        op = SetData(znodes.topic_path(topic), znodes.encode_topic(assignment, reassigning, topic_id), ANY_VERSION)
        [response] = await self.write([op])
        if response.error is not ZkCode.OK:
            raise StateChangeFailed(f"topic {topic} does not exist")

    async def unclean_allowed(self, topic: str, default: bool) -> bool:
        """Whether a topic allows unclean elections (unclean.leader.election.enable)."""
        response = await self.ask_one(GetData(f"{znodes.CONFIG_TOPICS}/{topic}"))
        config = znodes.decode_config(response.data) if response.error is ZkCode.OK else {}
        return unclean_in(config, default)

    async def partitions_with_znodes(self, topic: str) -> tuple[int, ...]:
        """The partitions of a topic that ever had a leader."""
        return tuple(sorted(int(name) for name in await self.children(znodes.partitions_path(topic))))

    async def deletions(self) -> tuple[str, ...]:
        """The topics that /admin/delete_topics asks to delete."""
        return tuple(sorted(await self.children(znodes.DELETE_TOPICS)))

    # -- state znodes -------------------------------------------------------------------------------------------------

    async def states(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, LeaderAndIsr]:
        """Leader and ISR of ``partitions``; those without a state znode are left out. Arms registered watches."""
        await self._begin()
        trace = self.process.node.trace
        cause = trace.cause
        states = await self.zk.pipeline_into(_state, (GetData(znodes.state_path(tp)) for tp in partitions))
        trace.cause = cause
        return {tp: state for tp, state in zip(partitions, states, strict=True) if state is not None}

    async def write_states(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> UpdateLeaderAndIsrResult:
        """Write each state over the version that it was read with. A partition that is in neither part of the result
        has no state znode any more."""
        ops = (SetData(znodes.state_path(tp), state.encode(), state.zk_version) for tp, state in states.items())
        written, beaten = {}, []
        for (tp, state), response in zip(states.items(), await self.write(ops), strict=True):
            if response.stat is not None:
                written[tp] = with_version(state, response.stat.version)
            elif response.error is ZkCode.BAD_VERSION:
                beaten.append(tp)
        return UpdateLeaderAndIsrResult(written, beaten)

    async def create_states(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> list[TopicPartition]:
        """Create the state znodes, and their parents; returns the partitions whose znode this call created."""
        topics = dict.fromkeys(tp.topic for tp in states)
        await self.write(Create(znodes.partitions_path(topic)) for topic in topics)
        await self.write(Create(znodes.partition_path(tp)) for tp in states)
        responses = await self.write(Create(znodes.state_path(tp), s.encode()) for tp, s in states.items())
        return [tp for tp, response in zip(states, responses, strict=True) if response.error is ZkCode.OK]

    # -- reassignments, elections, notifications -----------------------------------------------------------------------

    async def reassignments(self) -> dict[TopicPartition, Replicas]:
        """The targets that /admin/reassign_partitions asks for, in the order of an immutable map; none where it is
        missing or not JSON of that form."""
        response = await self.ask_one(GetData(znodes.REASSIGN_PARTITIONS))
        if response.error is not ZkCode.OK:
            return {}
        try:
            targets = znodes.decode_reassignment(response.data)
        except (ValueError, KeyError, TypeError):
            return {}
        self.process.show(RequestedMovesRead, self.process.node.id, targets)
        return {tp: targets[tp] for tp in self.collections.set_order(tuple(targets))}

    async def write_reassignments(self, targets: Mapping[TopicPartition, Replicas]) -> None:
        """Write ``targets`` to /admin/reassign_partitions; without any, delete it."""
        path = znodes.REASSIGN_PARTITIONS
        if not targets:
            await self.delete([path])
            return
        data = znodes.encode_reassignment(targets)
        [response] = await self.write([SetData(path, data, ANY_VERSION)])
        if response.error is ZkCode.NO_NODE:
            await self.write([Create(path, data)])

    async def preferred_elections(self) -> list[TopicPartition]:
        """The partitions that /admin/preferred_replica_election names, each once; none where it is missing or not JSON
        of that form."""
        response = await self.ask_one(GetData(znodes.PREFERRED_REPLICA_ELECTION))
        if response.error is not ZkCode.OK:
            return []
        try:
            return list(dict.fromkeys(znodes.decode_preferred_election(response.data)))
        except (ValueError, KeyError, TypeError):
            return []

    async def log_dir_events(self, names: Iterable[str]) -> list[int]:
        """The brokers that the notifications ``names`` are about, each once."""
        responses = await self.ask([GetData(f"{znodes.LOG_DIR_EVENT_NOTIFICATION}/{name}") for name in names])
        return list(dict.fromkeys(znodes.decode_log_dir_event(r.data) for r in responses if r.error is ZkCode.OK))

    async def isr_changes(self, names: Iterable[str]) -> list[TopicPartition]:
        """The partitions that the notifications ``names`` list, each once."""
        responses = await self.ask([GetData(f"{znodes.ISR_CHANGE_NOTIFICATION}/{name}") for name in names])
        read = [znodes.decode_isr_change(response.data) for response in responses if response.error is ZkCode.OK]
        return list(dict.fromkeys(tp for partitions in read for tp in partitions))

    async def delete(self, paths: Iterable[str]) -> None:
        """Delete znodes of any version; one that does not exist is skipped."""
        for response in await self.write([Delete(path, ANY_VERSION) for path in paths]):
            if response.error not in (ZkCode.OK, ZkCode.NO_NODE):
                raise error_of(response.error, response.path)

    async def delete_tree(self, path: str) -> None:
        """Delete a znode and its descendants, children first; does nothing where there is none."""
        children: dict[str, list[str]] = {}
        level = [path]
        while level:
            answers = await self.ask([GetChildren(parent) for parent in level])
            below = {p: [f"{p}/{name}" for name in r.children] for p, r in zip(level, answers, strict=True)}
            children.update(below)
            level = [child for found in below.values() for child in found]
        await self.delete(_children_first(path, children))


def _children_first(path: str, children: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for child in children.get(path, ()):
        yield from _children_first(child, children)
    yield path


def unclean_in(config: Mapping[str, str], default: bool) -> bool:
    """Whether ``config`` allows unclean elections (unclean.leader.election.enable); ``default`` where it does not
    say."""
    return config.get("unclean.leader.election.enable", str(default)).lower() == "true"


def _state(response: ZkResponse) -> LeaderAndIsr | None:
    return None if response.stat is None else LeaderAndIsr.decode(response.data, response.stat.version)


def with_version(state: LeaderAndIsr, version: int) -> LeaderAndIsr:
    return LeaderAndIsr(state.leader, state.leader_epoch, state.isr, state.controller_epoch, version, state.recovering)


def _with_id(data: str, topic_id: str) -> str:
    """A topic's znode with an id that it has not had."""
    return znodes.encode_topic(znodes.decode_topic(data), znodes.decode_reassigning(data), topic_id)
