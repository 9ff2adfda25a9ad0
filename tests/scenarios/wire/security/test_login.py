"""A broker's half of SASL answers as SaslServerAuthenticator does, and nothing that comes in can do more than end its
connection."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator.protocol.errors import Errors
from scenarios.wire.codec import encode_request
from scenarios.wire.inputs import Accepted, Frame, Input
from scenarios.wire.security.accounts import Accounts
from tests.scenarios.wire.gateway.scripted import play
from tests.scenarios.wire.security.logging_in import (
    ADDRESSES,
    API_VERSIONS,
    LISTS,
    METADATA,
    PRODUCE,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    SECRET,
    STEP_MS,
    TABLE,
    Scram,
    accepted,
    answer,
    authenticate,
    conversation,
    handshake,
    plain,
    secured,
)  # fmt: skip

ALICE = plain("alice", "secret")
VERSIONS = encode_request(API_VERSIONS, 2, 1, "client", {})


def test_plain_lets_a_user_in_and_the_client_gets_the_addresses_of_its_listener() -> None:
    played = conversation(VERSIONS, handshake("PLAIN"), authenticate(ALICE), LISTS)
    announced = {api["api_key"] for api in answer(played, 0, API_VERSIONS, 2)["api_keys"]}
    assert {SASL_HANDSHAKE, SASL_AUTHENTICATE} <= announced
    mechanisms = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
    assert answer(played, 1, SASL_HANDSHAKE) == {"error_code": 0, "mechanisms": mechanisms}
    assert answer(played, 2, SASL_AUTHENTICATE) == {
        "error_code": 0, "error_message": None, "auth_bytes": b"", "session_lifetime_ms": 0
    }  # fmt: skip
    brokers = answer(played, 3, METADATA, 8)["brokers"]
    assert {each["node_id"]: (each["host"], each["port"]) for each in brokers} == ADDRESSES
    assert played.outlets.authenticated == [1]
    assert not played.outlets.ended
    assert not played.judged().violations


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize(("user", "password"), [("alice", "secret"), ("b,o=b", "pass=word,")])
def test_scram_lets_a_user_in_and_proves_that_the_broker_has_its_keys(mechanism: str, user: str, password: str) -> None:
    client = Scram(user, password, mechanism)
    # The nonce of a run's first exchange follows from its secret: the client can be asked beforehand.
    begun = conversation(handshake(mechanism), authenticate(client.first))
    last = client.final(answer(begun, 1, SASL_AUTHENTICATE)["auth_bytes"])
    played = conversation(handshake(mechanism), authenticate(client.first), authenticate(last), LISTS)
    assert answer(played, 2, SASL_AUTHENTICATE)["auth_bytes"] == client.signature
    assert len(answer(played, 3, METADATA, 8)["brokers"]) == 3


def test_tokens_come_bare_after_the_first_version_of_the_handshake() -> None:
    played = conversation(handshake("PLAIN", 0), ALICE, LISTS)
    assert answer(played, 0, SASL_HANDSHAKE, 0)["error_code"] == 0
    assert played.outlets.written[1][1] == b""
    assert len(answer(played, 2, METADATA, 8)["brokers"]) == 3
    wrong = conversation(handshake("PLAIN", 0), plain("alice", "wrong"), LISTS)
    assert len(wrong.outlets.written[1]) == 1
    assert wrong.outlets.ended == {1: "closed"}


GENERIC = "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256"


@pytest.mark.parametrize(
    ("mechanism", "tokens", "words"),
    [
        ("PLAIN", [plain("alice", "wrong")], "Authentication failed: Invalid username or password"),
        ("PLAIN", [plain("nobody", "secret")], "Authentication failed: Invalid username or password"),
        ("PLAIN", [plain("", "secret")], "Authentication failed: username not specified"),
        ("PLAIN", [plain("alice", "")], "Authentication failed: password not specified"),
        ("PLAIN", [b"alice"], "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (
            "PLAIN", [plain("alice", "secret", "bob")],
            "Authentication failed: Client requested an authorization id that is different from username",
        ),
        ("SCRAM-SHA-256", [Scram("nobody", "secret", "SCRAM-SHA-256").first], GENERIC),
        ("SCRAM-SHA-256", [b"p=tls-unique,,n=alice,r=abc"], GENERIC),
        ("SCRAM-SHA-256", [b"n,,n=alice,r=abc,tokenauth=true"], GENERIC),
        ("SCRAM-SHA-256", [b"n,,n=alice,r=abc", b"c=biws,r=abc,p=AAAA"], GENERIC),
    ],
)  # fmt: skip
def test_wrong_credentials_are_answered_late_in_kafkas_words_and_end_the_connection(
    mechanism: str, tokens: list[bytes], words: str
) -> None:
    frames = [handshake(mechanism), *map(authenticate, tokens)]
    early = conversation(*frames, end_ms=90)
    assert len(early.outlets.written[1]) == len(tokens)
    assert not early.outlets.ended
    played = conversation(*frames, LISTS)
    told = answer(played, -1, SASL_AUTHENTICATE)
    assert (told["error_code"], told["error_message"]) == (int(Errors.SASL_AUTHENTICATION_FAILED), words)
    assert played.outlets.ended == {1: "closed"}
    assert played.log == [f"connection 1 from 127.0.0.1:5 to broker 0: {words}; closed"]


def test_a_wrong_proof_is_refused_although_everything_else_is_right() -> None:
    client = Scram("alice", "wrong", "SCRAM-SHA-256")
    begun = conversation(handshake("SCRAM-SHA-256"), authenticate(client.first))
    last = client.final(answer(begun, 1, SASL_AUTHENTICATE)["auth_bytes"])
    played = conversation(handshake("SCRAM-SHA-256"), authenticate(client.first), authenticate(last))
    assert answer(played, 2, SASL_AUTHENTICATE)["error_message"] == GENERIC


def test_before_2_1_a_failure_is_answered_at_once() -> None:
    played = conversation(handshake("PLAIN"), authenticate(b"x", 0), end_ms=90, api_versions="2.0")
    assert answer(played, 1, SASL_AUTHENTICATE, 0)["error_code"] == int(Errors.SASL_AUTHENTICATION_FAILED)


def test_the_answer_to_an_unknown_mechanism_names_those_that_there_are() -> None:
    played = conversation(handshake("GSSAPI"), LISTS)
    told = answer(played, 0, SASL_HANDSHAKE)
    assert told["error_code"] == int(Errors.UNSUPPORTED_SASL_MECHANISM)
    assert "PLAIN" in told["mechanisms"]
    assert played.outlets.ended == {1: "closed"}
    anyone = conversation(handshake("SCRAM-SHA-256"), secured=secured(Accounts.of(None, SECRET)))
    assert answer(anyone, 0, SASL_HANDSHAKE)["mechanisms"] == ["PLAIN"]


def test_anyone_logs_in_with_plain_where_users_are_not_told() -> None:
    played = conversation(handshake("PLAIN"), authenticate(plain("x", "y")), LISTS, secured=secured(Accounts(SECRET)))
    assert len(answer(played, 2, METADATA, 8)["brokers"]) == 3


def test_a_request_before_the_handshake_gets_no_answer() -> None:
    played = conversation(LISTS)
    assert played.outlets.written[1] == []
    assert played.outlets.ended == {1: "closed"}


@pytest.mark.parametrize("frame", [LISTS, handshake("PLAIN")])
def test_a_request_in_place_of_a_token_has_an_error_of_its_own(frame: bytes) -> None:
    played = conversation(handshake("PLAIN"), frame, LISTS)
    assert len(played.outlets.written[1]) == 2
    assert played.outlets.ended == {1: "closed"}
    assert "during SASL authentication" in played.log[0]


def test_a_client_asks_for_versions_once() -> None:
    assert conversation(VERSIONS, VERSIONS).outlets.ended == {1: "closed"}
    unknown = encode_request(
        API_VERSIONS, 3, 1, "client", {"client_software_name": "x", "client_software_version": "1"}
    )
    played = conversation(unknown, VERSIONS, handshake("PLAIN"), api_versions="2.3")
    assert answer(played, 0, API_VERSIONS, 0)["error_code"] == int(Errors.UNSUPPORTED_VERSION)
    assert not played.outlets.ended


def test_a_login_waits_while_its_broker_is_paused() -> None:
    paused = {**TABLE, "method": [{"at": "0s", "action": "broker.pause", "target": 0, "duration": "60s"}]}
    played = conversation(handshake("PLAIN"), authenticate(ALICE), table=paused)
    assert played.outlets.written[1] == []


# -- KIP-368 ----------------------------------------------------------------------------------------------------------

FOR_2_S = {**TABLE, "cluster": {"brokers": 3, "config": {"connections.max.reauth.ms": 2_000}}}


def test_a_login_ends_and_a_client_logs_in_again() -> None:
    played = conversation(handshake("PLAIN"), authenticate(ALICE), *[LISTS] * 6, table=FOR_2_S)
    assert answer(played, 1, SASL_AUTHENTICATE)["session_lifetime_ms"] == 2_000
    assert len(played.outlets.written[1]) == 2 + 4
    assert played.outlets.ended == {1: "closed"}
    again = [handshake("PLAIN"), authenticate(ALICE), LISTS, LISTS]
    played = conversation(*again, *again, *again, table=FOR_2_S)
    assert len(played.outlets.written[1]) == 12
    assert not played.outlets.ended
    lists = encode_request(METADATA, 5, 9, "client", {"topics": None, "allow_auto_topic_creation": False})
    before = conversation(handshake("PLAIN"), authenticate(ALICE, 0), *[lists] * 6, table=FOR_2_S, api_versions="2.1")
    assert len(before.outlets.written[1]) == 8


def test_a_later_login_keeps_to_mechanism_and_user_and_comes_a_second_later() -> None:
    first, sleep = [handshake("PLAIN"), authenticate(ALICE)], [LISTS, LISTS]
    other = conversation(*first, *sleep, handshake("SCRAM-SHA-256"), authenticate(b"x"), table=FOR_2_S)
    assert len(other.outlets.written[1]) == 5
    assert "is not supported for re-authentication of mechanism 'PLAIN'" in other.log[0]
    user = conversation(*first, *sleep, handshake("PLAIN"), authenticate(plain("b,o=b", "pass=word,")), table=FOR_2_S)
    told = answer(user, 5, SASL_AUTHENTICATE)["error_message"]
    assert told == "Cannot change principals during re-authentication from User.alice: User.b,o=b"
    soon = conversation(*first, *first, handshake("PLAIN"), table=FOR_2_S, every_ms=100)
    assert answer(soon, 4, SASL_HANDSHAKE)["error_code"] == int(Errors.ILLEGAL_SASL_STATE)


# -- whatever comes in ------------------------------------------------------------------------------------------------

PRODUCES = encode_request(PRODUCE, 3, 5, "client", {"acks": 0, "timeout_ms": 10, "topic_data": []})
FRAMES = st.one_of(
    st.sampled_from([
        VERSIONS, LISTS, PRODUCES, ALICE, b"", handshake("PLAIN"), handshake("PLAIN", 0), handshake("SCRAM-SHA-256"),
        handshake("SCRAM-SHA-512", 0), authenticate(ALICE), authenticate(b"n,,n=alice,r=abc"), b"n,,n=alice,r=abc",
    ]),
    st.binary(max_size=40),
    st.binary(max_size=30).map(authenticate),
    st.from_regex(r"n,(a=[ab=,]{1,3})?,(m=a,)?n=(alice|=2C|=)?,r=[!-~]{0,4}(,x=y)?", fullmatch=True).map(str.encode),
    st.from_regex(r"c=[A-Za-z=]{0,8},r=[!-~]{0,9},p=[A-Za-z=]{0,8}", fullmatch=True).map(str.encode),
)  # fmt: skip


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(FRAMES, min_size=1, max_size=6), min_size=1, max_size=12))
def test_no_login_harms_the_cluster(conversations: list[list[bytes]]) -> None:
    given: list[tuple[int, Input]] = []
    for number, frames in enumerate(conversations, 1):
        given.append((100, Accepted(number, number % 3, "127.0.0.1:5", "SASL_PLAINTEXT")))
        given += [(100, Frame(number, frame)) for frame in frames]
    last = len(conversations) + 1
    given += [(STEP_MS, accepted(last)[1])]
    given += [(STEP_MS, Frame(last, frame)) for frame in (handshake("PLAIN"), authenticate(ALICE), LISTS)]
    played = play(TABLE, given, secured=secured())
    assert len(played.outlets.written[last]) == 3
    run: Any = played.judged()
    assert not run.violations
    assert not played.stage.defects
