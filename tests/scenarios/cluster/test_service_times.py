"""Brokers that take time (``cluster.service``), in whole runs."""

from brokers.service import ServiceTime
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.produce import ProduceRequest
from scenarios.cluster.policies import broker_policies
from scenarios.language import Scenario
from scenarios.runs import run_scenario
from tests.scenarios.language.builders import SMALL, small_with


def with_service(table: str, config: str = "{}") -> Scenario:
    return Scenario.loads(small_with("brokers = 7\n", f"brokers = 7\nservice = {table}\nconfig = {config}\n"))


def test_the_file_says_how_long_requests_take() -> None:
    stated = with_service('{ Produce = "2ms", "LeaderAndIsr/partition" = "30us", LeaderAndIsr = "1ms" }')
    service = broker_policies(stated).service
    assert service is not None
    assert service.times == {ProduceRequest: ServiceTime(2_000, 0), LeaderAndIsrRequest: ServiceTime(1_000, 30)}


def test_no_service_time_is_the_same_run() -> None:
    scenario = with_service('{ Fetch = "0s" }')
    assert broker_policies(scenario).service is None
    assert run_scenario(scenario).digest == run_scenario(Scenario.loads(SMALL)).digest


def test_the_same_seed_gives_the_same_run_and_one_thread_a_slower_one() -> None:
    table = '{ Produce = "8ms", Fetch = "4ms", "Fetch/partition" = "10us" }'
    first, again = (run_scenario(with_service(table)) for _ in range(2))
    assert first.digest == again.digest
    one = run_scenario(with_service(table, '{ "num.io.threads" = 1 }'))
    slow, slower = (run.metrics["produce_p99_ms"] for run in (first, one))
    assert isinstance(slow, float)
    assert isinstance(slower, float)
    assert 8 + 4 < slow < slower
