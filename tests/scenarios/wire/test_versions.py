"""The versions that brokers announce, those of the release as far as they are served, and the answer to all others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest

from benchmarks.announced.recorded import read_recorded
from emulator.protocol.errors import Errors
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import is_before
from scenarios.wire.apis.base import TRANSLATED
from scenarios.wire.codec.messages import APIS
from scenarios.wire.codec.schema import Field
from scenarios.wire.refusals import REFUSED_BY_KAFKA, WITHOUT_SECURITY, RefusedApi
from scenarios.wire.released_versions import HISTORY, LOWEST, RELEASES, Versions, is_release, released
from scenarios.wire.versions import NEWEST_WITHOUT_TOPIC_IDS, TRANSACTIONAL, announced, release_of
from tests.scenarios.wire.codec.bodies import full_body
from tests.scenarios.wire.gateway.served import API_VERSIONS, Raw, served

REAL = read_recorded()
OWN = {name: profile.policies.brokers.api_versions for name, profile in PROFILES.items()}
ANSWERING = {name: own for name, own in OWN.items() if is_release(own)}
Body = dict[str, Any]


def numbers(versions: Versions) -> range:
    return range(versions[0], versions[1] + 1)


@pytest.mark.parametrize("release", REAL)
def test_the_table_is_what_a_real_broker_announced(release: str) -> None:
    assert released(release) == REAL[release].announced


@pytest.mark.parametrize("release", [release for release, answers in REAL.items() if answers.refused])
def test_what_needs_security_is_refused_as_a_real_broker_did(release: str) -> None:
    assert REAL[release].refused == {key: WITHOUT_SECURITY[key] for key in released(release).keys() & WITHOUT_SECURITY}


def test_real_brokers_of_several_releases_were_asked_what_they_refuse() -> None:
    assert {"1.1.1", "3.0.2"} <= {release for release, answers in REAL.items() if answers.refused}


def test_real_brokers_of_most_releases_were_asked() -> None:
    asked = {release.rpartition(".")[0] for release in REAL}
    assert {"1.1", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8", "3.0", "3.9"} <= asked
    assert asked <= set(RELEASES)


def test_versions_only_grow() -> None:
    for key, (name, history) in HISTORY.items():
        steps = [step.split(":") for step in history.split()]
        places, highest = [RELEASES.index(release) for release, _ in steps], [int(version) for _, version in steps]
        assert places == sorted(set(places)), name
        assert highest == sorted(set(highest)), name
        assert LOWEST.get(key, 0) <= highest[0]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_has_the_versions_of_its_release(profile: str) -> None:
    assert OWN[profile] == PROFILES[profile].release


@pytest.mark.parametrize("profile", PROFILES)
def test_brokers_announce_what_the_release_has_and_is_served(profile: str) -> None:
    own = OWN[profile]
    has, found = released(release_of(own)), announced(release_of(own), own)
    for key, versions in found.items():
        assert set(numbers(versions)) <= set(numbers(has[key])), "nothing else"
        if key not in REFUSED_BY_KAFKA:
            assert set(numbers(versions)) <= set(numbers(TRANSLATED[key])), "nothing that cannot be translated"
    for key in has.keys() & TRANSLATED.keys():
        both = set(numbers(has[key])) & set(numbers(TRANSLATED[key]))
        if profile in ANSWERING or key not in {*TRANSACTIONAL, *NEWEST_WITHOUT_TOPIC_IDS}:
            assert set(numbers(found.get(key, (0, -1)))) == both, f"API {key}: all that both have"


@pytest.mark.parametrize("own", ["0.8.0", "1.1.1", "2.7.2"])
def test_newer_versions_can_be_asked_for_but_not_what_needs_a_newer_broker(own: str) -> None:
    found = announced("3.0", own)
    assert found[0] == (3, 9)
    assert {key: found[key][1] for key in (3, 19, 20)} == {3: 9, 19: 6, 20: 5}
    assert found[22][1] == (1 if is_before(own, "2.4") else 4)


@pytest.mark.parametrize("release", RELEASES)
def test_every_version_that_a_release_has_can_be_read(release: str) -> None:
    later_groups = {68, 69}  # of KIP-848, since 3.7: their connections are closed
    for key, versions in released(release).items():
        if key in later_groups:
            continue
        low, high = APIS[key].versions.low, APIS[key].versions.high
        assert low <= versions[0] <= versions[1] <= high, f"{HISTORY[key][0]}: no answer to what cannot be read"


def codes(fields: Sequence[Field], version: int, body: Body) -> list[int]:
    """The codes of all errors in the body of a response."""
    found = []
    for each in (each for each in fields if version in each.versions):
        value = body[each.name]
        if each.name == "error_code":
            found.append(value)
        elif each.element == "struct":
            rows = (value or []) if each.is_array else [value]
            found += [code for row in rows for code in codes(each.fields, version, row)]
    return found


REFUSED = {
    profile: [
        (key, version)
        for key, versions in released(own).items()
        for version in numbers(versions)
        if key in REFUSED_BY_KAFKA or version not in numbers(announced(own, own).get(key, (0, -1)))
    ]
    for profile, own in ANSWERING.items()
}


@pytest.mark.parametrize("profile", ["kafka-1.1", "kafka-3.0"])
def test_what_is_not_served_gets_an_error_in_its_own_schema(profile: str) -> None:
    with served({"profile": profile}) as cluster, closing(cluster.connect().socket) as connection:
        raw = Raw(connection)
        for key, version in REFUSED[profile]:
            api = APIS[key]
            body = full_body(api.request, version)
            answer = codes(api.response, version, raw.ask(key, version, body))
            error = REFUSED_BY_KAFKA.get(key, Errors.UNSUPPORTED_VERSION)
            assert set(answer) == {error}, f"{api.name} v{version}: {answer}"
        assert raw.ask(3, 1, {"topics": None})["brokers"], "the connection is there"
        assert cluster.lines == []


@pytest.mark.parametrize("profile", ["kafka-1.1", "kafka-2.4", "kafka-2.8", "kafka-3.0"])
def test_a_client_receives_the_versions_of_the_profile(profile: str) -> None:
    with served({"profile": profile}) as cluster, closing(cluster.connect().socket) as connection:
        raw = Raw(connection)
        answer = raw.ask(API_VERSIONS, 0, {})["api_keys"]
    found = {each["api_key"]: (each["min_version"], each["max_version"]) for each in answer}
    own = OWN[profile]
    assert found == announced(own, own)
    assert list(found) == sorted(found)
    for key, (_, high) in found.items():
        assert high == REAL[own].announced[key][1], "as the real broker"


def test_what_the_release_has_not_ends_the_connection() -> None:
    with served({"profile": "kafka-2.3"}) as cluster, closing(cluster.connect().socket) as connection:
        raw = Raw(connection)
        raw.send(3, 9, {"topics": None})
        with pytest.raises(ConnectionError):
            raw.frame()
        assert "brokers of this release have no version 9 of API 3" in cluster.lines[0]


def test_a_release_without_api_versions_says_what_it_announces() -> None:
    with served({"profile": "kafka-0.8"}) as cluster:
        assert cluster.lines == [
            "Kafka 0.8.0 announces no API versions: brokers announce those of 3.0 (--api-versions)"
        ]


def test_produce_without_an_answer_cannot_be_refused() -> None:
    with served({"profile": "kafka-2.4"}) as cluster, closing(cluster.connect().socket) as connection:
        raw = Raw(connection)
        raw.send(0, 2, {"acks": 0, "timeout_ms": 1, "topic_data": []})
        with pytest.raises(ConnectionError):
            raw.frame()
        assert "acks=0 has no answer" in cluster.lines[0]


def test_a_refusal_names_what_was_asked_for() -> None:
    body = {"topics": [{"name": "t", "partitions": [{"partition_index": 4, "offset": 1}]}]}
    answer = RefusedApi(21).to_response(None, body, None)  # type: ignore[arg-type]
    [partition] = answer["topics"][0]["partitions"]
    assert partition == {"partition_index": 4, "error_code": Errors.UNSUPPORTED_VERSION, "low_watermark": -1}
