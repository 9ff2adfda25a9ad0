"""The brokers' request logs (``kafka.request.logger`` at TRACE), of all releases, as facts.

The text of a request is a Struct up to 2.3 (``{a=1,b=[{...}]}``), a generated class from 2.4 on
(``Name(a=1, b=[...])``) and JSON since 2.7. One parser reads all of them, and spells names as ``snake_case``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.calibration.facts import NO_ERROR, PartitionState, Request, stopped
from emulator.protocol.errors import Errors

APIS = {"LEADER_AND_ISR": "LeaderAndIsr", "UPDATE_METADATA": "UpdateMetadata", "STOP_REPLICA": "StopReplica"}
_API = re.compile(r"api_?[kK]ey\"?[=:]\"?(\w+)|\"requestApiKeyName\":\"(\w+)\"")
_NUMBERED = {"4": "LEADER_AND_ISR", "5": "STOP_REPLICA", "6": "UPDATE_METADATA"}
_NAMES = {error.value: error.name for error in Errors}
_BARE = re.compile(r"[^,\[\](){}=:]*")


class Text:
    """Reads one value after the other from a log line."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text, self.at = text, at

    def value(self) -> Any:
        """The value that begins here."""
        self._skip()
        first = self.text[self.at]
        if first == "[":
            return list(self._items("]", self.value))
        if first in "{(":
            return dict(self._items("})"[first == "("], self._pair))
        if first in "'\"":
            return self._quoted(first)
        found = _BARE.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        if self.text[self.at : self.at + 1] == "(":
            return self.value()  # a class's name before its fields
        return _scalar(found.group().strip())

    def _items(self, end: str, item: Any) -> Iterator[Any]:
        self.at += 1
        while True:
            self._skip()
            if self.text[self.at] == end:
                self.at += 1
                return
            if self.text[self.at] == ",":
                self.at += 1
                continue
            yield item()

    def _pair(self) -> tuple[str, Any]:
        self._skip()
        if self.text[self.at] in "'\"":
            name = self._quoted(self.text[self.at])
        else:
            found = _BARE.match(self.text, self.at)
            assert found is not None
            name, self.at = found.group(), found.end()
        self._skip()
        assert self.text[self.at] in "=:", self.text[max(0, self.at - 80) : self.at + 20]
        self.at += 1
        return snake(name.strip()), self.value()

    def _quoted(self, mark: str) -> str:
        end = self.text.index(mark, self.at + 1)
        found, self.at = self.text[self.at + 1 : end], end + 1
        return found

    def _skip(self) -> None:
        while self.text[self.at] in " ;":
            self.at += 1


