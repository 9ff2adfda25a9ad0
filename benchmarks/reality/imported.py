"""A recording's cluster as a scenario: ``understudy import`` of the texts that were there before the move."""

import contextlib
import io
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.reality.folder import CONFIGS, LOG_DIRS, PLAN, RATES, TOPICS, Reality
from scenarios.cli.program import main
from scenarios.language import Scenario

SOURCES = {
    "--topics": TOPICS,
    "--log-dirs": LOG_DIRS,
    "--configs": CONFIGS,
    "--reassignment": PLAN,
    "--rates": RATES,
}


def scenario_of(reality: Reality, folder: Path) -> Scenario:
    """The scenario of a recording. What no text says comes from ``reality``: the throttle, the time-out of the brokers'
    sessions, and when a broker dies."""
    table = _imported(reality, folder)
    table["title"] = reality.title
    table["cluster"]["zk"] = {"session_timeout": f"{reality.session_timeout_ms}ms"}
    if reality.killed is not None and reality.restarted is not None:
        (broker, at_s), (_, back_s) = reality.killed, reality.restarted
        death = {"after": _ms(at_s), "action": "broker.crash", "target": broker, "duration": _ms(back_s - at_s)}
        table["method"].append(death)
    return Scenario.from_table(table)


def _imported(reality: Reality, folder: Path) -> dict[str, Any]:
    with TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        target = Path(place) / "imported.toml"
        there = [(option, str(folder / name)) for option, name in SOURCES.items() if (folder / name).exists()]
        given = ["--throttle", f"{reality.throttle}B/s", "--profile", reality.profile]
        with contextlib.redirect_stderr(io.StringIO()) as said:
            code = main(["import", *(word for each in there for word in each), *given, "-o", str(target)])
        assert code == 0, said.getvalue()
        return tomllib.loads(target.read_text(encoding="utf-8"))


def _ms(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"
