"""``ctl`` on a cluster that is served."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest

from scenarios.cli.program import main
from tests.scenarios.wire.gateway.served import served

SCENARIO = {
    "profile": "kafka-2.4",
    "cluster": {"brokers": 3, "controller": 2},
    "topics": [{"name": "orders", "assignment": [[0, 1], [1, 2]]}],
}


@pytest.fixture(scope="module")
def control() -> Iterator[str]:
    with served(SCENARIO) as cluster:
        yield cluster.run.control


class Ctl:
    """Calls ``understudy ctl`` and keeps what it prints."""

    def __init__(self, control: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._control = control
        self._capsys = capsys

    def __call__(self, *words: str, code: int = 0) -> str:
        assert main(["ctl", *words, "--control", self._control]) == code
        captured = self._capsys.readouterr()
        return captured.err if code else captured.out


@pytest.fixture
def ctl(control: str, capsys: pytest.CaptureFixture[str]) -> Ctl:
    return Ctl(control, capsys)


def partition(ctl: Ctl, name: str) -> dict[str, object]:
    answer = json.loads(ctl("state", name, "--format", "json"))
    (found,) = answer["partitions"]
    assert isinstance(found, dict)
    return found


def test_a_leader_is_crashed_and_healed(ctl: Ctl) -> None:
    assert "broker.crash  on 0" in ctl("crash", "leader(orders-0)")
    assert "brokers 0 down, 1 up, 2 up" in ctl("state")
    assert "is not up" in ctl("broker.crash", "0", code=2)
    assert "heal  on 0,1,2" in ctl("heal")
    assert "brokers 0 up, 1 up, 2 up" in ctl("state")


def test_every_client_has_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Also one to which nothing gives a name: that of its machine, as in the timeline."""
    loads = [{"topic": "orders", "producerRate": 1}, {"topic": "orders", "producerRate": 1, "name": "checkout"}]
    with served({**SCENARIO, "workloads": loads, "consumers": [{"topic": "orders"}]}) as cluster:
        answer = json.loads(Ctl(cluster.run.control, capsys)("state", "--format", "json"))
    assert answer["clients"] == ["producer-0", "checkout", "consumer-0"]


def test_a_plan_is_handed_over_and_its_tool_answers(ctl: Ctl, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"version": 1, "partitions": [{"topic": "orders", "partition": 1, "replicas": [2, 1]}]}))
    assert "reassign.execute" in ctl("reassign", str(plan))
    for _ in range(1000):
        if partition(ctl, "orders-1")["replicas"] == [2, 1]:
            break
    assert partition(ctl, "orders-1")["replicas"] == [2, 1]
    plan.write_text(json.dumps({"version": 1, "partitions": [{"topic": "none", "partition": 1, "replicas": [2, 1]}]}))
    assert "none-1" in ctl("reassign", str(plan), code=2)


def test_the_users_topics_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("__consumer_offsets", "zebra", "orders")
    with served({**SCENARIO, "topics": [{"name": name, "assignment": [[0]]} for name in names]}) as cluster:
        answer = json.loads(Ctl(cluster.run.control, capsys)("state", "--format", "json"))
    assert [one["partition"] for one in answer["partitions"]] == ["orders-0", "zebra-0", "__consumer_offsets-0"]


@contextmanager
def answering(place: Path, answer: bytes) -> Iterator[str]:
    """A socket that gives everyone this answer, and nothing more."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()
        taken: list[socket.socket] = []

        def serve() -> None:
            with suppress(OSError):
                taken.append(listener.accept()[0])
                taken[0].sendall(answer)

        thread = Thread(target=serve)
        thread.start()
        yield str(place)
        thread.join()
        for one in taken:
            one.close()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "no answer in 0.2 s: its process does not run, or is at it still (wait longer: --timeout)"),
        (b"HTTP/1.1 400 Bad Request\n", "what answers is no cluster; name the socket that serve names"),
        (b"[" * 100_000 + b"\n", "what answers is no cluster"),
        (b"[]\n", "what answers is no cluster"),
    ],
)
def test_what_answers_nothing_or_is_no_cluster_is_one_line(
    answer: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(tmp_path / "control", answer) as place:
        assert main(["ctl", "state", "--control", place, "--timeout", "200ms"]) == 2
    line = capsys.readouterr().err
    assert said in line
    assert line.count("\n") == 1


def test_what_would_fail_in_the_world_is_refused_before(ctl: Ctl) -> None:
    """Where it waits for a trigger it would fail later, and end the run."""
    for words in (("reassign.execute",), ("reassign.execute", "after=1s")):
        assert "there is no plan to execute; add a [plan]" in ctl(*words, code=2)
    assert "kafka-6794" in ctl("broker.crash", "1", 'when={ step = "kafka-6794.1" }', code=2)


def test_what_cannot_be_done_is_one_line(ctl: Ctl) -> None:
    for words, said in (
        (("state", "order-0"), "did you mean 'orders-0'?"),
        (("crash", "leader(order-0)"), "there is no partition 'order-0'; did you mean 'orders-0'?"),
        (("broker.crash", "9"), "broker 9 does not exist"),
        (("crash", "leader(orders-0)", "durations=1s"), "did you mean 'duration'?"),
    ):
        line = ctl(*words, code=2)
        assert said in line
        assert line.count("\n") == 1


def test_without_a_cluster_there_is_nothing_to_act_on(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["ctl", "state", "--control", str(tmp_path / "none")]) == 2
    assert "is the cluster still served?" in capsys.readouterr().err


def test_faults_on_requests_are_set_shown_and_ended(ctl: Ctl) -> None:
    assert ctl("requests") == "no fault is on any request\n"
    assert "request.fail" in ctl("request.fail", "api=Produce", "error=NOT_ENOUGH_REPLICAS", "count=3", "fault=short")
    *_, row = ctl("requests").splitlines()
    assert row.split() == ["short", "Produce", "answered", "with", "NOT_ENOUGH_REPLICAS", "0", "0"]
    assert "did you mean 'Produce'" in ctl("request.drop", "api=Prduce", code=2)
    ctl("request.clear", "fault=short")
    assert ctl("requests") == "no fault is on any request\n"
