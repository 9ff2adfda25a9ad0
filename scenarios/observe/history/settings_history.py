"""The settings that brokers and topics have at each moment: those of the start, and what is written to ZooKeeper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import Factory, frozen

from emulator.protocol.znodes import ALL_BROKERS, CONFIG_BROKERS, CONFIG_TOPICS, decode_config
from emulator.trace.events import ZkWritten

MIN_ISR = "min.insync.replicas"
GRACE_US = 60_000_000
"""Time after a change in which both values count: a change reaches brokers late, and decisions are under way."""


@frozen
class StartSettings:
    """The settings that a run's brokers are started with.

    Attributes:
        brokers: the brokers' settings, by Kafka's names and in Kafka's units; those that are missing have no effect on
            a checker.
        session_timeout_us: ZooKeeper's session timeout.
        metadata_has_raised_epochs: the release's controllers remember a leader epoch that they raise alone, and tell it
            to the brokers with the next metadata (KAFKA-9212, 2.4).
        isolates_failures: the release's fetcher threads survive an error on one partition (KIP-461, 2.3).
        ends_failed_threads: a fetcher thread ends at once when all its partitions have failed (the text of KIP-461; no
            release does that).
        marks_new_replicas: the release's controllers announce a replica that a move adds as new in the first request
            (KAFKA-10314, 2.7).
        detects_bounces: the release's controllers find out that a broker has registered again before they saw that it
            was gone (KAFKA-1120, by KIP-380, 2.2).
        drops_slow: the release's leaders drop followers that are more than replica.lag.max.messages behind (until
            KAFKA-1546, 0.9).
        drops_at_the_end: the release's leaders drop followers that have everything, and did not fetch for
            replica.lag.time.max.ms (until KAFKA-7152, 2.1).
        accepts_newer_broker_epochs: the release's brokers carry out what names a later broker epoch of theirs than they
            know (KAFKA-9839, 2.5.1).
        truncates_on_fetch: the release's fetches name the epoch of the log's last batch, and their answers where the
            two logs diverge (KIP-595, 2.7).
        truncates_by_epochs: the release's followers truncate to where the leader's log differs, epoch by epoch
            (KIP-279, 2.0).
        awaits_isr_answers: the release's leaders ask for no change of an ISR while an earlier request for that of the
            same partition has no answer (KAFKA-12686, 3.0).
        awaits_isr_writes: the release's leaders write ISRs themselves, and look at no other partition before ZooKeeper
            has answered (until KIP-497, 2.7).
        stops_offline: a replica that a move drops is sent StopReplica before the one that deletes it (0.8.1).
        announces_brokers: the release's controllers tell all brokers when one starts or ends (KAFKA-972, 0.9).
        announces_isrs: the release's leaders tell the controller when they have changed an ISR (KAFKA-1367, 0.9).
        elects_by_assignment: the release's controllers elect the first in the assignment that may lead, and not the
            first in the ISR (after 0.8.0).
        resigned_keep: the memories (``controller.memories``) that a controller of the release keeps when it resigns.
        demotion_answers, stop_answers: a leader of the release that becomes a follower, or whose replica a StopReplica
            ends, answers the producers that wait there (ReplicaManager.makeFollowers; KAFKA-9198, 2.4).
        fences_once: a coordinator of the release that could not write a fence tries again with the same epoch
            (KAFKA-9666, 2.6).
        rates_of_all: a rate that is set for all brokers holds in the release where a broker has none of its own
            (KAFKA-10190, 3.9).
        caps_min_isr: min.insync.replicas of the release counts as at most the number of replicas (KAFKA-15583, 3.7).
        holds_high_watermark: the release's leaders commit nothing while their ISR is below min.insync.replicas
            (KAFKA-15583, 3.7).
        expires_unsubscribed: offsets of a group with members expire where no member subscribes to their topic (KIP-496,
            2.4).
        commits_at_outcome: the release's leaders look what is committed when a change of an ISR has taken effect, or
            with each fetch; else (2.7 to 3.0, KAFKA-13091) with the next append.
        elects_preferred_again: an election of preferred replicas is also held where they lead already (up to 1.1).
        discounts_deleted: a topic whose deletion is asked for again counts twice among those that preferred replicas do
            not lead, and lowers that gauge of the release's controllers (KAFKA-13572, 2.7.0 to 3.2.0).
        asks_for_producer_ids: the release's brokers ask the controller for producer ids (KIP-730, 3.0).
        deletes_topics: the controllers delete topics that are marked for deletion (delete.topic.enable).
        verifies_offsets: a group's coordinator of the release asks that of a transaction whether it may write offsets
            (KAFKA-15449, 3.7).
        checks_epochs: the release's brokers refuse who knows another leader epoch than they do (KIP-320, 2.1).
        reads_from_followers: the release's followers answer clients that a leader could send to them (KIP-392, 2.4).
        undone_by: the action that ends the effect of a fault's, by their names; None for one that does not last.
    """

    brokers: Mapping[str, Any] = Factory(dict)
    session_timeout_us: int = 6_000_000
    metadata_has_raised_epochs: bool = True
    isolates_failures: bool = True
    ends_failed_threads: bool = False
    marks_new_replicas: bool = True
    detects_bounces: bool = True
    drops_slow: bool = True
    drops_at_the_end: bool = False
    accepts_newer_broker_epochs: bool = True
    truncates_on_fetch: bool = False
    truncates_by_epochs: bool = False
    awaits_isr_answers: bool = False
    awaits_isr_writes: bool = False
    announces_brokers: bool = True
    stops_offline: bool = True
    announces_isrs: bool = True
    elects_by_assignment: bool = True
    resigned_keep: frozenset[str] = frozenset()
    demotion_answers: bool = False
    stop_answers: bool = False
    fences_once: bool = True
    knows_min_isr: bool = True
    rates_of_all: bool = False
    caps_min_isr: bool = False
    expires_unsubscribed: bool = False
    holds_high_watermark: bool = False
    commits_at_outcome: bool = True
    elects_preferred_again: bool = False
    discounts_deleted: bool = False
    asks_for_producer_ids: bool = False
    verifies_offsets: bool = False
    deletes_topics: bool = True
    checks_epochs: bool = True
    reads_from_followers: bool = False
    undone_by: Callable[[str], str | None] = lambda _: None

    def time_us(self, name: str, default_ms: int) -> int:
        """A duration among the brokers' settings, whose name ends with ``.ms``."""
        return int(self.brokers.get(name, default_ms)) * 1000


