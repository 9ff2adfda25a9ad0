"""Errors for requests that brokers of a release know and that are not served here, each in the schema of its API.

Some are what the brokers themselves would answer: to requests between brokers where only those may send them, to ACLs
without an authorizer, to SASL and delegation tokens on a plaintext listener. These APIs are announced. For all others
clients get UNSUPPORTED_VERSION, and they are not announced.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from emulator.protocol.api_versions import ApiVersionsRequest
from emulator.protocol.errors import Errors
from scenarios.wire.apis.base import Body, Connection, InvalidRequest, WireApi
from scenarios.wire.apis.shared import coded

BETWEEN_BROKERS = (4, 5, 6, 7, 27, 56, 58, 67)
"""LeaderAndIsr, StopReplica, UpdateMetadata, ControlledShutdown, WriteTxnMarkers, AlterPartition (AlterIsr before 3.2),
Envelope and AllocateProducerIds."""
WITHOUT_SECURITY = {
    17: Errors.ILLEGAL_SASL_STATE, 36: Errors.ILLEGAL_SASL_STATE,
    **dict.fromkeys((29, 30, 31), Errors.SECURITY_DISABLED),
    **dict.fromkeys((38, 39, 40, 41), Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
}  # fmt: skip
"""SaslHandshake and SaslAuthenticate, the APIs of ACLs, and those of delegation tokens, with what a broker answers that
has a plaintext listener and no authorizer (KafkaApis, 1.1.1 to 3.9)."""
REFUSED_BY_KAFKA: Mapping[int, Errors] = {
    **dict.fromkeys(BETWEEN_BROKERS, Errors.CLUSTER_AUTHORIZATION_FAILED),
    **WITHOUT_SECURITY,
}
"""The errors of the APIs that are announced and refused, by the API's number."""
_NO_AUTHORIZER = "No Authorizer is configured on the broker"
WORDS = {
    **dict.fromkeys((29, 30, 31), _NO_AUTHORIZER),
    36: "SaslAuthenticate request received after successful authentication",
}
"""The message of Kafka's brokers with the error, by the API's number."""
PRODUCE = 0


class RefusedApi(WireApi):
    """The refusal of an API, or of some of its versions. The broker is asked nothing, but answers as late as it would
    any request: not at all while it is paused."""

    def __init__(self, key: int) -> None:
        self.key = key  # type: ignore[misc]
        self.error = REFUSED_BY_KAFKA.get(key, Errors.UNSUPPORTED_VERSION)

    def to_request(self, body: Body, connection: Connection) -> ApiVersionsRequest:
        if self.key == PRODUCE and not body["acks"]:
            # Kafka's brokers do the same with any error, as there is no answer that could have it.
            raise InvalidRequest(f"version {connection.version} of Produce is not served, and acks=0 has no answer")
        return ApiVersionsRequest(known=False)

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        return refusal(self.key, body, self.error, WORDS.get(self.key))


def refusal(key: int, body: Body, error: Errors, words: str | None = None) -> Body:
    """The response to a request that is not carried out, with the error in each place of its schema."""
    return REFUSALS.get(key, _code)(body, coded(error, words))


def _code(_body: Body, error: Body) -> Body:
    return {"error_code": error["error_code"]}


def _words(_body: Body, error: Body) -> Body:
    return error


def _of_partitions(
    asked: tuple[str, str, str, str], answered: tuple[str, str, str, str], **fields: Any
) -> Callable[[Body, Body], Body]:
    """A response with the error for each partition that the request names.

    Args:
        asked: the fields of the request: its topics, their name, their partitions, the number of one (empty: the
            partitions are numbers).
        answered: the same of the response.
        fields: more fields of each partition.
    """
    topics, name, partitions, number = asked
    to_topics, to_name, to_partitions, to_number = answered

    def told(body: Body, error: Body) -> Body:
        return {
            to_topics: [
                {
                    to_name: topic[name],
                    to_partitions: [
                        {to_number: each[number] if number else each, **_code(body, error), **fields}
                        for each in topic[partitions]
                    ],
                }
                for topic in body[topics]
            ]
        }

    return told


def _of_each(asked: str, answered: str, *kept: str) -> Callable[[Body, Body], Body]:
    """A response with the error for each element of an array of the request, and the fields of it that are ``kept``."""

    def told(body: Body, error: Body) -> Body:
        return {answered: [{**error, **{name: each[name] for name in kept}} for each in body[asked]]}

    return told


def _of_users(body: Body, error: Body) -> Body:
    """AlterUserScramCredentials: a result for each user."""
    named: Iterable[str] = (each["name"] for each in (*body["deletions"], *body["upsertions"]))
    return {"results": [{"user": user, **error} for user in dict.fromkeys(named)]}


def _of_metadata(body: Body, error: Body) -> Body:
    """Metadata: the topics that were named, and no brokers."""
    named = body["topics"] or []
    return {"topics": [{"name": each["name"], "topic_id": each["topic_id"], **_code(body, error)} for each in named]}


def _of_deletions(body: Body, error: Body) -> Body:
    """DeleteTopics: a result for each topic."""
    named = [*body["topics"], *({"name": name, "topic_id": bytes(16)} for name in body["topic_names"])]
    return {"responses": [{**each, **error} for each in named]}


def _of_markers(body: Body, error: Body) -> Body:
    """WriteTxnMarkers: a result for each partition of each marker."""
    told = _of_partitions(_NUMBERS, _PARTITIONS)
    return {"markers": [{"producer_id": each["producer_id"], **told(each, error)} for each in body["markers"]]}


_PARTITIONS = ("topics", "name", "partitions", "partition_index")
_NUMBERS = ("topics", "name", "partition_indexes", "")
REFUSALS: Mapping[int, Callable[[Body, Body], Body]] = {
    PRODUCE: _of_partitions(
        ("topic_data", "name", "partition_data", "index"),
        ("responses", "name", "partition_responses", "index"), base_offset=-1,
    ),
    1: _of_partitions(
        ("topics", "topic", "partitions", "partition"), ("responses", "topic", "partitions", "partition_index"),
        high_watermark=-1, records=b"", aborted_transactions=None,
    ),
    2: _of_partitions(_PARTITIONS, _PARTITIONS),
    3: _of_metadata,
    8: _of_partitions(_PARTITIONS, _PARTITIONS),
    9: _of_partitions(_NUMBERS, _PARTITIONS, committed_offset=-1, metadata=""),
    19: _of_each("topics", "topics", "name"),
    20: _of_deletions,
    21: _of_partitions(_PARTITIONS, _PARTITIONS, low_watermark=-1),
    23: _of_partitions(("topics", "topic", "partitions", "partition"), ("topics", "topic", "partitions", "partition")),
    27: _of_markers,
    29: _words,
    30: _of_each("creations", "results"),
    31: _of_each("filters", "filter_results"),
    36: _words,
    48: lambda body, error: {"entries": None, **error},
    49: _of_each("entries", "entries", "entity"),
    50: _words,
    51: _of_users,
    57: _words,
}  # fmt: skip
"""Responses that are more than a code at the top, by the API's number."""
