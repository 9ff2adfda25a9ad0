"""A quota of a user throttles the clients that have logged in as that user."""

from typing import Any

import pytest

from scenarios.wire.codec import encode_request
from tests.scenarios.wire.security.logging_in import (
    PRODUCE,
    TABLE,
    answer,
    authenticate,
    conversation,
    handshake,
    plain,
)

ALTER = 49
WRITES: dict[str, Any] = {"transactional_id": None, "acks": 1, "timeout_ms": 1000, "topic_data": []}


@pytest.mark.parametrize(("user", "throttled"), [("alice", True), ("b,o=b", False), (None, True)])
def test_a_quota_counts_what_its_user_sends(user: str | None, throttled: bool) -> None:
    """None: the default of all users."""
    entity = [{"entity_type": "user", "entity_name": user}]
    limit = {"entity": entity, "ops": [{"key": "producer_byte_rate", "value": 1.0, "remove": False}]}
    played = conversation(
        handshake("PLAIN"),
        authenticate(plain("alice", "secret")),
        encode_request(ALTER, 0, 3, "client", {"entries": [limit], "validate_only": False}),
        encode_request(PRODUCE, 5, 4, "client", WRITES),
        table={**TABLE, "profile": "kafka-2.7"},
    )
    assert answer(played, 2, ALTER, 0)["entries"][0]["error_code"] == 0
    assert (answer(played, 3, PRODUCE, 5)["throttle_time_ms"] > 0) is throttled
    assert not played.judged().violations
