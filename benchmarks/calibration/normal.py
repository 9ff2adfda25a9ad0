"""The normal form of a run: streams of lines that two runs of the same Kafka have in common.

Left out is what differs between two runs of one cluster: times and addresses; the writes before the first topic; in
which order followers join the ISR and how many joins one announcement carries; which of several brokers becomes
controller; the ids that topics are given. A stream is what happens to one znode, or what one broker is sent about one
topic; between streams there is no order.
"""

import json
import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import NamedTuple

from benchmarks.calibration.facts import NO_ERROR, Answer, Count, Fact, Log, PartitionState, Request, Write

CLUSTER = "-"
"""Stands for a topic where a stream is about none."""

_KEPT = (
    "/brokers/topics/", "/admin/reassign_partitions", "/admin/preferred_replica_election", "/admin/delete_topics/",
    "/controller", "/brokers/ids/",
)  # fmt: skip
_SETTINGS = ("/config/topics/", "/config/brokers/")
_STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")
_VERSION = re.compile(r",version=\d+")
_OF_TOPIC = re.compile(r",topic=([^,]+)")
_TOPIC = re.compile(r"/(?:brokers/topics|admin/delete_topics|config/topics)/([^/]+)")


class Stream(NamedTuple):
    """The name of a stream.

    Attributes:
        topic: the topic that it is about; ``-`` for none.
    """

    topic: str
    name: str


Normal = Mapping[Stream, list[str]]


def normal(facts: Iterable[Fact], *, settings: bool = False) -> Normal:
    """The streams of a run, by name; those that hold nothing are left out. ``settings``: with what was written of the
    settings of topics and brokers."""
    facts = list(facts)
    writes, requests = _Writes(_KEPT + _SETTINGS * settings), _Requests()
    begun = False
    for fact in facts:
        if isinstance(fact, Write):
            begun = begun or fact.path.startswith("/brokers/topics/")
            if begun:
                writes.see(fact)
        elif isinstance(fact, Request):
            requests.see(fact)
    requests.end()
    for fact in facts:
        if isinstance(fact, Answer):
            requests.streams.setdefault(Stream(fact.topic, f"answers of {fact.of}"), []).append(fact.text)
        elif isinstance(fact, Count):
            topic = _OF_TOPIC.search(fact.metric)
            stream = Stream(topic[1] if topic else CLUSTER, f"counts of {fact.broker}")
            line = f"{_VERSION.sub('', fact.metric)}: {fact.value}"
            requests.streams.setdefault(stream, []).append(line)
    streams = {**writes.streams, **requests.streams, **_logs(fact for fact in facts if isinstance(fact, Log))}
    return {stream: lines for stream, lines in sorted(streams.items()) if lines}


def _logs(logs: Iterable[Log]) -> dict[Stream, list[str]]:
    """The content of each replica, and the others with which it agrees."""
    streams: dict[Stream, list[str]] = {}
    first: dict[tuple[str, int, str], int] = {}
    for log in sorted(logs, key=lambda log: (log.topic, log.partition, log.broker)):
        like = first.setdefault((log.topic, log.partition, log.content), log.broker)
        lines = streams.setdefault(Stream(log.topic, f"logs of {log.topic}-{log.partition}"), [])
        lines.append(f"broker {log.broker}: epochs {list(log.epochs)}, the records of broker {like}")
    return streams


class _State(NamedTuple):
    """The content of a state znode."""

    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: frozenset[int]
    recovering: bool

    def grown_from(self, other: "_State | None") -> bool:
        """Whether nothing but joins lies between the two."""
        if other is None or (self.recovering, *self[:3]) != (other.recovering, *other[:3]):
            return False
        return self.isr > other.isr


class _Writes:
    """Writes by znode."""

    def __init__(self, kept: tuple[str, ...]) -> None:
        self.streams: dict[Stream, list[str]] = {}
        self._kept = kept
        self._states: dict[Stream, _State | None] = {}
        self._ids: dict[Stream, list[str]] = {}

    def see(self, write: Write) -> None:
        if not write.path.startswith(self._kept):
            return
        state = _STATE.fullmatch(write.path)
        if state is not None:
            self._state(Stream(state[1], f"state znode of {state[1]}-{state[2]}"), write)
            return
        if write.path.startswith("/brokers/ids/") and write.op == "setData":
            return  # the second half of a registration, in releases that write it in two steps
        topic = _TOPIC.match(write.path)
        stream = Stream(topic[1] if topic else CLUSTER, f"znode {write.path}")
        if write.path.startswith("/admin/") and not topic:
            stream = Stream(self._named(write, stream), stream.name)
        self.streams.setdefault(stream, []).append(self._line(stream, write))

    def _named(self, write: Write, stream: Stream) -> str:
        """The topic that a request of an operator names, where it names one; a later write is about the same."""
        topics = {each["topic"] for each in json.loads(write.data)["partitions"]} if write.data else set()
        if len(topics) == 1:
            self._asked = topics.pop()
        return getattr(self, "_asked", stream.topic)

    def _line(self, stream: Stream, write: Write) -> str:
        if write.op == "delete":
            return "deleted"
        if write.path == "/controller":
            return "created"
        if write.path.startswith("/admin/delete_topics/"):
            return "created"  # the data is of no account: null, or empty
        version = f" v{write.version}" if write.op == "setData" else ""
        return f"{self._data(stream, write.data)}{version}"

    def _data(self, stream: Stream, data: str) -> str:
        """JSON with its keys in order: releases write them in different ones. An id of a topic, which is drawn, as its
        number among those that the topic has had."""
        if not data.startswith("{"):
            return data or "created"
        found = json.loads(data)
        if "topic_id" in found:
            known = self._ids.setdefault(stream, [])
            if found["topic_id"] not in known:
                known.append(found["topic_id"])
            found["topic_id"] = known.index(found["topic_id"]) + 1
        return json.dumps(found, sort_keys=True)

    def _state(self, stream: Stream, write: Write) -> None:
        lines = self.streams.setdefault(stream, [])
        if write.op == "delete":
            self._states[stream] = None
            lines.append("deleted")
            return
        found = json.loads(write.data)
        state = _State(
            found["controller_epoch"], found["leader"], found["leader_epoch"], frozenset(found["isr"]),
            bool(found.get("leader_recovery_state")),
        )  # fmt: skip
        if state.grown_from(self._states.get(stream)):
            lines.pop()
        self._states[stream] = state
        recovering = " recovering" * state.recovering
        lines.append(
            f"controller epoch {state.controller_epoch}, leader {state.leader}, epoch {state.leader_epoch}, "
            f"ISR {sorted(state.isr)} v{write.version}{recovering}"
        )


