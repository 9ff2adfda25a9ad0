"""``metrics``: what the brokers showed at a moment of a recorded run."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics_families
from prometheus_client.parser import text_string_to_metric_families

from scenarios.language.files import load
from scenarios.runs import run_scenario
from tests.scenarios.cli.conftest import Call


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trace")
    run_scenario(load("quick-move"), trace_dir=folder)
    return folder


Samples = dict[tuple[str, str], float]


def samples(text: str) -> Samples:
    """(name, node) -> value, of those without other labels, as Prometheus' own parser reads them."""
    return {
        (sample.name, sample.labels["node"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if len(sample.labels) == 1
    }


def test_a_scrape_at_the_end(call: Call, trace: Path) -> None:
    called = call("metrics", trace)
    assert called.code == 0
    found = samples(called.out)
    active = [node for (name, node), value in found.items() if "activecontrollercount" in name and value]
    assert len(active) == 1
    assert found["kafka_server_replicamanager_underreplicatedpartitions", "0"] == 0
    leaders = [value for (name, _), value in found.items() if name == "kafka_server_replicamanager_leadercount"]
    assert sum(leaders) == found["kafka_controller_kafkacontroller_globalpartitioncount", active[0]] > 0


def test_every_family_says_what_it_is(call: Call, trace: Path) -> None:
    families = {family.name: family for family in text_string_to_metric_families(call("metrics", trace).out)}
    assert {family.type for family in families.values()} == {"gauge", "counter", "summary"}
    assert families["kafka_server_brokertopicmetrics_bytesin"].type == "counter"
    assert families["kafka_controller_controllerstats_topicchangerateandtimems"].type == "summary"
    lag = families["kafka_server_fetcherlagmetrics_consumerlag"].samples[0]
    assert set(lag.labels) == {"node", "clientId", "topic", "partition"}
    assert all(family.documentation.startswith("kafka.") for family in families.values())


def test_a_moment_and_a_node(call: Call, trace: Path) -> None:
    early = samples(call("metrics", trace, "--at", "1s", "--node", "1").out)
    late = samples(call("metrics", trace, "--node", "1").out)
    assert {node for _, node in early} == {node for _, node in late} == {"1"}
    assert early != late


def test_the_whole_run_with_timestamps_for_grafana(call: Call, trace: Path) -> None:
    called = call("metrics", trace, "--every", "500ms", "--start", "2021-02-03T04:05:06Z")
    start = 1_612_325_106
    families = {family.name: family for family in open_metrics_families(called.out)}  # type: ignore[no-untyped-call]
    assert {family.type for family in families.values()} == {"gauge", "counter", "summary"}
    for at_us in (1_000_000, 3_500_000):
        shown = samples(call("metrics", trace, "--at", f"{at_us // 1000}ms").out)
        then = {
            (sample.name, sample.labels["node"]): sample.value
            for family in families.values()
            for sample in family.samples
            if family.type != "summary"  # of whose points this parser keeps the first sample only
            and len(sample.labels) == 1
            and float(sample.timestamp) == start + at_us / 1_000_000
        }
        assert then == {key: value for key, value in shown.items() if not key[0].endswith(("_sum", "_count"))}
    lines = called.out.splitlines()
    assert lines[-1] == "# EOF"
    one = [line for line in lines if line.startswith('kafka_server_brokertopicmetrics_bytesin_total{node="1",topic')]
    assert len(one) == len(set(one)) > 2, "the points of one sample follow each other"


def test_what_the_release_lacks_is_not_shown(call: Call, trace: Path) -> None:
    out = call("metrics", trace).out
    assert "reassigningpartitions" not in out
    assert "atminisrpartitioncount" in out


@pytest.mark.parametrize(
    ("words", "pieces"),
    [
        (["--at", "2h"], ["--at: the run ended at", "up to then"]),
        (["--at", "soon"], ["--at: 'soon' is not understood"]),
        (["--every", "1s", "--at", "2s"], ["--at", "leave one out"]),
        (["--every", "0s"], ["--every: is 0", "such as 5s"]),
        (["--every", "1s", "--start", "now"], ["--start: 'now' is no date and time; write one such as 2020"]),
        (["--start", "2020-01-01"], ["--start", "write that too"]),
        (["--node", "9"], ["--node: there is no broker 9; the run has 0, 1"]),
        (["--seed", "77"], ["no run fits"]),
    ],
)
def test_what_is_not_there(words: list[str], pieces: list[str], call: Call, trace: Path) -> None:
    called = call("metrics", trace, *words)
    assert (called.code, called.out) == (2, "")
    for piece in pieces:
        assert piece in called.line
