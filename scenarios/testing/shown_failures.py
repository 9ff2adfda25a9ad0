"""The text of a failed test: what was waited for, the state of the cluster, and the last events."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

from emulator.protocol.events import ControlRequest, ControlResponse
from emulator.protocol.types import NO_LEADER
from emulator.protocol.update_metadata import UpdateMetadataRequest
from scenarios.observe.timeline.log_changes import is_data
from scenarios.observe.timeline.selection import Everything
from scenarios.observe.timeline.words import seconds, words
from scenarios.testing.state_reading import ClusterState

PARTITIONS = 10
"""The most partitions that are shown."""
EVENTS = 12
COLUMNS = 120


def in_words(condition: Callable[[], object]) -> str:
    """The source of a lambda's body; the first line of another function's docstring, or its name."""
    if condition.__name__ != "<lambda>":
        return (inspect.getdoc(condition) or condition.__name__.replace("_", " ")).splitlines()[0]
    try:
        found = _lambdas(textwrap.dedent(inspect.getsource(condition)))
    except (OSError, SyntaxError):
        found = []
    return " ".join(ast.unparse(found[0].body).split()) if len(found) == 1 else "the condition"


def _lambdas(source: str) -> list[ast.Lambda]:
    """The lambdas of a statement, which may be an ``await`` and may be cut off at its end."""
    lines = source.splitlines()
    for end in range(len(lines), 0, -1):
        text = textwrap.indent("\n".join(lines[:end]), "    ")
        try:
            tree = ast.parse(f"async def _():\n{text}\n")
        except SyntaxError:
            continue
        return [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    return []


def described(state: ClusterState, seed: int) -> list[str]:
    """The time, the seed, the controller, the brokers and the partitions, as ZooKeeper has them."""
    cluster = state.cluster
    brokers: dict[str, list[str]] = {"up": [], "paused": [], "down": []}
    for id in cluster.nodes:
        brokers[state.health(id)].append(str(id))
    health = "; ".join(f"{name} {', '.join(ids)}" for name, ids in brokers.items() if ids)
    controller = state.controller()
    shown = "no controller" if controller < 0 else f"controller {controller}"
    partitions = state.partitions()
    lines = [
        f"at {seconds(cluster.world.now)} s of virtual time, seed {seed}",
        f"brokers: {health}; {shown}, epoch {state.controller_epoch()}",
    ]
    for tp in partitions[:PARTITIONS]:
        known = state.leader_and_isr(tp)
        replicas = state.replicas(tp)
        if known is None:
            lines.append(f"{tp}: replicas {replicas}, no leader elected yet")
        else:
            leader = "no leader" if known.leader == NO_LEADER else f"leader {known.leader}"
            lines.append(f"{tp}: {leader}, epoch {known.leader_epoch}, ISR {list(known.isr)}, replicas {replicas}")
    if len(partitions) > PARTITIONS:
        lines.append(f"and {len(partitions) - PARTITIONS} more partitions")
    return lines


def last_events(events: Iterable[Any]) -> list[str]:
    """The newest events of the control plane, oldest first, a line each, without UpdateMetadata: it goes to all
    brokers."""
    concerns = Everything().concerns
    shown = [event for event in events if concerns(event) and not (is_data(event) or _is_metadata(event))][-EVENTS:]
    lines = (f"{seconds(event.t_us):>13}  {words(event)}" for event in shown)
    return [line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…" for line in lines]


def _is_metadata(event: Any) -> bool:
    return isinstance(event, ControlRequest | ControlResponse) and event.api == UpdateMetadataRequest.api.name
