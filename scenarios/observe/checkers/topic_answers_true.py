"""M13: a controller says that topics are created or deleted once they are, and what it says of them is so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from emulator.protocol import znodes
from emulator.protocol.control_requests import ControlHandled, TopicsAnswered
from emulator.protocol.create_partitions import CreatePartitionsRequest
from emulator.protocol.create_topics import UNSTATED, CreatedTopic, CreateTopicsRequest, NewTopic
from emulator.protocol.delete_topics import DeleteTopicsRequest
from emulator.protocol.describe_cluster import DescribeClusterRequest
from emulator.protocol.errors import Errors
from emulator.protocol.events import NodeStarted
from emulator.protocol.metadata import NO_CONTROLLER
from emulator.protocol.shown import MetadataCached
from emulator.protocol.types import unified
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.protocol.znodes import TOPICS, decode_reassigning, decode_topic, decode_topic_id
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.administrator_answers import LATELY_US, AdministratorAnswers
from scenarios.observe.findings.metadata_facts import AnsweredTooEarly
from scenarios.observe.history.lately import Lately

LEGAL = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}", re.ASCII)
"""Names that a topic can have, unless another topic has nearly the same one (``unified``)."""
TopicRequest = CreateTopicsRequest | DeleteTopicsRequest | CreatePartitionsRequest


class KnownTopic(NamedTuple):
    """A topic in ZooKeeper.

    Attributes:
        assignment: the replicas of each partition; None: there is no such topic.
        moves: whether a move of one of its partitions is under way (KIP-455).
        creator: who has created it.
        created_us: when.
    """

    assignment: Mapping[int, tuple[int, ...]] | None = None
    id: str = ""
    moves: bool = False
    creator: int = -1
    created_us: int = -1


NONE = KnownTopic()


class TopicAnswersTrue(AdministratorAnswers):
    """A controller answers a CreateTopics, CreatePartitions or DeleteTopics without an error once its metadata has a
    leader for each new partition, or no partition of a deleted topic (DelayedCreatePartitions, DelayedDeleteTopics,
    0.10.1 to 3.9). What it has done, and why it refuses something, is so.

    Verified: each such answer against the metadata of its broker at that moment. Each answer has the topics of its
        request, each once. Against ZooKeeper since the broker took the request up: a topic that was created was
        created by this broker, with as many partitions and replicas as were asked for, as the answer says, and under
        its id; one that is deleted is marked for deletion; one that got partitions has as many as were asked for. Of
        the errors: a topic that exists exists, or is being deleted; an unknown one was not there all the time; a move
        forbids more partitions only while there is one; partitions are not too few; a replication factor is above the
        number of brokers that the broker knows, or none; a legal name is not refused as illegal where no other topic
        has nearly the same one; topics can be deleted, unless delete.topic.enable is false. The time of a
        request that has timed out is over. What is done has not failed, where nothing has delayed the broker for 10 s.
        A broker that was the controller all the time is not none. The live
        brokers and the controller of DescribeCluster (KIP-700, 2.8) are those of the broker's metadata.

    Not verified: other errors; what other brokers know by then; topics that are named by their ids.
    """

    ids = ("M13",)
    statement = (
        "answered(t) ⇒ led(t) in cache, or t ∉ cache; said(t) = Z[t]: topics are there, or gone, once a controller "
        "says so, and what it says of them is so"
    )
    fails_when = "a controller does not wait until topics are there, or gone"

    def begin(self) -> None:
        self.history.answers.of(
            self._answered, CreateTopicsRequest, DeleteTopicsRequest, CreatePartitionsRequest, DescribeClusterRequest
        )
        self._topics: Lately[str, KnownTopic] = Lately(NONE)
        self._marked: Lately[str, bool] = Lately(False)
        """Whether a topic is in /admin/delete_topics."""
        self._moves: Lately[str, bool] = Lately(False)
        """Whether there is /admin/reassign_partitions, under its path."""
        self._cached: dict[int, MetadataCached] = {}
        self._controllers: dict[int, int] = {}
        """The controller that has sent each broker metadata last."""

    # -- what there is ------------------------------------------------------------------------------------------------

    def on_written(self, event: ZkWritten) -> None:
        parent, _, name = event.path.rpartition("/")
        if parent == TOPICS:
            before = self._topics.now(name)
            if event.op == "delete":
                self._topics.put(name, event.t_us, NONE)
                return
            made = event.op == "create"
            self._topics.put(name, event.t_us, KnownTopic(
                decode_topic(event.data), decode_topic_id(event.data), bool(decode_reassigning(event.data)),
                event.client if made else before.creator, event.t_us if made else before.created_us,
            ))  # fmt: skip
        elif parent == znodes.DELETE_TOPICS:
            self._marked.put(name, event.t_us, event.op != "delete")
        elif event.path == znodes.REASSIGN_PARTITIONS:
            self._moves.put(event.path, event.t_us, event.op != "delete")

    def on_cached(self, event: MetadataCached) -> None:
        self._cached[event.node] = event

    def on_started(self, event: NodeStarted) -> None:
        self._cached.pop(event.node, None)
        self._controllers.pop(event.node, None)

    def on_handled(self, event: ControlHandled) -> None:
        if isinstance(event.request, UpdateMetadataRequest) and event.error is Errors.NONE:
            self._controllers[event.node] = event.request.controller_id

    # -- answers ------------------------------------------------------------------------------------------------------

    def on_answered(self, event: TopicsAnswered) -> None:
        for topic, asked in event.partitions.items():
            known = event.known[topic]
            wrong = known if event.asked == "delete" else tuple(number for number in asked if number not in known)
            if wrong:
                self.violated(event, AnsweredTooEarly(event.node, event.asked, topic, wrong), brokers=(event.node,))

    def _answered(self, event: RequestAnswered) -> None:
        request = event.request
        if isinstance(request, CreateTopicsRequest):
            wanted = {topic.name: topic for topic in request.topics}
            self._rows(event, request, wanted, {row.name: row.error.code for row in event.response.topics})
            for row in event.response.topics:
                if row.name in wanted and row.error.code is Errors.NONE:
                    self._created(event, request, wanted[row.name], row)
        elif isinstance(request, DeleteTopicsRequest):
            outcomes = {topic: error.code for topic, error in event.response.topics}
            self._rows(event, request, dict.fromkeys(request.topics), outcomes)
            for topic, code in outcomes.items():
                if code is Errors.NONE and not any(self._marked.since(topic, event.since_us)):
                    self.wrong(event, topic, "deleted", "it is not marked for deletion")
        elif isinstance(request, CreatePartitionsRequest):
            totals = {new.topic: new.total for new in request.topics}
            outcomes = {topic: error.code for topic, error in event.response.topics}
            self._rows(event, request, totals, outcomes)
            for topic, code in outcomes.items():
                if code is Errors.NONE and not request.validate_only:
                    self._extended(event, topic, totals.get(topic, 0))
        elif isinstance(request, DescribeClusterRequest) and event.node in self._cached:
            live = self._cached[event.node].live_brokers
            if tuple(event.response.live_brokers) != tuple(live):
                self.wrong(event, "", f"the brokers {list(event.response.live_brokers)}", list(live))
            controller = self._controllers.get(event.node, event.response.controller)
            if event.response.controller not in (controller, NO_CONTROLLER):
                self.wrong(event, "", f"the controller {event.response.controller}", controller)

    def _rows(
        self, event: RequestAnswered, request: TopicRequest, asked: Mapping[str, object],
        outcomes: Mapping[str, Errors],
    ) -> None:  # fmt: skip
        rows = len(event.response.topics)  # a topic may have been named twice
        if sorted(outcomes) != sorted(asked) or rows not in (len(outcomes), len(request.topics)):
            self.wrong(event, "", sorted(outcomes), sorted(asked))
        elected = self.cluster.acting.get(event.node)
        here_us = max(elected.t_us, self.cluster.controller_since_us) if elected is not None else event.t_us
        is_controller = event.node == self.cluster.controller and here_us < event.since_us
        for topic, code in outcomes.items():
            timed_out = code is Errors.REQUEST_TIMED_OUT
            if timed_out and event.t_us - event.since_us < request.timeout_us:
                self.wrong(event, topic, code.name, f"{(event.t_us - event.since_us) / 1e6:.3f} s have gone by")
            elif code is Errors.NOT_CONTROLLER and is_controller:
                self.wrong(event, topic, code.name, "it is the controller")
            elif topic in asked and (why := self._refuted(event, topic, asked[topic], code)):
                self.wrong(event, topic, code.name, why)

    def _refuted(self, event: RequestAnswered, topic: str, asked: object, code: Errors) -> str:
        """Why an error cannot be; "": it may."""
        there = self._topics.since(topic, event.since_us)
        knows = self._cached.get(event.node)
        known = knows is not None and topic in knows.topics and knows.t_us < event.since_us
        if code is Errors.TOPIC_ALREADY_EXISTS:
            marked = any(self._marked.since(topic, event.since_us))
            gone = all(one.assignment is None for one in there) and not marked
            return "" if not gone or (knows is not None and topic in knows.topics) else "there is no such topic"
        if code is Errors.UNKNOWN_TOPIC_OR_PARTITION:
            needs = isinstance(event.request, CreatePartitionsRequest) or known
            return "it is there" if needs and all(one.assignment is not None for one in there) else ""
        if code is Errors.REASSIGNMENT_IN_PROGRESS:
            moving = any(one.moves for one in there)
            moving |= any(self._moves.since(znodes.REASSIGN_PARTITIONS, event.since_us))
            return "" if moving else "nothing is moved"
        if code is Errors.INVALID_TOPIC_EXCEPTION:
            if isinstance(event.request, CreatePartitionsRequest):
                lately = self._marked.since(topic, event.since_us - LATELY_US)
                return "" if any(lately) else "it is not being deleted"
            legal = LEGAL.fullmatch(topic) and not self._collides(topic, event.since_us)
            return "the name is legal" if legal else ""
        if code is Errors.TOPIC_DELETION_DISABLED:
            return "topics can be deleted" if self.start.deletes_topics else ""
        if code is Errors.UNKNOWN_SERVER_ERROR:
            return "it is done" if self._is_done(event, topic, asked, there) and self.is_calm(event) else ""
        return self._too_few(asked, code, there, event)

    def _collides(self, topic: str, since_us: int) -> bool:
        """Whether another topic has been there since a time whose name is nearly the same."""
        alike = [name for name in self._topics.keys() if name != topic and unified(name) == unified(topic)]  # noqa: SIM118
        return any(one.assignment is not None for name in alike for one in self._topics.since(name, since_us))

    def _is_done(self, event: RequestAnswered, topic: str, asked: object, there: list[KnownTopic]) -> bool:
        """Whether ZooKeeper has got what was asked for since the request was taken up."""
        if isinstance(asked, NewTopic):
            return any(one.creator == event.node and one.created_us >= event.since_us for one in there)
        if isinstance(asked, int):
            return any(len(one.assignment or ()) == asked for one in there[1:])
        return any(self._marked.since(topic, event.since_us)[1:])

    def _too_few(
        self, asked: object, code: Errors, there: list[KnownTopic], event: RequestAnswered
    ) -> str:  # fmt: skip
        if code is Errors.INVALID_PARTITIONS:
            if isinstance(asked, int):
                fewer = all(one.assignment is not None and len(one.assignment) < asked for one in there)
                return f"it has fewer than {asked}" if fewer else ""
            return f"{asked.partitions} are asked for" if isinstance(asked, NewTopic) and asked.partitions > 0 else ""
        if code is Errors.INVALID_REPLICATION_FACTOR and isinstance(asked, NewTopic):
            knows = self._cached.get(event.node)
            enough = knows is not None and knows.t_us < event.since_us
            enough = enough and knows is not None and 0 < asked.replication_factor <= len(knows.live_brokers)
            enough = enough and asked.replication_factor <= len(self.cluster.registrations)
            return "there are as many brokers" if enough and self._stands(event) else ""
        return ""

    def _stands(self, event: RequestAnswered) -> bool:
        """Whether no broker has registered since the request was taken up."""
        return all(found.t_us < event.since_us for found in self.cluster.registrations.values())

    # -- what was done ------------------------------------------------------------------------------------------------

    def _created(
        self, event: RequestAnswered, request: CreateTopicsRequest, wanted: NewTopic, row: CreatedTopic
    ) -> None:
        counts = (wanted.partitions, wanted.replication_factor)
        asked = len(wanted.assignment) if wanted.assignment else wanted.partitions
        if asked not in (UNSTATED, row.partitions):
            self.wrong(event, row.name, f"{row.partitions} partitions", f"{asked} are asked for")
        if not wanted.assignment and counts[1] not in (UNSTATED, row.replication_factor):
            self.wrong(event, row.name, f"{row.replication_factor} replicas", f"{counts[1]} are asked for")
        if request.validate_only:
            return
        own = [
            one
            for one in self._topics.since(row.name, event.since_us)
            if one.creator == event.node and one.created_us >= event.since_us
        ]
        if not own:
            self.wrong(event, row.name, "created", "this broker has not created it")
            return
        first = own[0].assignment or {}
        fits = len(first) == row.partitions and {len(set(each)) for each in first.values()} == {row.replication_factor}
        if not fits or (wanted.assignment and dict(first) != dict(wanted.assignment)):
            said = f"{row.partitions} partitions of {row.replication_factor} replicas"
            self.wrong(event, row.name, said, {number: list(each) for number, each in first.items()})
        if row.topic_id != own[0].id:
            self.wrong(event, row.name, f"the id {row.topic_id!r}", repr(own[0].id))

    def _extended(self, event: RequestAnswered, topic: str, total: int) -> None:
        found = [one.assignment or {} for one in self._topics.since(topic, event.since_us)]
        if not any(len(each) == total for each in found[1:]):
            self.wrong(event, topic, f"{total} partitions", f"{len(found[-1])}, and none were added since")
