"""Answers that have an error which no broker gave (``request.fail``)."""

from typing import Any

from emulator.protocol.api_versions import ApiVersionsRequest
from emulator.protocol.errors import Errors
from scenarios.faults.request_faults import partition_number
from scenarios.wire.apis.base import Body, Connection, WireApi
from scenarios.wire.refusals import refusal

READS = frozenset((1, 2, 3, 9, 10, 15, 16, 18, 23, 32, 35, 46, 60, 61, 65, 66))
"""The APIs that change nothing: the broker is asked, and the errors of its answer are exchanged."""
OF_BOTH = "coordinators"
"""The field of FindCoordinator that took the place of its others: each version has the error in one of both."""
CODE = "error_code"


class FailedApi(WireApi):
    """The API of a request that the broker does not carry out: it answers as late as it would any request."""

    def __init__(self, api: WireApi, error: Errors) -> None:
        self.key = api.key  # type: ignore[misc]
        self.error = error

    def to_request(self, body: Body, connection: Connection) -> ApiVersionsRequest:
        return ApiVersionsRequest(known=False)

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        return refusal(self.key, body, self.error)


def with_error(body: Body, error: Errors, partition: str | None) -> Body:
    """A broker's answer with another error: that of the partition where one is named and the answer has it, else that
    of each thing that the answer is about, else that of the whole."""
    changed, found = _exchanged(body, int(error), partition, "", top=True)
    if not found and partition is not None:
        changed, found = _exchanged(body, int(error), None, "", top=True)
    return changed if found and OF_BOTH not in body else {**changed, CODE: int(error)}


def _exchanged(body: Body, code: int, partition: str | None, topic: str, *, top: bool = False) -> tuple[Body, bool]:
    """The part of an answer with the error, and whether it has got it."""
    name = body.get("name") or body.get("topic") or topic
    if not top and CODE in body and partition in (None, f"{name}-{partition_number(body)}"):
        return {**body, CODE: code, **({"records": b""} if "records" in body else {})}, True
    result, found = dict(body), False
    for field, value in body.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            parts = [_exchanged(each, code, partition, name) for each in value]
            result[field] = [part for part, _ in parts]
            found = found or any(has for _, has in parts)
    return result, found
