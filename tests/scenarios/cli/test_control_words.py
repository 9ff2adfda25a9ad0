"""The words of ``ctl`` as operations."""

from pathlib import Path
from typing import Any

import pytest

from scenarios.cli.control_words import operation
from scenarios.errors import BadInput


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["crash", "leader(orders-0)"], {"action": "broker.crash", "target": "leader(orders-0)"}),
        (["crash", "any", "follower(orders-0)"], {"action": "broker.crash", "target": "any follower(orders-0)"}),
        (["broker.crash 3"], {"action": "broker.crash", "target": 3}),
        (["pause", "1,2", "duration=30s"], {"action": "broker.pause", "target": [1, 2], "duration": "30s"}),
        (
            ["link.delay", "1", "peer=[2, 0]", "latency=5ms", 'when={ message = "Fetch" }'],
            {"action": "link.delay", "target": 1, "peer": [2, 0], "latency": "5ms", "when": {"message": "Fetch"}},
        ),
        (["heal"], {"action": "heal"}),
        (["state"], {"action": "state"}),
        (["state", "orders-0"], {"action": "state", "partition": "orders-0"}),
        (["stop"], {"action": "stop"}),
        (["requests"], {"action": "requests"}),
        (["request.drop", "api=Produce", "count=0"], {"action": "request.drop", "api": "Produce", "count": 0}),
        (['{"action": "broker.stop", "target": 0}'], {"action": "broker.stop", "target": 0}),
    ],
)
def test_what_words_mean(words: list[str], meant: dict[str, Any]) -> None:
    assert operation(words, Path()) == meant


def test_a_plan_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"version": 1, "partitions": []}')
    assert operation(["reassign", "plan.json", "throttle=1MB/s"], tmp_path) == {
        "action": "reassign.execute", "plan": {"version": 1, "partitions": []}, "throttle": "1MB/s"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["crush", "1"], "unknown action 'crush'; did you mean 'crash'?"),
        (["delete", "x"], "'delete' could be records.delete, topic.delete, zk.delete; write the whole name"),
        (["stop", "now"], "stop takes nothing more, and not 'now'"),
        (["requests", "now"], "requests takes nothing more, and not 'now'"),
        (["state", "a-0", "b-0"], "state takes at most one partition, and not 'b-0'"),
        (["reassign", "none.json"], "none.json: cannot be read (No such file or directory)"),
        (["{"], "this is no JSON"),
        ([""], "no action is given; try: understudy ctl state"),
    ],
)  # fmt: skip
def test_what_no_operation_is(words: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        operation(words, tmp_path)
    assert said in str(refused.value)
