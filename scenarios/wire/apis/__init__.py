"""Kafka's APIs on the wire, one file for each theme: conversions of the messages to the emulator's, and back."""

from scenarios.wire.apis.base import (
    Body,
    Connection,
    InvalidRequest,
    ServedCluster,
    WireApi,
    WireApis,
    wire_api,
    wire_apis,
)

__all__ = ["Body", "Connection", "InvalidRequest", "ServedCluster", "WireApi", "WireApis", "wire_api", "wire_apis"]
