"""Records deleted on request (KIP-107), and leaders that die of it."""

from __future__ import annotations

from attrs import field, frozen

from emulator.protocol.delete_records import TO_HIGH_WATERMARK
from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.faults.actions.brokers import BrokerPause
from scenarios.faults.actions.records_deleted import SINCE, RecordsDelete
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.topic_spec import split_partition
from scenarios.language.triggers import At
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import is_before

AWAY = 0.3
"""The share of deletions that come again while a follower is gone."""
ABSENCE = 13 * SECOND, 18 * SECOND
"""The time since when it is: the controller has missed it, and told the others."""
LATE = 0.3
"""The share of deletions that come again once everything is healed: no append has the leader look again then."""
AT_REST = 6 * SECOND, 16 * SECOND
"""The time after healing when they do."""
SEVERAL = 0.5
"""The share of hurried deletions with which others wait, of which some can be answered sooner."""
HURRIED = 0.5
"""The share of deletions that wait for less than half a minute: while a follower is paused, or the leader changes."""


@chaos("record-deletions", "records are deleted from the beginning of partitions, also of leaders that die then")
@frozen(kw_only=True)
class RecordDeletions(Episodes):
    times: Range = field(default=(1, 4), metadata=key(COUNT, "how often in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft = scope.draft
        if is_before(PROFILES[draft.scenario.profile].release, SINCE):
            return
        partition = scope.partition(draws)
        delete = Strike(self._delete(partition, draws.sub("what")))
        if draws.sub("hurried").chance(HURRIED):
            self._hurried(scope, draws.sub("hurried/of"), partition)
        series = [delete]
        then = draws.sub("then")
        if then.chance(0.4):
            leader = strikes.short_crash(scope, then, Target(role=f"leader({partition})"))
            series.append(leader._replace(gap_us=then.spread((MS, 2 * SECOND))))
        if then.chance(0.3):
            series.append(delete._replace(gap_us=then.spread((100 * MS, 5 * SECOND))))
        draft.add(At(draft.moment(draws)), series)
        late = draws.sub("late")
        if late.chance(LATE):
            draft.add(At(draft.faults[1] + late.moment(AT_REST)), [delete])
        away = draws.sub("away")
        if away.chance(AWAY):
            follower = Target(role=f"any isr({partition})-leader")
            absence = Strike(draft.crash(away), follower, 40 * SECOND)
            begins_us = draft.faults[0] + away.spread((MS, 2 * SECOND))
            draft.add(At(begins_us), [absence, delete._replace(gap_us=away.spread(ABSENCE))])

    @staticmethod
    def _hurried(scope: Scope, draws: Draws, partition: str) -> None:
        """Delete for a short time only, while a follower is paused, and perhaps have another broker lead."""
        slow = Strike(BrokerPause(), Target(role=f"any isr({partition})-leader"), draws.spread((200 * MS, 6 * SECOND)))
        delete = RecordsDelete(partitions=(partition,), timeout_us=draws.spread((20 * MS, 3 * SECOND)))
        series = [slow, Strike(delete, gap_us=draws.spread((MS, 100 * MS)))]
        several = draws.sub("several")
        if several.chance(SEVERAL):  # one waits for all, and the next ones for partitions that do not
            topic = split_partition(partition)[0]
            series.append(Strike(RecordsDelete(topic=topic), gap_us=several.spread((MS, 100 * MS))))
            for name in several.some([one for one in scope.partitions if split_partition(one)[0] == topic], 2):
                series.append(Strike(RecordsDelete(partitions=(name,)), gap_us=several.spread((MS, SECOND))))
        if draws.chance(0.6):
            leader = Target(role=f"leader({partition})")
            ways = (strikes.expire, strikes.short_crash, strikes.shut_down)
            series.append(draws.choice(ways)(scope, draws, leader)._replace(gap_us=draws.spread((MS, 2 * SECOND))))
        scope.draft.add(At(scope.draft.moment(draws)), series)

    @staticmethod
    def _delete(partition: str, draws: Draws) -> RecordsDelete:
        before = draws.weighted(((3, TO_HIGH_WATERMARK), (2, draws.spread((1, 1_000)))))
        if draws.chance(0.3):
            return RecordsDelete(topic=split_partition(partition)[0], before=before)
        return RecordsDelete(partitions=(partition,), before=before)
