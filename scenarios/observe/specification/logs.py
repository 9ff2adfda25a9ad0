"""Logs.tla and the appends of Isr.tla: what leaders append, what followers fetch, where logs are cut."""

from __future__ import annotations

from emulator.protocol.events import BatchesAppended, LogLoaded, LogStartMoved, Truncated
from emulator.protocol.types import TopicPartition
from scenarios.observe.specification.rejection import Sentence
from scenarios.observe.specification.replica import EVER, FETCHING, Replica
from scenarios.observe.specification.variables import Variables

APPENDS = Sentence("Isr", "LeaderAppends", "Presumes(l)", "only who leads by its last LeaderAndIsr appends as leader")
OWN_EPOCH = Sentence(
    "Isr", "LeaderAppends", "epoch |-> part[l].epoch", "a leader appends in the epoch of its last LeaderAndIsr"
)
AT_END = Sentence("Isr", "LeaderAppends", "Append(log[l], record)", "a record goes to the end of the log")
FETCHES = Sentence(
    "Isr", "Fetch", 'part[f].fetch = "fetching"', "only who follows, and was not stopped since, appends what it fetches"
)
FETCHED_AT_END = Sentence("Isr", "Fetch", "Append(log[f], log[l][end + 1])", "a follower appends at its end")
OF_LEADER = Sentence(
    "Isr",
    "Fetch",
    "Append(log[f], log[l][end + 1])",
    "a follower appends what its leader has there",
)
FROM_LEADER = Sentence("Isr", "Fetch", "Presumes(l)", "a fetch is answered by who leads in its own view")
SAME_EPOCH = Sentence(
    "Isr", "Fetch", "check == EpochOfFetch(f, l, hasEpoch)", "a fetch is answered in the leader epoch of the follower"
)
CUTS = Sentence(
    "Logs", "TruncateToEpochEndOffset", "cut.to", "a follower cuts its log where the leader's answer for its epoch says"
)
CUTS_FIRST = Sentence(
    "Logs",
    "TruncateToEpochEndOffset",
    'part[f].fetch = "truncating"',
    "a new follower cuts its log, where it has to, before it fetches",
)
CUTS_FOLLOWER = Sentence(
    "Logs", "TruncateToEpochEndOffset", 'part[f].fetch = "truncating"', "only a follower cuts its log"
)


