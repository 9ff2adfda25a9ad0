"""M12: a controller elects the first replica that may lead, and leaves the ISR as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from emulator.protocol.events import ControllerElected, ControllerResigned, LeaderElected, NodeCrashed
from emulator.protocol.shown import LeadersLookedAt, Remembered
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace.events import Step
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.isr_facts import ElectedAgain, ElectedOutOfOrder, ElectionDrops, LedElsewhere, LooksLate
from scenarios.observe.past.changes import StateWritten

PREFERRED = "preferred"
FIRST_US, LATE_US = 5_000_000, 10_000_000
"""Time from an election to the first look at preferred leaders, and how late each look may be."""
NONE = -1
BY_ORDER = ("new", "offline", PREFERRED, "controlled-shutdown")


class ElectsInOrder(Checker):
    """A controller elects the first replica of the assignment that lives and is in the ISR, so that leaders are spread
    as the assignment says, and takes no replica out of the ISR that lives
    (PartitionLeaderElectionAlgorithms, 2.0 to 3.0). It elects no preferred replica that leads already: each election
    raises the leader epoch, and changes the metadata of all brokers.

    Verified: each election, while nothing has disturbed the controller for 5 s: no replica comes before the leader in
        the assignment that has been registered for so long, is not about to end, and was in the ISR, where there was
        one; none of that kind leaves the ISR. Under kafka-0.8 a controller takes the order of the ISR: there the ISR
        alone is looked at. Each election of a preferred replica, at any time: another one was elected before. Each
        time that the controller has looked for leaders that are not preferred: no broker has more of them than
        leader.imbalance.per.broker.percentage allows that it could lead itself: by its own memory at any time, while it
        has no move, and by ZooKeeper where that has been so for 5 s. An ISR that a leader has written counts there once
        it must have announced that. Once a second, that it looks: 5 s after its election, and
        leader.imbalance.check.interval.seconds after each look (KafkaController.scheduleAutoLeaderRebalanceTask, 1.0 to
        3.9), 10 s late at most while nothing disturbs it, and 10 ms for each partition, if it has made a step since:
        its thread is not held.

    Not verified: the order in which the target of a move is looked at; unclean elections; brokers of which a log
        directory has failed.
    """

    ids = ("M12",)
    gravity = Gravity.REST
    statement = (
        "elect(l, isr') ⇒ l = first(assignment ∩ isr ∩ live) ∧ isr ∩ live ⊆ isr': "
        "a controller elects the first replica that may lead, and drops none that lives from the ISR"
    )
    fails_when = "an election makes the leader the only member of the ISR"

    def begin(self) -> None:
        self._by_assignment = self.start.elects_by_assignment
        self._replaced: dict[TopicPartition, LeaderAndIsr | None] = {}
        """The state before the last one of each partition."""
        self._written: dict[TopicPartition, StateWritten] = {}
        """The last change of each state."""
        self._elected: dict[TopicPartition, int] = {}
        """The leader epoch of each partition's last election that its controller knows of."""
        settings = self.start.brokers
        self._looks = bool(settings.get("auto.leader.rebalance.enable", True))
        self._interval_us = int(settings.get("leader.imbalance.check.interval.seconds", 300)) * 1_000_000
        self._percentage = 0
        """leader.imbalance.per.broker.percentage."""
        self._due_us: dict[int, int] = {}
        """When controllers have to look again for leaders that are not preferred."""
        self._stepped_us: dict[int, int] = {}
        """When controllers made their last steps."""

    def on_controller(self, event: ControllerElected) -> None:
        self._due_us[event.node] = event.t_us + FIRST_US

    def on_controller_ended(self, event: ControllerResigned | NodeCrashed) -> None:
        self._due_us.pop(event.node, None)

    def on_step(self, event: Step) -> None:
        self._stepped_us[event.node] = event.t_us

    def look(self, moment: Moment) -> None:
        due_us, free_us = self._due_us.get(self.cluster.controller), self.now.controlled_since_us()
        if not self._looks or due_us is None or free_us is None:
            return
        late_us, stepped_us = moment.t_us - max(due_us, free_us), self._stepped_us.get(self.cluster.controller, 0)
        if stepped_us > due_us and late_us > LATE_US + 10_000 * self.cluster.count_partitions():
            del self._due_us[self.cluster.controller]
            self.violated(moment, LooksLate(self.cluster.controller, late_us), None, (self.cluster.controller,))

    def on_state(self, event: StateWritten) -> None:
        if event.state is None:
            self._replaced.pop(event.tp, None)
        else:
            self._replaced[event.tp] = event.before
            self._written[event.tp] = event

    def on_elected(self, event: LeaderElected) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        state, before = self.cluster.state(tp), self._replaced.get(tp)
        if event.selector == PREFERRED and not self.start.elects_preferred_again:
            self._look_whether_it_led(event, tp)
        self._elected[tp] = event.leader_epoch
        if event.unclean or state is None or state.leader_epoch != event.leader_epoch or not self._is_calm(event.t_us):
            return
        assignment = self.cluster.assignment(tp)
        isr = assignment if before is None else before.isr
        live = [broker for broker in assignment if broker in isr and self._lives(broker, event.t_us)]
        if self._by_assignment and event.selector in BY_ORDER and event.leader in assignment:
            ahead = assignment[: assignment.index(event.leader)]
            for passed in [broker for broker in live if broker in ahead][:1]:
                if not self._is_moved(tp):
                    facts = ElectedOutOfOrder(event.selector, event.leader, event.leader_epoch, assignment, isr, passed)
                    self.violated(event, facts, tp, (event.leader, passed))
        for dropped in [broker for broker in live if broker not in event.isr]:
            facts_of_isr = ElectionDrops(event.selector, event.leader_epoch, isr, event.isr, dropped)
            self.violated(event, facts_of_isr, tp, (dropped,))

    def _look_whether_it_led(self, event: LeaderElected, tp: TopicPartition) -> None:
        state, before = self.cluster.state(tp), self._replaced.get(tp)
        written = state is not None and state.leader_epoch == event.leader_epoch
        if not written or before is None or before.leader_epoch != self._elected.get(tp):
            return  # or it is written again, as ZooKeeper's first answer was lost
        if before.leader == event.leader:
            self.violated(event, ElectedAgain(event.leader, event.leader_epoch), tp, (event.leader,))

    def on_remembered(self, event: Remembered) -> None:
        """Look at what a controller knows itself as it has looked: nothing excuses that."""
        memories: Mapping[str, Any] = event.memories
        if event.role != "controller" or event.occasion != "looked" or memories["moves"]:
            return
        assignments, leaders = memories["assignments"], memories["leaders"]
        preferring: dict[int, list[TopicPartition]] = {}
        for topic, partitions in assignments.items():
            for number, replicas in () if topic in memories["deletions"] else partitions.items():
                preferring.setdefault(replicas[0] if replicas else NONE, []).append(TopicPartition.of(topic, number))
        for broker, partitions_of in preferring.items() if NONE not in preferring else ():
            sound = broker in memories["brokers"] and broker not in memories["shutting_down"]
            if sound and broker not in memories["offline_dirs"]:
                self._look_at_share(event, broker, [(tp, leaders.get(tp)) for tp in partitions_of], lambda _: True)

    def on_looked(self, event: LeadersLookedAt) -> None:
        self._percentage = event.percentage
        if event.node in self._due_us:
            self._due_us[event.node] = event.t_us + self._interval_us
        if event.node != self.cluster.controller or not self._is_calm(event.t_us):
            return
        preferring: dict[int, list[TopicPartition]] = {}
        for topic, partitions in self.cluster.topics.items():
            for number, replicas in partitions.items():
                tp = TopicPartition.of(topic, number)
                if self._is_moved(tp):
                    return
                if not self.cluster.is_deleting(topic):
                    preferring.setdefault(replicas[0], []).append(tp)
        for broker, partitions_of in preferring.items():
            if self._lives(broker, event.t_us):
                states = [(tp, self.cluster.state(tp)) for tp in partitions_of]
                self._look_at_share(event, broker, states, lambda tp: self._is_known(tp, event.t_us))

    def _is_moved(self, tp: TopicPartition) -> bool:
        """Whether a partition is being moved, also where ZooKeeper alone says so."""
        cluster = self.cluster
        return cluster.open_move(tp) is not None or cluster.is_reassigning(tp) or tp in cluster.requested_moves()

    def _look_at_share(
        self,
        event: LeadersLookedAt | Remembered,
        broker: int,
        preferring: list[tuple[TopicPartition, LeaderAndIsr | None]],
        is_known: Callable[[TopicPartition], bool],
    ) -> None:
        """Look at the partitions of which ``broker`` is the preferred replica."""
        elsewhere = [(tp, state) for tp, state in preferring if state is not None and state.leader != broker]
        if len(elsewhere) * 100 <= self._percentage * len(preferring):
            return
        for tp, state in elsewhere:
            if broker in state.isr and is_known(tp):
                facts = LedElsewhere(broker, state.leader, state.isr, len(elsewhere), len(preferring), self._percentage)
                self.violated(event, facts, tp, (broker, state.leader))
                return

    def _is_known(self, tp: TopicPartition, now_us: int) -> bool:
        """Whether the controller must know the state of a partition."""
        written = self._written.get(tp)
        if written is None or now_us - written.t_us < SETTLING_US:
            return False
        by_leader = written.state is not None and written.client == written.state.leader
        return not by_leader or self.now.isr_announced(tp, now_us)

    def _is_calm(self, now_us: int) -> bool:
        since_us = self.now.controlled_since_us()
        return since_us is not None and now_us - since_us >= SETTLING_US

    def _lives(self, broker: int, now_us: int) -> bool:
        """Whether the controller takes a broker for alive by now, and not for one that shuts down."""
        cluster = self.cluster
        registered_us = cluster.registered_us(broker)
        if registered_us is None or now_us - registered_us < SETTLING_US or broker in cluster.known_dead:
            return False
        return not (cluster.is_shutting_down(broker) or cluster.lacks_dirs(broker) or broker in self.now.impaired)
