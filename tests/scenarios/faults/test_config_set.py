"""``config.set``: changes of the same settings that meet each other, and what a running broker refuses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator.protocol.alter_configs import AlterConfigOp, IncrementalAlterConfigsRequest, OpType
from emulator.protocol.configs import as_text
from emulator.protocol.describe_configs import Resource, ResourceType
from emulator.protocol.errors import Errors
from emulator.protocol.znodes import ALL_BROKERS, decode_config
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.tools import config_command
from scenarios.cluster.clients.tools.command_outcome import CommandOutcome
from scenarios.cluster.cluster import Cluster
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.kafka_settings import BROKER_SETTINGS
from scenarios.runs.runner import Stage
from scenarios.testing import cluster, in_virtual_time
from tests.scenarios.cluster.asking import Ask, asking
from tests.scenarios.language.builders import small_and, small_with

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


FIXED = (
    "broker.id",
    "log.dirs",
    "num.partitions",
    "zookeeper.connect",
    "replica.lag.time.max.ms",
    "listeners",
    "own.x",
)
NAMES = st.sampled_from([*FIXED, "log.cleaner.threads", "num.network.threads", *BROKER_SETTINGS])
VALUES = st.sampled_from([-1, 0, 1, 2, 3, 7, 2**31, True, False, "CreateTime", "soon"])


def written(settings: dict[str, Any], resource: Resource) -> tuple[Errors, CommandOutcome]:
    """The answers of IncrementalAlterConfigs and of the operator's tool to it, each in a cluster of its own."""
    texts = {name: as_text(value) for name, value in settings.items()}
    ops = tuple(AlterConfigOp(name, OpType.SET, text) for name, text in texts.items())

    async def by_request(ask: Ask, _: Cluster) -> Any:
        return (await ask(IncrementalAlterConfigsRequest(((resource, ops),)))).resources[0][1].code

    async def by_tool(_: Ask, found: Cluster) -> Any:
        return await config_command.alter(found.operator, [f"brokers/{resource.name or '<default>'}"], texts)

    return asking(by_request), asking(by_tool)


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=2), st.sampled_from(["0", ""]))
@example({"broker.id": 7}, "0")
@example({"replica.lag.time.max.ms": 1}, "0")
@example({"num.replica.fetchers": 3}, "")
@settings(max_examples=20, deadline=None)
def test_the_tool_writes_what_a_running_broker_takes(changed: dict[str, Any], broker: str) -> None:
    code, outcome = written(changed, Resource(ResourceType.BROKER, broker))
    assert [error for _, error in outcome.errors] == [code] * (code is not Errors.NONE)
    assert code is not Errors.NONE or not any(name in FIXED[:-2] for name in changed)


def test_what_a_running_broker_refuses_is_refused_before_the_run() -> None:
    with pytest.raises(BadInput, match=r"replica.lag.time.max.ms.*a running broker refuses it"):
        Scenario.loads(small_and(CHANGE + 'config = { "replica.lag.time.max.ms" = 1 }'))
    started = small_with("brokers = 7\n", 'brokers = 7\nconfig = { "num.replica.fetchers" = 4 }\n')
    with pytest.raises(BadInput, match=r"refuses 9 where it has 4 threads .*write 2 to 8"):
        Scenario.loads(started + CHANGE + 'config = { "num.replica.fetchers" = 9 }')
    assert Scenario.loads(started + CHANGE + 'config = { "num.replica.fetchers" = 8 }')


@in_virtual_time
async def test_a_test_s_change_that_a_running_broker_refuses_raises() -> None:
    async with cluster(2) as c:
        with pytest.raises(KafkaError, match=r"INVALID_REQUEST: Cannot update .*Set\(broker.id\)"):
            await c.alter_config({"broker.id": 7}, broker=0)
        assert c.znode("/config/brokers/0") is None


@in_virtual_time
async def test_a_broker_that_is_down_may_get_any_number_of_threads() -> None:
    async with cluster(2, {"t": [[0, 1]]}) as c:
        await c.stop(1)
        await c.alter_config({"num.replica.fetchers": 8}, broker=1)


def test_a_change_of_a_topic_that_is_not_there_yet_was_not_made() -> None:
    text = small_and(
        CHANGE + 'topic = "late"\nconfig = { "min.insync.replicas" = 2 }',
        '[[method]]\nat = "3s"\naction = "topic.create"\ntopic = { name = "late" }',
    )
    stage = Stage(Scenario.loads(text))
    stage.play()
    assert stage.not_exercised() == ["config.set: late: UNKNOWN_TOPIC_OR_PARTITION"]