class _Requests:
    """Requests by broker and topic."""

    def __init__(self) -> None:
        self.streams: dict[Stream, list[str]] = {}
        self._metadata: dict[tuple[int, str, int], tuple[object, PartitionState]] = {}
        self._begun: set[int] = set()

    def see(self, request: Request) -> None:
        if request.partitions:
            self._begun.add(request.to)
        if request.to not in self._begun:
            return
        topics = dict.fromkeys(state.topic for state in request.partitions)
        for topic in topics:
            states = [state for state in request.partitions if state.topic == topic]
            if request.api == "UpdateMetadata":
                states = [state for state in states if self._is_news(request, state)]
            if states:
                self._add(request, topic, states)
        if not topics:
            self._add(request, CLUSTER, [])

    def _is_news(self, request: Request, state: PartitionState) -> bool:
        """Whether metadata says more than that followers have joined: joins are announced sooner or later, together or
        one by one."""
        key = request.to, state.topic, state.partition
        same = (
            request.controller_epoch,
            request.broker_epoch,
            request.brokers,
            state.leader,
            state.leader_epoch,
            state.replicas,
            state.more,
        )
        before, self._metadata[key] = self._metadata.get(key), (same, state)
        return before is None or before[0] != same or not set(before[1].isr) <= set(state.isr)

    def _add(self, request: Request, topic: str, states: list[PartitionState]) -> None:
        stream = Stream(topic, f"requests to {request.to}")
        error = "" if request.error == NO_ERROR else f" -> {request.error}"
        incarnation = f", incarnation {request.broker_epoch}" if request.broker_epoch else ""
        head = f"{request.api} (controller epoch {request.controller_epoch}{incarnation}"
        live = f", brokers {list(request.brokers)}" if request.brokers and request.api == "UpdateMetadata" else ""
        body = "; ".join(_words(request.api, state) for state in states)
        self.streams.setdefault(stream, []).append(f"{head}{live}){error}: {body}")

    def end(self) -> None:
        """Add the final state of each partition in each broker's metadata."""
        for (broker, topic, _), (_, state) in sorted(self._metadata.items(), key=lambda each: each[0]):
            line = f"in the end: {_words('UpdateMetadata', state)}"
            self.streams.setdefault(Stream(topic, f"requests to {broker}"), []).append(line)


def _words(api: str, state: PartitionState) -> str:
    more = f" {state.more}" if state.more else ""
    error = "" if state.error == NO_ERROR else f" -> {state.error}"
    if api == "StopReplica":
        epoch = "" if state.leader_epoch == -1 else f" epoch {state.leader_epoch}"
        return f"{state.partition}{epoch}{more}{error}"
    made = f"of controller epoch {state.controller_epoch}{more}{error}"
    return (
        f"{state.partition} leader {state.leader}, epoch {state.leader_epoch}, ISR {list(state.isr)}, "
        f"replicas {list(state.replicas)}, v{state.zk_version}, {made}"
    )


class Difference(NamedTuple):
    """The difference of a stream on both sides.

    Attributes:
        kafka, understudy: the lines that one side alone has, in order.
    """

    stream: Stream
    kafka: tuple[str, ...]
    understudy: tuple[str, ...]

    @property
    def lines(self) -> int:
        """The number of lines that one side alone has."""
        return len(self.kafka) + len(self.understudy)


def differences(kafka: Normal, understudy: Normal) -> list[Difference]:
    """The streams that differ, by name."""
    found = []
    for stream in sorted({*kafka, *understudy}):
        real, ours = kafka.get(stream, []), understudy.get(stream, [])
        if real != ours:
            spans = SequenceMatcher(None, real, ours, autojunk=False).get_opcodes()
            unequal = [span for span in spans if span[0] != "equal"]
            mine = [line for _, begin, end, _, _ in unequal for line in real[begin:end]]
            theirs = [line for _, _, _, begin, end in unequal for line in ours[begin:end]]
            found.append(Difference(stream, tuple(mine), tuple(theirs)))
    return found
