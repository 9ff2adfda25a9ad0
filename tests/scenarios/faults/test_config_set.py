"""``config.set``: changes of the same settings that meet each other."""

from __future__ import annotations

from emulator.protocol.znodes import ALL_BROKERS, decode_config
from scenarios.language import Scenario
from scenarios.runs.runner import Stage
from tests.scenarios.language.builders import small_and

CHANGE = '[[method]]\nat = "2s"\naction = "config.set"\n'


def test_two_first_changes_at_once_are_both_made() -> None:
    """Both find no znode. The one whose create comes second sets it (KafkaZkClient.setOrCreateEntityConfigs, 2.3)."""
    text = small_and(
        CHANGE + 'config = { "num.replica.fetchers" = 2 }', CHANGE + 'config = { "min.insync.replicas" = 2 }'
    )
    stage = Stage(Scenario.loads(text))
    stage.play()
    data = stage.cluster.zookeeper.tree.get(f"/config/{ALL_BROKERS}")
    assert data is not None
    assert decode_config(data) == {"min.insync.replicas": "2"}
