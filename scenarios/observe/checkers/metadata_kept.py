"""E7, V3: a broker keeps the metadata that the controller has sent it, and forgets nothing of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from emulator.protocol.clients.metadata import ClientMetadataRequest
from emulator.protocol.control_requests import ControlHandled
from emulator.protocol.errors import Errors
from emulator.protocol.events import NodeCrashed
from emulator.protocol.metadata import NO_CONTROLLER, MetadataRequest
from emulator.protocol.shown import MetadataCached
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.checkers.metadata_follows import agree, leadership
from scenarios.observe.findings.metadata_facts import (
    KnowsDeletedTopic,
    KnowsEarlierEpoch,
    KnowsOtherThanSent,
    KnowsOtherThanZooKeeper,
    LeadershipFact,
    LiveBrokersDiffer,
    RefusedAndTaken,
    ToldOtherThanKnown,
)

Topics = Mapping[str, Mapping[int, PartitionMetadata]]
Differs = tuple[TopicPartition, LeadershipFact | None, LeadershipFact]
"""A partition, what a cache knows of it, and what ZooKeeper has."""


class Cache(NamedTuple):
    """The metadata that a broker knows. Brokers with equal metadata share ``topics``."""

    topics: Topics
    live_brokers: tuple[int, ...]


NOTHING = Cache({}, ())


class MetadataKept(Checker):
    """A broker that accepts an UpdateMetadata knows afterwards what the request says, and no partition that the request
    deletes; the leader epoch that it knows of a partition does not go back. One that refuses the request knows what it
    knew. It tells clients what it knows. When nothing is left to do, each broker knows the leader that ZooKeeper names,
    for each partition, and no topic that is gone.

    Verified: the metadata cache of each broker after each UpdateMetadata, as far as the request names partitions; of
        answers to Metadata one in four, against the cache: every partition that it is asked about, the live brokers,
        and the controller that has sent the last UpdateMetadata (KafkaApis.handleTopicMetadataRequest, 0.8 to 3.9); and
        the cache as a whole, when the cluster is at rest, for brokers that the controller has reached for long enough.

    Up to 2.3 a controller does not remember a leader epoch that it has raised alone (KAFKA-9212, 2.4): for such
    releases only leaders are compared.

    A broker that nothing has told of a deletion goes on to know the topic (``MissedDeletions``); a new topic of that
    name begins with an earlier leader epoch, once.

    Not verified: in answers to real clients the partitions whose leader is not alive, and answers that wait until a
        topic is created; partitions that a request does not name, before the cluster is at rest; the ISR and the
        replicas at rest; topics that are being deleted; brokers that shut down or lost a log directory.
    """

    ids = ("E7", "V3")
    statement = (
        "epochs in cache_b[p] never fall; it is m[p] after UpdateMetadata m, and at rest what ZooKeeper has: "
        "a broker knows what the controller has sent it"
    )
    catches = ("KAFKA-9212", "KAFKA-4443")
    fails_when = "a broker takes over only the first partition of a request"

    def begin(self) -> None:
        self.history.answers.of(self._look_at_answer, MetadataRequest, ClientMetadataRequest)
        self._epochs = self.start.metadata_has_raised_epochs
        self._known: dict[int, Cache] = {}
        """Metadata of a broker after the last request that it has accepted, by broker."""
        self._taken: dict[int, Cache] = {}
        """Metadata of a broker while it carries out a request, by broker."""
        self._controllers: dict[int, int] = {}
        """The sender of the last UpdateMetadata that a broker has accepted, by broker."""
        self._reported: dict[int, None] = {}
        self._deletions = self.history.missed_deletions
        self._renewed: dict[tuple[int, TopicPartition], int] = {}
        """When the deletion was asked for after which a broker has learned of a new topic of that name."""

    def on_crashed(self, event: NodeCrashed) -> None:
        self._known.pop(event.node, None)
        self._taken.pop(event.node, None)
        self._controllers.pop(event.node, None)

    def on_cached(self, event: MetadataCached) -> None:
        self._taken[event.node] = Cache(event.topics, event.live_brokers)

    def on_handled(self, event: ControlHandled) -> None:
        request = event.request
        if not isinstance(request, UpdateMetadataRequest):
            return
        before = self._known.get(event.node, NOTHING)
        after = self._taken.pop(event.node, before)
        self._known[event.node] = after
        if event.error is not Errors.NONE:
            if after is not before:
                self.violated(event, RefusedAndTaken(event.node, event.error.name), brokers=(event.node,))
            return
        self._controllers[event.node] = request.controller_id
        if after.live_brokers != request.live_brokers:
            facts = LiveBrokersDiffer(event.node, tuple(after.live_brokers), tuple(request.live_brokers))
            self.violated(event, facts, brokers=(event.node,))
        for state in request.partitions:
            self._compare(event, state, before.topics, after.topics)

    def _compare(self, event: ControlHandled, sent: PartitionMetadata, before: Topics, after: Topics) -> None:
        """One partition of a request that was accepted."""
        knew, knows = _of(before, sent.tp), _of(after, sent.tp)
        wanted = None if sent.leader == LEADER_DURING_DELETE else sent
        if knows is not wanted:
            facts = KnowsOtherThanSent(event.node, _leadership(knows), _leadership(wanted))
            self.violated(event, facts, sent.tp, (event.node,))
        elif self._epochs and knows is not None and knew is not None and knows.leader_epoch < knew.leader_epoch:
            if self._knew_an_earlier_topic(event.node, sent.tp):
                return
            self.violated(
                event, KnowsEarlierEpoch(event.node, leadership(knows), leadership(knew)), sent.tp, (event.node,)
            )

    def _knew_an_earlier_topic(self, broker: int, tp: TopicPartition) -> bool:
        """Whether what the broker knew of a partition until now may be of an earlier topic of that name."""
        asked_us = self._deletions.asked_us(tp.topic)
        earlier = self._deletions.is_missed(broker, tp.topic) and self._renewed.get((broker, tp)) != asked_us
        if earlier:
            self._renewed[broker, tp] = asked_us
        return earlier

    def _look_at_answer(self, event: RequestAnswered) -> None:
        request: Any = event.request
        response: Any = event.response
        node, wrong = event.node, None
        cache = self._taken.get(node) or self._known.get(node, NOTHING)
        controller = self._controllers.get(node, NO_CONTROLLER)
        if response.live_brokers != cache.live_brokers:
            wrong = f"live brokers {list(response.live_brokers)}", f"live brokers {list(cache.live_brokers)}"
        elif response.controller != controller:
            wrong = f"controller {response.controller}", f"controller {controller}"
        elif isinstance(request, ClientMetadataRequest):
            wrong = self._told_client(event, request, response, cache)
        else:
            wrong = self._told(request, response.partitions, cache.topics)
        if wrong is not None:
            self.violated(event, ToldOtherThanKnown(node, *wrong), brokers=(node,))

    @staticmethod
    def _told(request: Any, states: tuple[PartitionMetadata, ...], topics: Topics) -> tuple[str, str] | None:
        """The difference between an answer to an emulated client and the cache: what it says, and what is known."""
        wanted = topics if request.topics is None else set(request.topics)
        count = sum([len(topics[topic]) for topic in wanted if topic in topics])
        told = {state for state in states if _of(topics, state.tp) is state}
        if len(told) == len(states) == count:
            return None
        return f"{len(told)} partitions as it knows them, of {len(states)}", f"{count} of them"

    @staticmethod
    def _told_client(
        event: RequestAnswered, request: ClientMetadataRequest, response: Any, cache: Cache
    ) -> tuple[str, str] | None:
        """The difference between an answer to a real client and the cache: what it says, and what is known."""
        if request.topic_ids or request.only_alive or event.t_us != event.since_us:
            return None
        wanted = tuple(cache.topics) if request.topics is None else tuple(dict.fromkeys(request.topics))
        names = tuple(topic.name for topic in response.topics)
        if names != wanted:
            return f"topics {', '.join(names)}", ", ".join(wanted)
        for topic in response.topics:
            table = {} if topic.error else cache.topics.get(topic.name, {})
            if (topic.error and topic.name in cache.topics) or len(table) != len(topic.partitions):
                return f"{len(topic.partitions)} partitions of {topic.name}", str(len(table))
            for error, state in ((one.error, one.state) for one in topic.partitions):
                known = _of(cache.topics, state.tp)
                lives = known is not None and known.leader in cache.live_brokers
                if lives is bool(error) or (lives and known is not state):
                    return f"{state.tp} with {error.name}, leader {state.leader}", str(_leadership(known))
        return None

    def at_rest(self, moment: Moment) -> None:
        looked: list[tuple[Topics, Differs | None]] = []
        for broker, cache in self._known.items():
            if broker in self._reported or not self._has_been_reached(broker, moment.t_us):
                continue
            same = [differs for topics, differs in looked if topics is cache.topics]
            differs = same[0] if same else next(self._differs(cache.topics), None)
            if not same:
                looked.append((cache.topics, differs))
            if differs is not None:
                tp, known, in_zookeeper = differs
                self._reported[broker] = None
                self.violated(moment, KnowsOtherThanZooKeeper(broker, known, in_zookeeper), tp, (broker,))
            elif (gone := next(self._is_gone(broker, cache.topics), None)) is not None:
                self._reported[broker] = None
                self.violated(moment, KnowsDeletedTopic(broker, gone), brokers=(broker,))

    def _has_been_reached(self, broker: int, now_us: int) -> bool:
        """Whether the controller has reached it for so long that it has been sent everything."""
        now = self.now
        since_us = now.reached_since_us(broker)
        if since_us is None or self.cluster.is_shutting_down(broker) or self.cluster.lacks_dirs(broker):
            return False
        return now_us - since_us >= now.bound_at_rest(now_us, SETTLING_US)

    def _differs(self, topics: Topics) -> Iterator[Differs]:
        """The places where a cache differs from ZooKeeper."""
        cluster = self.cluster
        for topic in (topic for topic in cluster.topics if not cluster.is_deleting(topic)):
            for tp in cluster.partitions(topic):
                state, known = cluster.state(tp), _of(topics, tp)
                if state is not None and not agree(known, state, epochs=self._epochs):
                    yield tp, _leadership(known), leadership(state)

    def _is_gone(self, broker: int, topics: Topics) -> Iterator[str]:
        """The topics that a broker still knows, although it has been notified of their deletion."""
        for topic in topics:
            known = not self.cluster.is_deleting(topic) and not self.cluster.partitions(topic)
            if known and not self._deletions.is_missed(broker, topic):
                yield topic


def _of(topics: Topics, tp: TopicPartition) -> PartitionMetadata | None:
    return topics.get(tp.topic, {}).get(tp.partition)


def _leadership(known: PartitionMetadata | None) -> LeadershipFact | None:
    return None if known is None else leadership(known)
