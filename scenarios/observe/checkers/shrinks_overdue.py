"""I3: a replica that is removed from the ISR is behind, and has been for too long."""

from __future__ import annotations

from emulator.protocol.events import BatchesAppended, IsrProposed
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.isr_facts import DroppedEarly

FETCHED_US = 3_000_000
"""The time within which a leader gets a fetch of a follower that has its whole log."""


class ShrinksOverdue(Checker):
    """A leader removes a replica from its ISR only if that replica is behind, and overdue by the rule of the release.

    Verified: each time a leader decides to shrink its ISR: the replica's end, as the leader knows it, is before the
        actual end of the leader's log (1.1: or at it), and the replica has not been caught up (0.8: has not fetched)
        for longer than replica.lag.time.max.ms, or is behind by more than replica.lag.max.messages in releases with
        that limit. An assigned member of the ISR with which a leader epoch began counts as caught up then
        (Partition.makeLeader, 0.8 to 3.9).

    Also verified: a replica that had the whole log of its leader, at a whole second less than replica.lag.time.max.ms
        (and 3 s for its fetch) ago, is not removed, where it has fetched there all the while and nothing disturbs the
        two.

    Not verified: in other cases, when the replica was caught up last, which only the leader knows, and with a clock
        that a fault has set; that an overdue replica is removed.
    """

    ids = ("I3",)
    statement = (
        "shrink(f) ⇒ now - lastCaughtUp(f) > replica.lag.time.max.ms and leo_f < leo: "
        "a replica that is removed from the ISR is behind and overdue"
    )
    fails_when = "an idle follower at the end leaves"

    def begin(self) -> None:
        self._logs = self.history.logs
        self._drops_slow = self.start.drops_slow
        self._drops_at_the_end = self.start.drops_at_the_end
        self._grown: dict[tuple[int, str], dict[int, None]] = {}
        """The partitions of which members of the ISR may lack something, by leader and topic."""
        self._whole_us: dict[tuple[int, TopicPartition, int], int] = {}
        """When a member of its ISR was seen last to have all that the leader has."""

    def on_appended(self, event: BatchesAppended) -> None:
        if event.leader:
            self._grown.setdefault((event.node, event.topic), {}).update(dict.fromkeys(event.partitions))

    def look(self, moment: Moment) -> None:
        for (node, topic), partitions in list(self._grown.items()):
            lacking = {
                number: None for number in partitions if self._lacks(node, TopicPartition.of(topic, number), moment)
            }
            if lacking:
                self._grown[node, topic] = lacking
            else:
                del self._grown[node, topic]

    def _lacks(self, node: int, tp: TopicPartition, moment: Moment) -> bool:
        """Note which members of an ISR have the whole log of their leader. Returns whether any has not."""
        log, led = self._logs.get(node, tp), self.cluster.as_led(node, tp)
        if log is None or led is None:
            return False
        others = [member for member in led.isr if member != node]
        for member in others:
            other = self._logs.get(member, tp)
            if other is not None and other.known and other.end_offset == log.end_offset:
                self._whole_us[node, tp, member] = moment.t_us
        return any(self._whole_us.get((node, tp, member)) != moment.t_us for member in others)

    def on_proposed(self, event: IsrProposed) -> None:
        if event.kind != "shrink":
            return
        tp = TopicPartition(event.topic, event.partition)
        leads = None if event.node in self.now.clocks else self.cluster.leads(event.node, tp)
        log = self._logs.get(event.node, tp)
        leader_end = event.log_end_offset if log is None else log.end_offset
        for replica, end, overdue_us in zip(event.replicas, event.ends, event.overdue_us, strict=True):
            slow = self._drops_slow and event.max_messages >= 0 and leader_end - end > event.max_messages
            behind = end < leader_end or self._drops_at_the_end
            if leads is not None and replica in leads.isr and replica in leads.replicas:
                overdue_us = min(overdue_us, event.t_us - leads.t_us)
            if not behind or not (slow or overdue_us > event.lag_time_us):
                facts = DroppedEarly(
                    event.node, event.leader_epoch, replica, end, leader_end, overdue_us, event.lag_time_us
                )
                self.violated(event, facts, tp)
            elif not slow and (whole_us := self._had_all_us(event, tp, replica)) is not None:
                end, overdue_us = leader_end if log is None else log.end_offset, event.t_us - whole_us
                facts = DroppedEarly(
                    event.node, event.leader_epoch, replica, end, leader_end, overdue_us, event.lag_time_us
                )
                self.violated(event, facts, tp)

    def _had_all_us(self, event: IsrProposed, tp: TopicPartition, replica: int) -> int | None:
        """When a follower that keeps up had the whole log; None: too long ago, or something may delay its fetches."""
        whole_us, leads = self._whole_us.get((event.node, tp, replica)), self.cluster.leads(event.node, tp)
        if whole_us is None or event.t_us - whole_us > event.lag_time_us - FETCHED_US or self.now.throttled:
            return None
        now, cluster, before_us = self.now, self.cluster, whole_us - FETCHED_US
        if leads is None or leads.t_us > before_us or now.troubled or now.calm_since_us > before_us or now.clocks:
            return None
        follows = cluster.follows(replica, tp)
        if follows is None or follows.t_us > before_us or cluster.fetches_from(replica, tp) != event.node:
            return None
        since_us = [now.reached_since_us(broker) for broker in (event.node, replica)]
        reached = all(one is not None and one <= before_us for one in since_us)
        return whole_us if reached and replica not in now.impaired and cluster.connected(replica, event.node) else None
