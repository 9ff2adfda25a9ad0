"""A recorded live run, written by hand."""

from __future__ import annotations

from pathlib import Path

from scenarios.language import Scenario
from scenarios.language.schema.toml_text import write_toml
from scenarios.wire.inputs import Operation
from scenarios.wire.recording.folder import RUN, SCENARIO, ServedAs
from scenarios.wire.recording.log import InputLog
from scenarios.wire.recording.pieces import PieceWriter
from tests.scenarios.language.builders import SMALL


def write_recording(folder: Path) -> None:
    """Write the recording of a cluster that an operator has stopped at once, and that was not judged then."""
    folder.mkdir()
    scenario = Scenario.loads(SMALL)
    addresses = {broker: ("127.0.0.1", 9092 + broker) for broker in range(scenario.cluster.brokers)}
    (folder / SCENARIO).write_text(SMALL)
    (folder / RUN).write_text(write_toml(ServedAs(addresses=addresses, api_versions="3.0").to_table()))
    with InputLog(PieceWriter(folder)) as log:
        log.write(10_000_000, Operation('{"action": "stop"}', 1))