class Logs:
    """The fold of what is in logs. It sees every batch of every replica, so it goes through columns."""

    def __init__(self, variables: Variables) -> None:
        self._variables = variables
        self._by_topic = variables.by_topic
        constants = variables.constants
        self._fenced = not constants & {"FetchesUnfenced", "SessionsForgetEpoch"}
        self._cuts_at_high_watermark = "TruncatesToHighWatermark" in constants
        self._late_epochs = "EntersEpochWithRecord" in constants
        self._coarse = "AnswersEpochsCoarsely" in constants

    def on_appended(self, event: BatchesAppended) -> None:
        """This runs for every batch on every replica. What is as it should be costs a few comparisons and no call: a
        follower that appends in the role in which its last batch was looked at, and is on its leader's line."""
        _, _, _, node, topic, leads, partitions, epochs, bases, ends, _, _ = event
        replicas = self._by_topic.get((node, topic)) or self._variables.on(node, topic)
        for partition, epoch, base, end in zip(partitions, epochs, bases, ends, strict=True):
            replica = replicas[partition]
            if leads:
                if replica.leader != node or epoch != replica.epoch or base != replica.end:
                    self._refuse_append(event, TopicPartition.of(topic, partition), replica, epoch, base)
            else:
                source, log = replica.source, replica.log
                if (
                    source is None
                    or replica.flows_from != source.epoch
                    or base != replica.end
                    or log is None
                    or source.log is None
                    or log.line is not source.log.line
                    or log.size > source.log.size
                ):
                    self._look_at_fetch(event, TopicPartition.of(topic, partition), replica, base)
            replica.end = end
            if epoch > replica.latest:
                replica.assign_epoch(epoch, base)

    def _refuse_append(
        self, event: BatchesAppended, tp: TopicPartition, replica: Replica, epoch: int, base: int
    ) -> None:
        reject = self._variables.reject
        if not replica.presumes:
            reject(event, tp, APPENDS, f"{replica.broker} appends as leader", replica)
        elif epoch != replica.epoch:
            reject(event, tp, OWN_EPOCH, f"{replica.broker} appends in epoch {epoch}", replica)
        else:
            reject(event, tp, AT_END, f"{replica.broker} appends at {base}", replica)

    def _look_at_fetch(self, event: BatchesAppended, tp: TopicPartition, replica: Replica, base: int) -> None:
        """Find what is wrong with what a follower appends, if anything is."""
        reject, me, source = self._variables.reject, replica.broker, replica.source
        if source is None or replica.fetch is not FETCHING:
            reject(event, tp, FETCHES, f"{me} appends what it fetched", replica)
        elif base != replica.end:
            reject(event, tp, FETCHED_AT_END, f"{me} appends at {base}", replica, source)
        elif not source.led:
            reject(event, tp, FROM_LEADER, f"{me} got records from {source.broker}", replica, source)
        elif self._fenced and replica.epoch not in source.led and replica.prior not in source.led:
            found = f"{me} got records from {source.broker}, which has never led epoch {replica.epoch}"
            reject(event, tp, SAME_EPOCH, found, replica, source)
        elif source.presumes:
            cut = replica.settled or base <= max(self._expected_cuts(replica, source, replica.hw_then))
            if source.epoch != replica.epoch:
                replica.settled = cut  # the leader was not in this epoch yet, or is in a later one
                return
            if not cut:
                reject(event, tp, CUTS_FIRST, f"{me} fetches from {base} on, and has cut nothing", replica, source)
            replica.settled = True
            if replica.epoch in source.led:
                replica.flows_from = source.epoch
            if not source.has_batch_of(replica):
                reject(event, tp, OF_LEADER, f"{me} appends what {source.broker} does not have there", replica, source)

    # -- cuts ---------------------------------------------------------------------------------------------------------

    def on_truncated(self, event: Truncated) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        replica = self._variables.of(event.node, tp)
        to, source = event.log_end_offset, replica.source
        if replica.presumes:
            self._variables.reject(event, tp, CUTS_FOLLOWER, f"{event.node} cuts its log to {to}", replica)
        elif source is not None and source.presumes and to < replica.end:
            self._check_cut(event, tp, replica, source, to)
        if to > replica.end:  # Log.truncateFullyAndStartAt (2.3.1)
            replica.cache.clear()
        replica.cut(to, replica.epoch - 1 if self._fenced else EVER)

    def on_start_moved(self, event: LogStartMoved) -> None:
        """Log start offsets are left out of the text; epochs that end before one are forgotten."""
        self._variables.on(event.node, event.topic)[event.partition].begin_at(event.log_start_offset)

    def _check_cut(self, event: Truncated, tp: TopicPartition, replica: Replica, source: Replica, to: int) -> None:
        expected = self._expected_cuts(replica, source, replica.hw)
        if any(to == min(one, replica.end) for one in expected):
            return
        if not replica.settled:
            expected += source.start, source.end
            if source.start <= to <= source.end:
                return  # the leader's end as it was when the leader answered that the follower is beyond it
        if replica.log is not None and any(replica.log.has_dropped(to, one) for one in expected):
            return  # batches of several records are left out: one is dropped whole
        if source.log is not None and source.log.start_offset >= replica.end:
            return  # log start offsets are left out, and a leader forgets the epochs before its own
        found = f"{event.node} cuts its log to {to}, and not to {' or '.join(map(str, dict.fromkeys(expected)))}"
        self._variables.reject(event, tp, CUTS, found, replica, source)

    def _expected_cuts(self, replica: Replica, source: Replica, hw: int) -> list[int]:
        """Where a follower cuts. Nothing before a log start offset can be cut. The profile of 1.1 lacks KAFKA-7415,
        which a run may switch on: there it is one place or the other."""
        if self._cuts_at_high_watermark:
            cuts = [hw]
        else:
            ways = (True, False) if self._late_epochs else (False,)
            cuts = [self._cut(replica, source, hw, late=late) for late in ways]
        start = 0 if replica.log is None else replica.log.start_offset
        return list(dict.fromkeys(max(cut, start) for cut in cuts))

    def _cut(self, replica: Replica, source: Replica, hw: int, *, late: bool = False) -> int:
        """Where a follower cuts (``Truncation``), by the leader's answer for its last epoch (``Answer``). ``late``:
        whether a leader enters its epoch with its first record (``EntersEpochWithRecord``)."""
        if not replica.cache:
            return hw
        known, end = self._answer(source, replica.latest, late=late)
        if end < 0:
            return hw
        if known < 0:
            return end
        found = max((epoch for epoch, _ in replica.cache if epoch <= known), default=known)
        after = next((start for epoch, start in replica.cache if epoch > found), replica.end)
        return after if found != known else min(after, end)

    def _answer(self, source: Replica, epoch: int, *, late: bool) -> tuple[int, int]:
        if epoch == (source.latest if late else source.epoch):
            return epoch, source.end
        known_to_it = source.cache
        if self._late_epochs and not late and source.latest < source.epoch:
            known_to_it = [one for one in known_to_it if one[1] < source.start] + [(source.epoch, source.start)]
        ends = next((start for later, start in known_to_it if later > epoch), None)
        if ends is None:
            return -1, -1
        upto = [known for known, _ in known_to_it if known <= epoch]
        if not upto:
            return (-1, -1) if self._coarse else (epoch, ends)
        return (-1 if self._coarse else upto[-1]), ends

    # -- disks --------------------------------------------------------------------------------------------------------

    def on_loaded(self, event: LogLoaded) -> None:
        """The log on the disk after a start: the specification leaves out disks that lose what was written."""
        variables, tp = self._variables, TopicPartition.of(event.topic, event.partition)
        replica, end = variables.of(event.node, tp), event.log_end_offset
        if end < replica.end:
            replica.cut(end)
        elif end > replica.end:
            replica.end = end
            replica.assign_epoch(0, 0)
        replica.cut_cache(end)  # an epoch without a record is not known after a start (class Log, 2.3.1)
        replica.hw, replica.disk = event.high_watermark, True
        replica.log = variables.history.logs.made(event.node, event.topic, event.partition)
