"""R13: nothing is left of a topic that is gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.protocol import znodes
from emulator.protocol.events import GroupsLoaded, OffsetsCommitted
from emulator.protocol.shown import Remembered
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.broker_memory import BrokerMemory, Unlike

DISCARDED_US = 15_000_000
"""How much later than log.segment.delete.delay.ms a log may be deleted: brokers look now and then."""


class GoneTopicsForgotten(BrokerMemory):
    """Nothing is left of a topic that was deleted: no log on a disk, no replica, no partition in the metadata of a
    broker, no settings in ZooKeeper; and a log that was renamed to be deleted is deleted soon.

    Verified: when the cluster is at rest, and before (``BrokerMemory.looks_meanwhile``), on each broker that the
        controller has reached for long enough: its replicas, the logs in its directories and the topics of its
        metadata, against the topics in ZooKeeper; and the settings in ZooKeeper; checkpoints of high watermarks and log
        starts, snapshots of producers and partition.metadata name only replicas that have a log in their directory. The
        offsets of groups, at a coordinator that was there as the deletion was asked for, if no group has committed any
        since (GroupCoordinator.handleDeletedPartitions, 0.10.2). Each log that waits for its deletion, from the first
        time that it is seen there.

    Not verified: what groups commit for it later; settings of a topic that was to be created again, as a creation
        writes them first and may get no further (AdminZkClient.createTopicWithAssignment, 2.3.1); what a controller
        remembers (``controller_remembers``); a replica that a move had dropped before, and that Kafka may neither have
        stopped then nor delete with the topic (``LeftReplicas``); the metadata of a broker that nothing has told of the
        deletion (``MissedDeletions``); how long logs wait on a broker whose clock a fault has set: deletions go by the
        time of day, and the next one is awaited for as long as it seemed when the clock was wrong, also once it is
        right (LogManager.deleteLogs, 1.1.1 to 2.7).
    """

    ids = ("R13",)
    statement = "at rest t ∉ Z ⇒ t ∉ disks, metadata, settings: nothing is left of a topic that is gone"
    catches = ("KAFKA-1558",)
    fails_when = "a broker keeps deleted topics in its metadata"
    looks_meanwhile = True

    def begin(self) -> None:
        super().begin()
        self._delay_us = self.start.time_us("log.segment.delete.delay.ms", 60_000) + DISCARDED_US
        self._left, self._deletions = self.history.left_replicas, self.history.missed_deletions
        self._configs: dict[str, None] = {}
        self._begun: dict[str, None] = {}
        """The topics whose creation has written their settings, and no more."""
        self._ever: dict[str, None] = {}
        self._discarded: dict[int, dict[str, int]] = {}
        """By broker, the logs that wait for their deletion, each with the time at which it was first seen."""
        self._asked_us: dict[str, int] = {}
        """When the deletion of each topic was asked for last."""
        self._committed_us: dict[str, int] = {}
        """When a group has committed offsets of each topic last."""
        self._coordinates_us: dict[int, int] = {}
        """When each broker has loaded groups last."""

    def on_written(self, event: ZkWritten) -> None:
        path = event.path
        if path.startswith(znodes.CONFIG_TOPICS + "/"):
            topic = path.rpartition("/")[2]
            if event.op == "delete":
                self._configs.pop(topic, None)
            else:
                self._configs[topic] = None
                if event.op == "create" and not self.cluster.topics.get(topic):
                    self._begun[topic] = None
        elif path.startswith(znodes.TOPICS + "/") and path.count("/") == znodes.TOPICS.count("/") + 1:
            topic = path.rpartition("/")[2]
            self._ever[topic] = None
            self._begun.pop(topic, None)
        elif path.startswith(znodes.DELETE_TOPICS + "/") and event.op == "create":
            self._asked_us[path.rpartition("/")[2]] = event.t_us

    def on_committed(self, event: OffsetsCommitted) -> None:
        for topic in dict.fromkeys(event.topics):
            self._committed_us[topic] = event.t_us

    def on_loaded(self, event: GroupsLoaded) -> None:
        self._coordinates_us[event.node] = event.t_us

    def _keeps_offsets(self, node: int, topic: str) -> bool:
        """Whether a coordinator should have forgotten the offsets of a topic that is gone."""
        asked_us, loaded_us = self._asked_us.get(topic), self._coordinates_us.get(node)
        if asked_us is None or loaded_us is None or loaded_us > asked_us or self._deletions.is_missed(node, topic):
            return False
        return self._committed_us.get(topic, -1) < asked_us

    def unlike(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        for memory in ("replicas", "directories"):
            for tp in memories[memory]:
                if self._is_gone(tp.topic) and not self._left.may_stay(event.node, tp):
                    yield Unlike(memory, "", "it is there", "nothing: its topic is gone", tp)
        for topic in memories["metadata"]:
            if self._is_gone(topic) and not self._deletions.is_missed(event.node, topic):
                yield Unlike("metadata", f"topic {topic}", "it is there", "nothing: the topic is gone")
        for topic in memories["committed_for"]:
            if self._is_gone(topic) and self._keeps_offsets(event.node, topic):
                yield Unlike("committed_for", f"topic {topic}", "offsets of a group", "nothing: the topic is gone")
        for tp, kind in memories["left_files"]:
            yield Unlike("left_files", kind, "an entry", "nothing: there is no log", tp)
        if event.node == self.cluster.controller:
            for topic in self._configs:
                if self._is_gone(topic) and topic not in self._begun:
                    yield Unlike("settings", f"topic {topic}", "they are in ZooKeeper", "nothing: the topic is gone")
        if event.node not in self.now.clocks:
            yield from self._waiting(event, memories["discarded"])

    def _is_gone(self, topic: str) -> bool:
        return topic in self._ever and not self.cluster.topics.get(topic) and not self.cluster.is_deleting(topic)

    def _waiting(self, event: Remembered, discarded: tuple[str, ...]) -> Iterator[Unlike]:
        before = self._discarded.get(event.node, {})
        now = self._discarded[event.node] = {path: before.get(path, event.t_us) for path in discarded}
        started_us = self.cluster.started_us(event.node) or 0
        for path, since_us in now.items():
            if event.t_us - max(since_us, started_us) > self._delay_us:
                yield Unlike("discarded", path, "it is there", "nothing: its time is over")
