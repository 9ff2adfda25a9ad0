"""DescribeClientQuotas and AlterClientQuotas."""

from typing import Any

from emulator.protocol.client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    QuotaEntity,
    QuotaFilter,
)
from emulator.protocol.java_hash import java_hash
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.shared import answer


@wire_api
class DescribeClientQuotas(WireApi):
    """The quotas of users and client ids (KIP-546)."""

    key = 48

    def to_request(self, body: Body, connection: Connection) -> DescribeClientQuotasRequest:
        filters = (QuotaFilter(each["entity_type"], each["match_type"], each["match"]) for each in body["components"])
        return DescribeClientQuotasRequest(tuple(filters), body["strict"])

    def to_response(self, response: DescribeClientQuotasResponse, body: Body, connection: Connection) -> Body:
        failed = bool(response.error.code)
        entries = [
            {"entity": _parts(entity), "values": [{"key": key, "value": value} for key, value in values]}
            for entity, values in response.entries
        ]
        return {**answer(response.error), "entries": None if failed else entries}


@wire_api
class AlterClientQuotas(WireApi):
    """Changes of quotas (KIP-546)."""

    key = 49

    def to_request(self, body: Body, connection: Connection) -> AlterClientQuotasRequest:
        entries = tuple(
            (
                _collected({part["entity_type"]: part["entity_name"] for part in each["entity"]}),
                tuple((op["key"], None if op["remove"] else op["value"]) for op in each["ops"]),
            )
            for each in body["entries"]
        )
        return AlterClientQuotasRequest(entries, body["validate_only"])

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: AlterClientQuotasResponse = response
        return {"entries": [{**answer(error), "entity": _parts(entity)} for entity, error in found.entries]}


def _collected(parts: dict[str, str | None]) -> QuotaEntity:
    """The entity with its parts in the order in which the answer names them: the client id before the user, as a Java
    ``HashMap`` of four slots has them (AlterClientQuotasRequest.entries, 2.6 to 3.9)."""
    return tuple(sorted(parts.items(), key=lambda part: (java_hash(part[0]) ^ java_hash(part[0]) >> 16) & 3))


def _parts(entity: QuotaEntity) -> list[Body]:
    return [{"entity_type": type, "entity_name": name} for type, name in entity]
