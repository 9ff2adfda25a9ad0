"""Isr.tla: the ISR that a leader grows and shrinks by conditional writes, and the high watermark."""

from __future__ import annotations

from typing import Any

from emulator.protocol.events import HighWatermarksMoved, IsrChanged, IsrProposed, IsrUpdateFailed
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkSession
from scenarios.observe.past.changes import StateWritten
from scenarios.observe.specification.rejection import Sentence
from scenarios.observe.specification.replica import Replica
from scenarios.observe.specification.variables import Variables

MARK_OF_LEADER = Sentence("Isr", "LeaderAppends", "Presumes(l)", "only a leader moves its high watermark as one")
MARK_RISES = Sentence(
    "Isr", "HighWatermark", "IF least > before THEN least ELSE before", "a leader's high watermark does not fall"
)
MARK_COUNTS = Sentence(
    "Isr",
    "HighWatermark",
    "least == Min({IF r = l THEN end ELSE p.ends[r] : r \\in Counted(p, l)})",
    "a leader's high watermark is at most the least end of those that count",
)
MARK_FOLLOWS = Sentence(
    "Isr",
    "Fetch",
    "![f] = Least(hw[l], Len(grown))",
    "a follower has at most its leader's high watermark, and its end",
)
JOINS_OUTSIDE = Sentence("Isr", "MayJoin", "f \\notin p.isr /\\ p.proposal = {}", "one change of the ISR at a time")
JOINS_ASSIGNED = Sentence(
    "Isr", "MayJoin", "f \\in p.assigned \\/ JoinsUnassigned", "who joins the ISR is assigned, as the leader was told"
)
JOINS_AT_MARK = Sentence("Isr", "MayJoin", "end >= mark", "who joins the ISR has all up to the high watermark")
JOINS_AT_START = Sentence(
    "Isr",
    "MayJoin",
    "end >= p.start \\/ JoinsBelowEpochStart",
    "who joins the ISR has all from before the leader's epoch",
)
JOINS_WITH_LOG = Sentence(
    "Isr", "Fetch", "known == [part[l] EXCEPT !.ends[f] = end]", "how far a follower is, its own fetch says"
)
SHRINKS_MEMBERS = Sentence("Isr", "ShrinkIsr", "r \\in part[l].isr \\ {l}", "only a member leaves, and not the leader")
SHRINKS_BEHIND = Sentence(
    "Isr", "ShrinkIsr", "part[l].ends[r] # Len(log[l]) \\/ ShrinksCaughtUp", "only who is behind leaves"
)
SHRINKS_ALONE = Sentence("Isr", "ShrinkIsr", "part[l].proposal = {}", "one change of the ISR at a time")
PROPOSES = Sentence("Isr", "ShrinkIsr", "Presumes(l)", "only a leader changes its ISR")
WRITES_AS_LEADER = Sentence(
    "Isr", "Written", "[zk EXCEPT !.leader = l, !.epoch = p.epoch, !.isr = isr", "a leader writes itself and its epoch"
)
WRITES_VERSION = Sentence("Isr", "CanWrite", "zk.version = p.version", "a leader writes at the version that it knows")
WRITES_PROPOSAL = Sentence(
    "Isr", "Fetch", "!.isr = IF writes THEN @ \\cup {f} ELSE @", "a leader writes what it proposed"
)
WRITES_DECIDED = Sentence(
    "Isr", "Written", "!.by = p.decided", "an ISR write has the controller epoch of the decision that made the leader"
)
ALTERS = Sentence(
    "Isr",
    "AlterIsr",
    "zk.leader = l /\\ zk.epoch = part[l].epoch /\\ CanWrite(part[l])",
    "the controller writes an ISR for the leader of the epoch, at the version that it knows",
)
ALTERS_PROPOSAL = Sentence("Isr", "AlterIsr", "!.isr = part[l].proposal", "the controller writes what was proposed")
ALTERS_BY_CONTROLLER = Sentence(
    "Isr", "AlterIsr", "IsrByController /\\ Waits(c) /\\ zk.controller = {c}", "only the controller writes an ISR"
)
KEEPS_OWN_WRITE = Sentence(
    "Isr",
    "Fetch",
    "IF ForgetsOwnIsrWrite /\\ writes THEN BOOLEAN ELSE {FALSE}",
    "a leader finds its own write in the state znode, also where ZooKeeper's answer was lost",
)


