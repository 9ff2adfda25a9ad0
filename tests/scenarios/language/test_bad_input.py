"""Whatever does not fit is refused in one line that says where, what is wrong and what would be right."""

from pathlib import Path

import pytest

from scenarios.errors import BadInput
from scenarios.language import Scenario
from tests.scenarios.language.builders import SMALL, small_with
from tests.scenarios.language.refusals import CASES


def refusal(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        Scenario.loads(text, source="small.toml")
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("small.toml")
    return message


@pytest.mark.parametrize("case", CASES)
def test_refused_in_one_line(case: str) -> None:
    text, where, hint = CASES[case]
    message = refusal(text)
    assert where in message
    assert hint in message


def test_the_small_scenario_itself_is_accepted() -> None:
    assert Scenario.loads(SMALL).cluster.brokers == 7


def test_a_move_step_needs_a_move() -> None:
    text = small_with('action = "reassign.execute"', 'action = "controller.crash"').replace(
        'at = "1s"', 'when = { step = "move.start" }'
    )
    assert "no move is started" in refusal(text)


def test_a_name_in_the_place_of_a_table_is_answered_with_the_table() -> None:
    text = 'strategy = "kip-455"\n' + SMALL.partition("[strategy]")[0]
    assert (
        "strategy: the text 'kip-455' does not fit; write a table of keys, such as { name = \"kip-455\" }"
        in refusal(text)
    )


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "absent.toml", tmp_path, binary):
        with pytest.raises(BadInput, match="name a scenario file"):
            Scenario.load(path)


MOVED = '{"topic": "orders", "partition": 0, "replicas": [3, 4, 5]}'


def test_a_plan_file_that_is_broken(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(SMALL[: SMALL.index("[plan]")] + '[plan]\nfile = "move.json"\n')
    for content, hint in (
        ('{"version": 1,\n oops}', "move.json:2"),
        ('{"version": 1}', "move.json: the key 'partitions' is missing"),
        ('{"file": "move.json"}', "move.json file: unknown key 'file'"),
        (f'{{"partitions": [{MOVED}, 3]}}', "move.json partitions[1]: the number 3 does not fit"),
        (f'{{"partitions": [{MOVED.replace("5", "9")}]}}', "move.json partitions[0].replicas: broker 9 does not exist"),
    ):
        (tmp_path / "move.json").write_text(content)
        with pytest.raises(BadInput) as caught:
            Scenario.load(scenario)
        assert hint in str(caught.value)
