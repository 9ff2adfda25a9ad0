"""The content of a znode in words, by its path; unchanged where the path is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from emulator.protocol import znodes
from emulator.protocol.assignments import NOT_REASSIGNED


def written(path: str, data: str, version: int) -> str:
    """``data`` in words. Content that does not have the form of its path is shown unchanged."""
    try:
        return _in_words(path, data, version)
    except (ValueError, KeyError, TypeError, AttributeError):
        return data


def _in_words(path: str, data: str, version: int) -> str:
    if znodes.state_path_partition(path) is not None:
        state = znodes.LeaderAndIsr.decode(data, version)
        return f"leader {state.leader} isr {_list(state.isr)} epoch {state.leader_epoch}"
    parent = path.rpartition("/")[0]
    in_words = _BY_PATH.get(path) or _BY_PARENT.get(parent)
    return data if in_words is None else in_words(data)


def _list(ids: Iterable[int]) -> str:
    return f"[{','.join(map(str, ids))}]"


def _topic(data: str) -> str:
    reassigning = znodes.decode_reassigning(data)
    return ", ".join(
        f"{number}: {_list(replicas)}{_reassigning(*reassigning.get(number, NOT_REASSIGNED))}"
        for number, replicas in znodes.decode_topic(data).items()
    )


def _reassigning(adding: tuple[int, ...], removing: tuple[int, ...]) -> str:
    added = f" adding {_list(adding)}" if adding else ""
    return added + (f" removing {_list(removing)}" if removing else "")


def _reassignment(data: str) -> str:
    moves = znodes.decode_reassignment(data)
    return ", ".join(f"{tp} to {_list(replicas)}" for tp, replicas in moves.items()) or "nothing"


def _partitions(data: str) -> str:
    return ", ".join(str(tp) for tp in znodes.decode_isr_change(data)) or "none"


def _settings(data: str) -> str:
    return ", ".join(f"{name}={value}" for name, value in znodes.decode_config(data).items()) or "none"


_BY_PATH: dict[str, Callable[[str], str]] = {
    znodes.CONTROLLER: lambda data: f"broker {znodes.decode_controller(data)}",
    znodes.REASSIGN_PARTITIONS: _reassignment,
    znodes.PREFERRED_REPLICA_ELECTION: _partitions,
}
_BY_PARENT: dict[str, Callable[[str], str]] = {
    znodes.TOPICS: _topic,
    znodes.ISR_CHANGE_NOTIFICATION: _partitions,
    znodes.CONFIG_TOPICS: _settings,
    znodes.CONFIG_BROKERS: _settings,
    znodes.CONFIG_CHANGES: znodes.decode_config_change,
    znodes.BROKER_IDS: lambda data: "registered" if data else "",
}
