"""What the controller keeps in ZooKeeper. Every write of a term goes through ``controller.fencing``, which decides
whether a controller that has been replaced can still change anything.

All of it goes through ``ZkClient.pipeline``, which waits out lost connections: a write can have been applied
although its answer was lost; the caller then sees ``BAD_VERSION`` or ``NODE_EXISTS`` and has to look again.

Raises, everywhere: SessionExpired; every fenced write: ControllerMoved.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import define

from controller.context import NOBODY, Context
from controller.errors import StateChangeFailed
from controller.fencing import Fencing
from emulator.protocol import znodes
from emulator.protocol.assignments import Replicas
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace import Trace
from emulator.zookeeper import ZkClient, ZkCode, error_of
from emulator.zookeeper.messages import (
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Op,
    Request,
    Response,
    SetData,
)

ANY_VERSION = -1
UNKNOWN_EPOCH = -1


@define(eq=False, repr=False)
class Store:
    """ZooKeeper as one controller sees it, with the fence of its context's term.

    Attributes:
        broker_epochs: whether the incarnations of a broker are told apart by the czxid of its znode (KIP-380).
        topic_version: of the topics' znodes that it writes: 2 has room for AR and RR (KIP-455).
        asked: how often ZooKeeper was asked anything: what the memory holds changes only with its answers.
    """

    zk: ZkClient
    trace: Trace
    context: Context
    fencing: Fencing
    broker_epochs: bool
    topic_version: int = 1
    asked: int = 0

    # -- asking -------------------------------------------------------------------------------------------------------

    async def ask(self, requests: Iterable[Request]) -> list[Response]:
        """The answers, in order, whatever they say. What the event does next is still caused by what led to it."""
        self.asked += 1
        cause = self.trace.cause
        responses = await self.zk.pipeline(requests)
        self.trace.cause = cause
        return responses

    async def ask_one(self, request: Request) -> Response:
        return (await self.ask([request]))[0]

    async def write(self, ops: Iterable[Op]) -> list[Response]:
        """Each of ``ops`` by itself, as a write of this term; the answers are those to the ops."""
        version = self.context.epoch_zk_version
        responses = await self.ask(self.fencing.write(op, version) for op in ops)
        return [self.fencing.answer(response) for response in responses]

    async def exists(self, path: str) -> bool:
        """Is there such a znode? Arms the watch where a handler is registered."""
        return (await self.ask_one(Exists(path))).error is ZkCode.OK

    async def children(self, path: str) -> tuple[str, ...]:
        """The children's names; none where there is no such znode."""
        return (await self.ask_one(GetChildren(path))).children

    # -- the controllership -------------------------------------------------------------------------------------------

    async def controller(self) -> int:
        """The broker that /controller names, ``NOBODY`` where there is none."""
        response = await self.ask_one(GetData(znodes.CONTROLLER))
        return znodes.decode_controller(response.data) if response.error is ZkCode.OK else NOBODY

    # -- brokers and topics -------------------------------------------------------------------------------------------

    async def brokers(self) -> list[tuple[int, int]]:
        """All registered brokers, ascending, with their epochs: the czxid of the znode, or -1 for unknown."""
        ids = sorted(int(name) for name in await self.children(znodes.BROKER_IDS))
        responses = await self.ask([GetData(znodes.broker_path(broker)) for broker in ids])
        stats = [(b, r.stat) for b, r in zip(ids, responses, strict=True) if r.stat is not None]
        return [(broker, stat.czxid if self.broker_epochs else UNKNOWN_EPOCH) for broker, stat in stats]

    async def topics(self) -> tuple[str, ...]:
        return tuple(sorted(await self.children(znodes.TOPICS)))

    async def assignments(self, topics: Sequence[str]) -> dict[str, dict[int, Replicas]]:
        """topic -> partition -> replicas; a topic that has just gone is left out."""
        return {topic: znodes.decode_topic(data) for topic, data in (await self._topic_data(topics)).items()}

    async def load_assignments(self, topics: Sequence[str]) -> None:
        """Take the assignments of ``topics``, and their AR and RR, into the memory."""
        read = await self._topic_data(topics)
        self.context.assignments = {topic: znodes.decode_topic(data) for topic, data in read.items()}
        motions = {topic: znodes.decode_motions(data) for topic, data in read.items()}
        self.context.motions = {topic: motion for topic, motion in motions.items() if motion}

    async def _topic_data(self, topics: Sequence[str]) -> dict[str, str]:
        responses = await self.ask([GetData(znodes.topic_path(topic)) for topic in topics])
        return {topic: r.data for topic, r in zip(topics, responses, strict=True) if r.error is ZkCode.OK}

    async def write_assignment(
        self, topic: str, assignment: Mapping[int, Replicas], motions: znodes.Motions | None = None
    ) -> None:
        """``motions``: the AR and RR to be written with it, where they are not those in memory.

        Raises: StateChangeFailed where there is no such topic.
        """
        if motions is None and self.topic_version > 1:
            motions = self.context.motions.get(topic, {})
        op = SetData(znodes.topic_path(topic), znodes.encode_topic(assignment, motions), ANY_VERSION)
        [response] = await self.write([op])
        if response.error is not ZkCode.OK:
            raise StateChangeFailed(f"topic {topic} does not exist")

    async def unclean_allowed(self, topic: str, default: bool) -> bool:
        """unclean.leader.election.enable of a topic."""
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
        self.asked += 1
        cause = self.trace.cause
        states = await self.zk.pipeline_into(_state, (GetData(znodes.state_path(tp)) for tp in partitions))
        self.trace.cause = cause
        return {tp: state for tp, state in zip(partitions, states, strict=True) if state is not None}

    async def write_states(
        self, states: Mapping[TopicPartition, LeaderAndIsr]
    ) -> tuple[dict[TopicPartition, LeaderAndIsr], list[TopicPartition]]:
        """Write each state over the version that it was read with.

        Returns what was written, with the new versions, and the partitions where a leader was faster (or
        where an answer got lost and this very write was applied). What is in neither has no state znode any
        more.
        """
        ops = (SetData(znodes.state_path(tp), state.encode(), state.zk_version) for tp, state in states.items())
        written, beaten = {}, []
        for (tp, state), response in zip(states.items(), await self.write(ops), strict=True):
            if response.stat is not None:
                written[tp] = with_version(state, response.stat.version)
            elif response.error is ZkCode.BAD_VERSION:
                beaten.append(tp)
        return written, beaten

    async def create_states(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> list[TopicPartition]:
        """Create the state znodes, and their parents; returns the partitions whose znode this call created."""
        topics = dict.fromkeys(tp.topic for tp in states)
        await self.write(Create(znodes.partitions_path(topic)) for topic in topics)
        await self.write(Create(znodes.partition_path(tp)) for tp in states)
        responses = await self.write(Create(znodes.state_path(tp), s.encode()) for tp, s in states.items())
        return [tp for tp, response in zip(states, responses, strict=True) if response.error is ZkCode.OK]

    # -- moves, elections, notifications ------------------------------------------------------------------------------

    async def moves(self) -> dict[TopicPartition, Replicas]:
        """What /admin/reassign_partitions asks for; nothing where it is missing or not JSON of that form."""
        response = await self.ask_one(GetData(znodes.REASSIGN_PARTITIONS))
        if response.error is not ZkCode.OK:
            return {}
        try:
            return znodes.decode_reassignment(response.data)
        except (ValueError, KeyError, TypeError):
            return {}

    async def write_moves(self, moves: Mapping[TopicPartition, Replicas]) -> None:
        """Leave ``moves`` in /admin/reassign_partitions; with none left, delete it."""
        path = znodes.REASSIGN_PARTITIONS
        if not moves:
            await self.delete([path])
            return
        data = znodes.encode_reassignment(moves)
        [response] = await self.write([SetData(path, data, ANY_VERSION)])
        if response.error is ZkCode.NO_NODE:
            await self.write([Create(path, data)])

    async def preferred_elections(self) -> list[TopicPartition]:
        """What /admin/preferred_replica_election asks for, each partition once; nothing where it is missing or not JSON
        of that form."""
        response = await self.ask_one(GetData(znodes.PREFERRED_REPLICA_ELECTION))
        if response.error is not ZkCode.OK:
            return []
        try:
            return list(dict.fromkeys(znodes.decode_preferred_election(response.data)))
        except (ValueError, KeyError, TypeError):
            return []

    async def log_dir_events(self, names: Iterable[str]) -> list[int]:
        """The brokers that the notifications ``names`` speak of, each once."""
        responses = await self.ask([GetData(f"{znodes.LOG_DIR_EVENT_NOTIFICATION}/{name}") for name in names])
        return list(dict.fromkeys(znodes.decode_log_dir_event(r.data) for r in responses if r.error is ZkCode.OK))

    async def isr_changes(self, names: Iterable[str]) -> list[TopicPartition]:
        """The partitions that the notifications ``names`` speak of, each once."""
        responses = await self.ask([GetData(f"{znodes.ISR_CHANGE_NOTIFICATION}/{name}") for name in names])
        read = [znodes.decode_isr_change(response.data) for response in responses if response.error is ZkCode.OK]
        return list(dict.fromkeys(tp for partitions in read for tp in partitions))

    async def delete(self, paths: Iterable[str]) -> None:
        """Delete znodes, whatever their version; one that is gone already is fine."""
        for response in await self.write([Delete(path, ANY_VERSION) for path in paths]):
            if response.error not in (ZkCode.OK, ZkCode.NO_NODE):
                raise error_of(response.error, response.path)

    async def delete_tree(self, path: str) -> None:
        """Delete a znode with all below it, children first; nothing happens where there is none."""
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
    """unclean.leader.election.enable, where ``config`` may set it."""
    return config.get("unclean.leader.election.enable", str(default)).lower() == "true"


def _state(response: Response) -> LeaderAndIsr | None:
    return None if response.stat is None else LeaderAndIsr.decode(response.data, response.stat.version)


def with_version(state: LeaderAndIsr, version: int) -> LeaderAndIsr:
    return LeaderAndIsr(state.leader, state.leader_epoch, state.isr, state.controller_epoch, version)
