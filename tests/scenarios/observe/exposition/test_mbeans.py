"""The names beside those of real brokers, which ``python -m benchmarks.mbeans`` has read by JMX: whatever is shown is
Kafka's to the letter, and the page names what is missing."""

import re
from functools import cache
from pathlib import Path

import pytest

from benchmarks.mbeans.recorded import general, names, read_recorded
from emulator.metrics import short_name
from emulator.metrics.metrics import type_name
from scenarios.language import Scenario
from scenarios.observe.exposition import ShownMetrics
from scenarios.profiles import PROFILES
from scenarios.runs.runner import Stage
from scenarios.wire.released_versions import versions_of_requests
from tests.scenarios.language.builders import SMALL

PAGE = Path(__file__).parents[4] / "docs" / "use" / "metrics.md"
OUR_OWN = {"kafka.cluster:type=Partition,name=PartitionAvailable,topic=*,partition=*"}
PROFILE_OF = {"2.4.1": "kafka-2.4", "3.9.1": "kafka-3.9"}


@cache
def shown_by(release: str) -> set[str]:
    """The names that brokers show at the end of a run under the release's profile."""
    profile = PROFILES[PROFILE_OF[release]]
    shown = ShownMetrics(profile.policies.brokers.lacks_metrics, versions_of_requests(profile.release))
    stage = Stage(Scenario.loads(SMALL).for_run(profile=profile.name, seed=0))
    stage.cluster.trace.sink(shown.see, as_rows=False)
    stage.play()
    return {general(name) for node in shown.nodes for name, _ in shown.metrics(node, 0)}


@pytest.mark.parametrize("release", PROFILE_OF)
def test_every_name_is_a_real_brokers(release: str) -> None:
    assert shown_by(release) - read_recorded(release) == OUR_OWN


@pytest.mark.parametrize("release", PROFILE_OF)
def test_the_page_names_what_is_missing(release: str) -> None:
    said = set(re.findall(r"`([\w-]+)`|(?:type|name)=([\w-]+)", PAGE.read_text(encoding="utf-8")))
    named = {word for words in said for word in words}
    missing = read_recorded(release) - shown_by(release)
    assert {short_name(name) or type_name(name) for name in missing if ":type=" in name} <= named
    assert len(missing) < len(read_recorded(release))


def test_requests_have_a_version_in_their_names_since_2_0() -> None:
    releases = ("0.8.0", "1.1.1", "2.0.1", "2.4.1", "3.9.1")
    assert [versions_of_requests(release).get("Fetch", "") for release in releases] == ["", "", 8, 11, 17]


def test_a_name_is_kept_without_what_differs_from_broker_to_broker() -> None:
    lines = [
        "kafka.server:type=FetcherStats,name=BytesPerSec,clientId=ReplicaFetcherThread-0-1,brokerHost=a,brokerPort=1\tCount",
        'kafka.server:type=Fetch,user="",client-id=x\tbyte-rate throttle-time',
        'kafka.server:type=Fetch,user="a,b",client-id=y\tbyte-rate',
    ]
    assert names(lines) == [
        "kafka.server:type=Fetch,user=*,client-id=*:byte-rate",
        "kafka.server:type=Fetch,user=*,client-id=*:throttle-time",
        "kafka.server:type=FetcherStats,name=BytesPerSec,clientId=*,brokerHost=*,brokerPort=*",
    ]