class Settings:
    """The fold. A topic's own value comes first, then the default of all brokers, then that of the start (KIP-226).

    Attributes:
        start: the settings that brokers are started with.
    """

    def __init__(self, start: StartSettings) -> None:
        self.start = start
        self._all: dict[str, str] = {}
        self._topics: dict[str, dict[str, str]] = {}
        self._before: dict[tuple[str, str], list[tuple[int, str | None]]] = {}
        """The value before each change (None: none) and the time of the change, by entity and name."""

    def on_written(self, event: ZkWritten) -> None:
        if event.path == f"{CONFIG_BROKERS}/{ALL_BROKERS.rpartition('/')[2]}":
            self._all = self._changed(event, "", self._all)
        elif event.path.startswith(f"{CONFIG_TOPICS}/"):
            topic = event.path.rpartition("/")[2]
            self._topics[topic] = self._changed(event, topic, self._topics.get(topic, {}))

    def _changed(self, event: ZkWritten, entity: str, before: dict[str, str]) -> dict[str, str]:
        now = {} if event.op == "delete" else decode_config(event.data)
        made = event.op == "create"
        for name in {**before, **now}:
            if before.get(name) != now.get(name) and not (made and entity):
                self._before.setdefault((entity, name), []).append((event.t_us, before.get(name)))
        return now

    def values(self, topic: str, name: str, default: Any, now_us: int, *, of_brokers: str = "") -> list[str]:
        """The values of a topic's setting that may be in force: the one of now, and those until ``GRACE_US`` ago.

        Args:
            default: the value of brokers that are not configured otherwise.
            of_brokers: the broker's name of the setting, where it differs.
        """
        of_brokers = of_brokers or name
        own = self._recent(topic, name, self._topics.get(topic, {}).get(name), now_us)
        found = [value for value in own if value is not None]
        if len(found) < len(own):
            default = str(self.start.brokers.get(of_brokers, default)).lower()
            of_all = self._recent("", of_brokers, self._all.get(of_brokers), now_us)
            found += [default if value is None else value for value in of_all]
        return found

    def min_isrs(self, topic: str, replicas: int, now_us: int) -> list[int]:
        """The values of min.insync.replicas that may be in force in a partition with so many ``replicas``."""
        if not self.start.knows_min_isr:
            return [1]
        found = map(int, self.values(topic, MIN_ISR, 1, now_us))
        return [min(least, replicas) for least in found] if self.start.caps_min_isr else list(found)

    def value(self, topic: str, name: str, default: Any) -> str:
        """The value of now, as ZooKeeper and the start have it."""
        found = self._topics.get(topic, {}).get(name) or self._all.get(name)
        return str(self.start.brokers.get(name, default)).lower() if found is None else found

    def _recent(self, entity: str, name: str, now: str | None, now_us: int) -> list[str | None]:
        changes = self._before.get((entity, name), ())
        return [now, *(before for changed_us, before in changes if now_us - changed_us < GRACE_US)]
