"""S14 (with S2 for acknowledged records): a record acknowledged with acks=all is not lost."""

from __future__ import annotations

from emulator.protocol.events import AckedLost
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Gravity
from scenarios.observe.findings.log_facts import AckedRecordsLost
from scenarios.observe.history.acknowledged import ALL


class NoAckedRecordLost(Checker):
    """A record acknowledged with acks=all is at its offset under every later leader.

    Verified: at the adoption of leadership in a new highest epoch, and at the end of the run, the leader's log holds
        every batch acknowledged before with acks=all, at its offset and after the same batches; and when a producer
        receives an acknowledgement, the leader of that moment has the batch.

    ``scenarios.observe.history.acknowledged`` says how that is found. Followers are not checked: that the ISR has
    every acknowledged record at every moment is S3. It does not hold where a follower truncates to its high watermark
    and fetches again (before KIP-101), which is not yet harm.

    What an unclean election loses is no violation, since Kafka does not promise to keep it; nor are records
    acknowledged with acks=1 (``no_acks_1_record_lost``). Both are counted in every run all the same: the figures
    ``lost_acks_all_records`` and ``lost_acks_1_records`` count every acknowledged record that was lost.

    What the machines of all in-sync replicas lose together is no violation either, nor what the only one loses: Kafka
    relies on replication, does not flush, and promises nothing where no in-sync replica is spared (the gap that KIP-966
    closes). It is counted (``lost_unflushed_records``). ``Commits`` says when exactly it is excused.

    Not verified: records that were exposed and not acknowledged (S2 checks them); that a leader may acknowledge at all
        (min.insync.replicas); logs whose start moves. A batch that was truncated counts as lost by an unclean
        election, if the partition ever had one.
    """

    ids = ("S14", "S2")
    gravity = Gravity.LOSS
    statement = (
        "id ∈ acked ⇒ log_leader[offset] = id at every later clean election and at the end: "
        "no record acknowledged with acks=all is ever lost, but by an unclean election or with all in-sync machines"
    )
    catches = (
        "KAFKA-6361", "KAFKA-7164", "KAFKA-10301", "KAFKA-14140", "KAFKA-15221",
    )  # fmt: skip
    fails_when = "a leader acknowledges before the high watermark"

    def begin(self) -> None:
        self._acknowledged = self.history.acknowledged

    def on_lost(self, event: AckedLost) -> None:
        if event.acks == ALL and not (event.unclean or event.unflushed):
            self.violated(event, lost(event), TopicPartition.of(event.topic, event.partition), (event.leader,))

    def finish(self) -> None:
        self._acknowledged.finish()


def lost(event: AckedLost) -> AckedRecordsLost:
    """The acknowledged records that were lost, and where they should be."""
    return AckedRecordsLost(
        event.leader,
        event.leader_epoch,
        event.log_end_offset,
        event.batches,
        event.records,
        event.id,
        event.base_offset,
    )
