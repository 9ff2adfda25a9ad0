"""Settings in their layers: a topic's own, one broker's own, and the default of all brokers.

They are set, changed and taken away in orders that are drawn, until the last one of a layer is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.chaos.kinds.histories import gap
from scenarios.chaos.kinds.operator_work import OF_ALL_BROKERS
from scenarios.cluster.clients.tools.throttle import RATES
from scenarios.faults.actions.config_actions import ConfigSet
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.kafka_settings import TOPIC_SETTINGS
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.triggers import At

Values = Sequence[Any]
LAYERED: Sequence[tuple[str, str, Values]] = (
    ("min.insync.replicas", "min.insync.replicas", (1, 2)),
    ("unclean.leader.election.enable", "unclean.leader.election.enable", (True, False)),
    ("retention.ms", "log.retention.ms", (2_000, 60_000)),
    ("retention.bytes", "log.retention.bytes", (4_000, 64 << 10)),
    ("segment.bytes", "log.segment.bytes", (4 << 10, 256 << 10)),
    ("segment.ms", "log.roll.ms", (500, 5_000)),
    ("flush.messages", "log.flush.interval.messages", (1, 20)),
    ("cleanup.policy", "log.cleanup.policy", ("delete", "compact", "compact,delete")),
)
"""Settings by their names on a topic and on brokers, with values."""
OF_BROKERS: Sequence[tuple[str, Values]] = tuple((rate, (20_000, 200_000)) for rate in RATES)
"""Settings of brokers alone."""


@chaos(
    "setting-layers", "settings of a topic, of one broker and of all are set over each other, and taken away in turn"
)
@frozen(kw_only=True)
class SettingLayers(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how many series of changes there are in a run"))
    changes: Range = field(default=(3, 6), metadata=key(COUNT, "how many changes a series has"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        topic = draws.choice(scope.topics)
        own_name, name, values = draws.choice(LAYERED)
        broker = Target(brokers=(draws.choice(scope.brokers),))
        of_one: tuple[str, Values] = draws.choice(OF_BROKERS) if name in OF_ALL_BROKERS else (name, values)
        series: list[Strike] = []
        for number in range(draws.between(self.changes)):
            own = draws.sub(number)
            layer = own.weighted(((3, "topic"), (3, "all"), (2, "one")))
            if layer == "topic":
                action = self._change(own, own_name, values, topic=topic.name)
            elif layer == "all":
                action = self._change(own, name, values)
            else:
                scope.draft.throttles |= of_one[0] in RATES
                action = self._change(own, *of_one, brokers=broker)
            series.append(Strike(action, gap_us=gap(own)))
            if own.chance(0.2):
                target = strikes.role(scope, own, scope.partition(own))
                series.append(strikes.strike(scope, own, target)._replace(gap_us=own.spread((MS, SECOND))))
        last = self._end(draws.sub("end"), topic.name, name)
        scope.draft.add(At(scope.draft.moment(draws)), [*series, last])

    @staticmethod
    def _change(draws: Draws, name: str, values: Values, **where: Any) -> ConfigSet:
        if draws.chance(0.35):
            return ConfigSet(remove=(name,), **where)
        return ConfigSet(config={name: draws.choice(values)}, **where)

    @staticmethod
    def _end(draws: Draws, topic: str, name: str) -> Strike:
        """The end of all settings of the topic, or of the default of all brokers."""
        all_gone = ConfigSet(remove=tuple(TOPIC_SETTINGS), topic=topic)
        action = all_gone if draws.chance(0.6) else ConfigSet(remove=(name,))
        return Strike(action, gap_us=gap(draws))