class Isr:
    """The fold of ISRs and high watermarks."""

    def __init__(self, variables: Variables) -> None:
        self._variables = variables
        self._by_topic = variables.by_topic
        self._joins_unassigned = "JoinsUnassigned" in variables.constants
        self._joins_below_start = "JoinsBelowEpochStart" in variables.constants
        self._drops_caught_up = "ShrinksCaughtUp" in variables.constants
        self._over_assigned = "CommitsOverAssigned" in variables.constants
        self._forgets = "ForgetsOwnIsrWrite" in variables.constants
        self._by_controller = "IsrByController" in variables.constants

    # -- the high watermark -------------------------------------------------------------------------------------------

    def on_moved(self, event: HighWatermarksMoved) -> None:
        """This runs for every high watermark of every replica: what is as it should be costs no call."""
        _, _, _, node, topic, leads, partitions, epochs, marks = event
        replicas = self._by_topic.get((node, topic)) or self._variables.on(node, topic)
        for partition, epoch, mark in zip(partitions, epochs, marks, strict=True):
            replica = replicas[partition]
            if leads:
                if replica.leader != node or epoch != replica.epoch or mark < replica.hw:
                    self._refuse_mark(event, TopicPartition.of(topic, partition), replica, mark)
                if mark > replica.end:
                    self._look_at_mark(event, TopicPartition.of(topic, partition), replica, mark)
                else:
                    for one in replica.counted:
                        if one.end < mark:
                            self._look_at_mark(event, TopicPartition.of(topic, partition), replica, mark)
                            break
            else:
                source = replica.source
                if mark > replica.end or (source is not None and source.epoch == replica.epoch and mark > source.hw):
                    tp = TopicPartition.of(topic, partition)
                    self._look_at_followers_mark(event, tp, replica, mark)
            replica.hw = mark

    def _refuse_mark(self, event: HighWatermarksMoved, tp: TopicPartition, replica: Replica, mark: int) -> None:
        sentence = MARK_RISES if replica.presumes else MARK_OF_LEADER
        self._variables.reject(event, tp, sentence, f"{replica.broker} sets it to {mark}", replica)

    def _look_at_mark(self, event: HighWatermarksMoved, tp: TopicPartition, replica: Replica, mark: int) -> None:
        behind = replica.counts_below(mark)
        if mark > replica.end or behind:
            found = f"{replica.broker} sets it to {mark}"
            self._variables.reject(event, tp, MARK_COUNTS, found, replica, *behind)

    def _look_at_followers_mark(
        self, event: HighWatermarksMoved, tp: TopicPartition, replica: Replica, mark: int
    ) -> None:
        source = replica.source
        if replica.log is not None and mark == replica.log.start_offset <= replica.end:
            return  # log start offsets are left out: no high watermark is before one (Log.updateHighWatermark, 2.4.1)
        if mark > replica.end or (source is not None and source.presumes):
            found = f"{replica.broker} sets it to {mark}"
            self._variables.reject(event, tp, MARK_FOLLOWS, found, replica, source)

    # -- what a leader proposes ---------------------------------------------------------------------------------------

    def on_proposed(self, event: IsrProposed) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        replica = self._variables.of(event.node, tp)
        replica.unanswered = False
        reject = self._variables.reject
        words = f"{event.node} proposes {list(event.isr)}"
        if not replica.presumes:
            reject(event, tp, PROPOSES, words, replica)
        elif event.kind == "expand":
            self._check_joins(event, tp, replica, words)
        else:
            self._check_leaves(event, tp, replica, words)
        replica.proposal = event.isr
        self.recount(replica, tp)

    def _check_joins(self, event: IsrProposed, tp: TopicPartition, replica: Replica, words: str) -> None:
        reject = self._variables.reject
        for follower, end in zip(event.replicas, event.ends, strict=True):
            its = self._variables.of(follower, tp)
            told = f"{words}: {follower} is at {end}"
            if follower in replica.isr or replica.proposal:
                reject(event, tp, JOINS_OUTSIDE, told, replica, its)
            if follower not in replica.assigned and not self._joins_unassigned:
                reject(event, tp, JOINS_ASSIGNED, told, replica, its)
            if end < replica.hw:
                reject(event, tp, JOINS_AT_MARK, told, replica, its)
            if end < replica.start and not self._joins_below_start:
                reject(event, tp, JOINS_AT_START, f"{told}, and the epoch starts at {replica.start}", replica, its)
            if end > its.end and not its.was_at(end, replica.epoch):
                reject(event, tp, JOINS_WITH_LOG, told, replica, its)

    def _check_leaves(self, event: IsrProposed, tp: TopicPartition, replica: Replica, words: str) -> None:
        reject = self._variables.reject
        if replica.proposal:
            reject(event, tp, SHRINKS_ALONE, words, replica)
        for follower, end in zip(event.replicas, event.ends, strict=True):
            told = f"{words}: {follower} is at {end}"
            if follower not in replica.isr or follower == event.node:
                reject(event, tp, SHRINKS_MEMBERS, told, replica)
            if end == replica.end and not self._drops_caught_up:
                reject(event, tp, SHRINKS_BEHIND, told, replica)

    def on_changed(self, event: IsrChanged) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        replica = self._variables.of(event.node, tp)
        replica.isr, replica.version, replica.proposal = event.isr, event.zk_version, ()
        self.recount(replica, tp)

    def on_session(self, event: ZkSession) -> None:
        """A session that expires takes the answers with it that have not come: Kafka asks again after the loss of a
        connection only (KafkaZkClient.conditionalUpdatePath and retryRequestsUntilConnected, 1.1.1 to 2.6.0)."""
        if event.state == "expired":
            for replica in self._variables.on_broker(event.client):
                replica.unanswered = bool(replica.proposal)

    def on_failed(self, event: IsrUpdateFailed) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        replica = self._variables.of(event.node, tp)
        state = self._variables.zk.states.get(tp)
        learns = not (self._forgets or replica.unanswered)
        if learns and state is not None and replica.wrote == (state.zk_version, replica.proposal):
            words = f"{event.node} fails to write {list(replica.proposal)}, which it has written"
            self._variables.reject(event, tp, KEEPS_OWN_WRITE, words, replica, state)
        replica.proposal = ()
        self.recount(replica, tp)

    def recount(self, replica: Replica, tp: TopicPartition) -> None:
        """Find the replicas that the high watermark waits for (``Counted``)."""
        members: tuple[int, ...] = (*replica.isr, *(one for one in replica.proposal if one not in replica.isr))
        if not self._by_controller:
            members = replica.isr
        counted = [
            self._variables.of(one, tp)
            for one in members
            if one != replica.broker and (one in replica.assigned or not self._over_assigned)
        ]
        replica.counted = tuple(counted)

    # -- what is written ----------------------------------------------------------------------------------------------

    def written(self, event: StateWritten) -> None:
        """A write that keeps leader and epoch: of the ISR."""
        before, state = event.before, event.state
        assert before is not None
        assert state is not None
        tp = event.tp
        if self._by_controller:
            self._altered(event, tp, before, state)
            return
        replica = self._variables.of(event.client, tp)
        words = f"{event.client} writes leader {state.leader}, epoch {state.leader_epoch}, ISR {list(state.isr)}"
        reject = self._variables.reject
        if state.leader == event.client:
            replica.wrote = state.zk_version, state.isr
        if replica.epoch < 0 and state.leader == event.client and state.leader_epoch in replica.led:
            return  # the broker died, or lost the disk, with the write on its way
        if state.leader != event.client or not replica.presumes or state.leader_epoch != replica.epoch:
            reject(event, tp, WRITES_AS_LEADER, words, replica)
        elif before.zk_version != replica.version:
            reject(event, tp, WRITES_VERSION, f"{words} over version {before.zk_version}", replica)
        elif replica.proposal and sorted(state.isr) != sorted(replica.proposal):
            reject(event, tp, WRITES_PROPOSAL, words, replica)
        elif state.controller_epoch != replica.decided:
            told = f"{words} with controller epoch {state.controller_epoch}, and not {replica.decided}"
            reject(event, tp, WRITES_DECIDED, told, replica)

    def _altered(self, event: StateWritten, tp: TopicPartition, before: Any, state: Any) -> None:
        replica = self._variables.of(state.leader, tp)
        words = f"{event.client} writes leader {state.leader}, epoch {state.leader_epoch}, ISR {list(state.isr)}"
        reject = self._variables.reject
        writer = self._variables.writers.get(event.client)
        if writer is None or writer.epoch != self._variables.zk.controller_epoch:  # it may have died since it wrote
            reject(event, tp, ALTERS_BY_CONTROLLER, words, replica)
        elif replica.epoch == state.leader_epoch:
            if before.zk_version != replica.version:
                reject(event, tp, ALTERS, f"{words} over version {before.zk_version}", replica)
            elif replica.proposal and sorted(state.isr) != sorted(replica.proposal):
                reject(event, tp, ALTERS_PROPOSAL, words, replica)
