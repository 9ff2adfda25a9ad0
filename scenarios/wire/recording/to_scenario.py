"""A recorded live run as a scenario: the operator's actions are its method, the frames of the clients its load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from emulator.zookeeper import ZOOKEEPER
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.schema.toml_text import write_toml
from scenarios.language.targets import CLIENT_NAME
from scenarios.language.triggers import TRIGGER_KEYS
from scenarios.units import format_duration
from scenarios.wire.codec.messages.security import SASL_AUTHENTICATE, SASL_HANDSHAKE
from scenarios.wire.gateway.client_connection import RefusedFrame, client_id_of
from scenarios.wire.inputs import Accepted, Frame, Operation
from scenarios.wire.operations.performing import ACTION, operations
from scenarios.wire.operations.performing import read as read_operation
from scenarios.wire.recording.folder import RecordedLiveRun
from scenarios.wire.recording.log import Ended, Entry, InputLog
from scenarios.wire.zookeeper.ensemble import CLIENT

AFTER_US = 60_000_000
"""The time that the run has after the last input, for its consequences."""


def write_scenario(recorded: RecordedLiveRun, path: Path) -> Path:
    """Write the scenario, and a file of frames beside it, whose path is returned. No existing file is overwritten.

    Raises: BadInput.
    """
    frames = path.with_suffix(".frames")
    for file in (path, frames):
        if file.exists():
            raise BadInput("is there already; name another file", where="--to-scenario", source=str(file))
    inputs = [entry for entry in _loads(recorded.inputs.entries) if not isinstance(entry.what, Operation | Ended)]
    try:
        with InputLog(frames.open("xb")) as log:
            for entry in inputs:
                log.write(*entry)
        text = write_toml(_table(recorded, frames.name))
        Scenario.loads(text, source=str(path), folder=path.parent)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        frames.unlink(missing_ok=True)
        raise BadInput(
            f"cannot be written ({error.strerror}); name another file", where="--to-scenario", source=str(path)
        ) from error
    except BadInput:
        frames.unlink(missing_ok=True)
        raise
    return frames


def _table(recorded: RecordedLiveRun, frames: str) -> dict[str, Any]:
    scenario, entries = recorded.scenario, _loads(recorded.inputs.entries)
    table = scenario.to_table()
    last_us = entries[-1].t_us if entries else 0
    return {
        **table,
        "title": f"{scenario.title}, as real clients met it",
        "horizon": format_duration(max(scenario.horizon_us, last_us + AFTER_US)),
        "attached": list(dict.fromkeys((*scenario.attached, *_clients(entries)))),
        "frames": {"file": frames, "api_versions": recorded.served.api_versions, "clock_us": recorded.served.clock_us},
        "method": [*table.get("method", []), *_actions(entries)],
    }


def _loads(entries: Iterable[Entry]) -> list[Entry]:
    """The inputs without those by which clients have logged in: a scenario's brokers ask for no password, and its file
    has none."""
    with_login: dict[int, int] = {}
    """The bare tokens that are still to come, of each connection to a listener with SASL."""
    kept = []
    for entry in entries:
        what = entry.what
        if isinstance(what, Accepted) and what.listener.startswith("SASL_"):
            with_login[what.connection] = 0
        if isinstance(what, Frame) and what.connection in with_login:
            if with_login[what.connection]:
                with_login[what.connection] -= 1
                continue
            key, version = int.from_bytes(what.data[:2], "big"), int.from_bytes(what.data[2:4], "big")
            if key in (SASL_HANDSHAKE.key, SASL_AUTHENTICATE.key):
                if key == SASL_HANDSHAKE.key and version == 0:
                    with_login[what.connection] = 2 if b"SCRAM" in what.data else 1
                continue
        kept.append(entry)
    return kept


def _clients(entries: list[Entry]) -> Iterator[str]:
    """The clients that targets can name: each client id, and the machine of all clients of ZooKeeper."""
    to_zookeeper: dict[int, None] = {}
    for entry in entries:
        if isinstance(entry.what, Accepted) and entry.what.broker == ZOOKEEPER:
            to_zookeeper[entry.what.connection] = None
            yield CLIENT
        elif isinstance(entry.what, Frame) and entry.what.connection not in to_zookeeper:
            with suppress(BadInput, RefusedFrame):
                name = client_id_of(entry.what.data)
                CLIENT_NAME.read(name)
                yield name


def _actions(entries: list[Entry]) -> Iterator[dict[str, Any]]:
    """The operator's actions as entries of a method."""
    for t_us, what in entries:
        if isinstance(what, Operation):
            asked = dict(read_operation(what.text))
            if asked[ACTION] not in operations():
                yield asked if any(key in asked for key in TRIGGER_KEYS) else {"at": format_duration(t_us), **asked}