def _scalar(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def snake(name: str) -> str:
    """``leader_epoch`` for ``leaderEpoch``."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def requests(broker: int, log: Path) -> Iterator[Request]:
    """The control requests that a broker answered, in order."""
    epochs: dict[int, int] = {}
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            api = _api(line[:400])
            if api is not None:
                request, response = _bodies(line)
                epoch = int(request.get("broker_epoch", -1))
                incarnation = 0 if epoch < 0 else epochs.setdefault(epoch, len(epochs) + 1)
                yield _request(broker, api, request, response, incarnation)


def _api(line: str) -> str | None:
    found = _API.search(line)
    if found is None:
        return None
    name = found.group(2) or found.group(1)
    return APIS.get(_NUMBERED.get(name, name))


def _bodies(line: str) -> tuple[dict[str, Any], dict[str, Any]]:
    if line.startswith("Completed request:{"):  # one JSON object since 2.7
        whole = Text(line, line.index("{")).value()
        return whole["request"], whole["response"]
    request = Text(line, line.index(" -- ") + 4).value()
    response = Text(line, line.index("response:") + len("response:")).value()
    return request, response


def _request(broker: int, api: str, body: dict[str, Any], response: dict[str, Any], incarnation: int) -> Request:
    errors = {(topic, each): error for topic, each, error in _errors(response, _names(body))}
    if api == "StopReplica":
        delete = bool(body.get("delete_partitions"))
        states = tuple(
            stopped(topic, number, epoch, errors.get((topic, number), NO_ERROR), gone)
            for topic, number, epoch, gone in _stopped(body, delete)
        )
        delete = delete or any(state.more for state in states)
    else:
        states = tuple(
            _state(api, topic, each, errors.get((topic, _number(each)), NO_ERROR)) for topic, each in _states(body)
        )
        delete = False
    return Request(
        broker, api, int(body["controller_id"]), int(body["controller_epoch"]), incarnation,
        _error(response["error_code"]), tuple(sorted(states)),
        tuple(sorted(_brokers(body))), delete,
    )  # fmt: skip


def _number(state: dict[str, Any]) -> int:
    return int(state["partition_index"] if "partition_index" in state else state["partition"])


def _topic(table: dict[str, Any]) -> str:
    return str(next(table[name] for name in ("topic_name", "topic", "name") if name in table))


def _states(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each partition's state with its topic: in groups since 2.2, one by one before."""
    for group in body.get("topic_states") or ():
        for state in group["partition_states"]:
            yield _topic(group), state
    for state in body.get("partition_states") or body.get("ungrouped_partition_states") or ():
        yield _topic(state), state


def _state(api: str, topic: str, state: dict[str, Any], error: str) -> PartitionState:
    more = []
    if state.get("is_new"):
        more.append("isNew")
    for name, key in (
        ("adding", "adding_replicas"),
        ("removing", "removing_replicas"),
        ("offline", "offline_replicas"),
    ):
        if state.get(key):
            more.append(f"{name}={state[key]}")
    if state.get("leader_recovery_state"):
        more.append("recovering")
    return PartitionState(
        topic, _number(state), int(state["controller_epoch"]), int(state["leader"]), int(state["leader_epoch"]),
        tuple(sorted(state["isr"])), _version(state), tuple(state["replicas"]), " ".join(more), error,
    )  # fmt: skip


def _version(state: dict[str, Any]) -> int:
    """The version of the state znode, which is called the partition's epoch since 3.2."""
    return int(state["partition_epoch"] if "partition_epoch" in state else state["zk_version"])


def _stopped(body: dict[str, Any], delete: bool) -> Iterator[tuple[str, int, int, bool]]:
    """Topic, partition, leader epoch, whether it is deleted: in the three layouts that there were."""
    for group in body.get("topic_states") or ():
        for state in group["partition_states"]:
            yield _topic(group), _number(state), int(state["leader_epoch"]), bool(state["delete_partition"])
    for group in body.get("topics") or ():
        for number in group.get("partition_indexes") or group.get("partition_ids") or ():
            yield _topic(group), int(number), -1, delete
    for each in body.get("partitions") or body.get("ungrouped_partitions") or ():
        numbers = each["partition_ids"] if "partition_ids" in each else [_number(each)]
        for number in numbers:
            yield _topic(each), int(number), -1, delete


def _names(body: dict[str, Any]) -> dict[str, str]:
    """The names of the topics by id: since 2.8 LeaderAndIsr's response names topics by their ids alone (KIP-516)."""
    return {group["topic_id"]: _topic(group) for group in body.get("topic_states") or () if "topic_id" in group}


def _errors(response: dict[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    for each in response.get("partition_errors") or response.get("partitions") or ():
        yield _topic(each), _number(each), _error(each["error_code"])
    for group in response.get("topics") or ():
        for each in group["partition_errors"]:
            yield names[group["topic_id"]], _number(each), _error(each["error_code"])


def _error(code: object) -> str:
    number = int(str(code))
    return _NAMES.get(number, str(number))


def _brokers(body: dict[str, Any]) -> Iterable[int]:
    for each in body.get("live_brokers") or body.get("live_leaders") or ():
        yield int(each["id"] if "id" in each else each["broker_id"])
