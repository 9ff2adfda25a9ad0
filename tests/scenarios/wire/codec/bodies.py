"""Bodies for the tests: any that a version of a message can have, and one with a value of its own in every field."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from hypothesis import strategies as st

from emulator.protocol.errors import Errors
from scenarios.wire.codec.schema import FIXED, Api, Field

BITS = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}
CODES = sorted(code.value for code in Errors)
YEAR_6000 = 2**47
EXACT_MS = 2**51
"""Up to here kio's floating-point seconds are exact to the millisecond."""
TIMES = ("issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms", "transaction_start_time_ms")
"""Times that kio knows no -1 for."""
TEXT = st.text(max_size=6) | st.just("x" * 200)


def fields_of(api: Api, kind: str) -> Sequence[Field]:
    fields: Sequence[Field] = getattr(api, kind)
    return fields


def any_body(fields: Sequence[Field], version: int) -> st.SearchStrategy[dict[str, Any]]:
    """Any value of each field; its default where the version has no such field."""
    return st.fixed_dictionaries({each.name: _any_value(each, version) for each in fields})


def _any_value(field: Field, version: int) -> st.SearchStrategy[Any]:
    if version not in field.versions:
        return st.builds(lambda: field.default)
    one = _any_element(field, version)
    value = st.lists(one, max_size=3) if field.is_array else one
    return st.none() | value if version in field.nullable else value


def _any_element(field: Field, version: int) -> st.SearchStrategy[Any]:
    if field.element == "struct":
        return any_body(field.fields, version)
    if field.element in BITS:
        if field.name in TIMES:
            return st.integers(0, YEAR_6000)
        if field.name.endswith("error_code"):
            return st.sampled_from(CODES)
        if "timestamp" in field.name or field.name == "log_append_time_ms":
            return st.integers(-1, YEAR_6000)
        most = min(2 ** BITS[field.element], EXACT_MS) if field.name.endswith("_ms") else 2 ** BITS[field.element]
        return st.integers(-most, most - 1)
    if field.element == "bool":
        return st.booleans()
    if field.element == "float64":
        return st.floats(allow_nan=False)
    if field.element == "uuid":
        return st.binary(min_size=16, max_size=16)
    return TEXT if field.element == "string" else st.binary(max_size=200)


def full_body(fields: Sequence[Field], version: int) -> dict[str, Any]:
    """A value of each field of the version that no other field has, so that no two can be exchanged."""
    return _full(fields, version, count(1))


def _full(fields: Sequence[Field], version: int, numbers: count[int]) -> dict[str, Any]:
    return {
        each.name: _full_value(each, version, numbers) if version in each.versions else each.default for each in fields
    }


def _full_value(field: Field, version: int, numbers: count[int]) -> Any:
    if field.is_array:
        return [_full_element(field, version, numbers) for _ in range(2)]
    return _full_element(field, version, numbers)


def _full_element(field: Field, version: int, numbers: count[int]) -> Any:
    if field.element == "struct":
        return _full(field.fields, version, numbers)
    number = next(numbers)
    if field.element == "bool":
        return field.default is not True
    if field.element in FIXED:
        return number
    return {"string": f"s{number}", "uuid": number.to_bytes(16, "big")}.get(field.element, b"b%d" % number)
