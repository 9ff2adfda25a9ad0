"""Events and znodes of elections, shutdowns and settings, in words."""

import pytest

from emulator.protocol import znodes
from emulator.protocol.events import ControlledShutdownAnswered
from emulator.protocol.types import TopicPartition
from scenarios.observe.timeline.words import words
from scenarios.observe.timeline.znode_words import written

TPS = (TopicPartition("orders", 0), TopicPartition("logs", 3))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (("NONE", 0), "broker 1 asked controller 3 for its shutdown: NONE, still leads 0 (attempt 2)"),
        (("DISCONNECTED", -1), "broker 1 asked controller 3 for its shutdown: DISCONNECTED (attempt 2)"),
    ],
)
def test_a_shutdown(answer: tuple[str, int], told: str) -> None:
    assert words(ControlledShutdownAnswered(5, 1, 0, 1, 3, 2, *answer)) == told


@pytest.mark.parametrize(
    ("path", "data", "told"),
    [
        (znodes.PREFERRED_REPLICA_ELECTION, znodes.encode_preferred_election(TPS), "orders-0, logs-3"),
        (znodes.PREFERRED_REPLICA_ELECTION, znodes.encode_preferred_election(()), "none"),
        ("/config/topics/orders", znodes.encode_config({"min.insync.replicas": "2"}), "min.insync.replicas=2"),
        ("/config/brokers/<default>", znodes.encode_config({}), "none"),
        ("/config/changes/config_change_0000000003", znodes.encode_config_change("topics/orders"), "topics/orders"),
        ("/config/topics/orders", "not JSON", "not JSON"),
    ],
)
def test_a_znode(path: str, data: str, told: str) -> None:
    assert written(path, data, 0) == told
