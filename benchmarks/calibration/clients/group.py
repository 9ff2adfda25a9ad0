"""The members of a consumer group, each with requests of its own, and what DescribeGroups says of the group meanwhile.

The coordinator dies in a rebalance, then a replica of ``__consumer_offsets`` dies, so that too few are in sync for what
a coordinator writes; then the coordinator moves back. A generation that a coordinator has not written is not known to
the next one.
"""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import define

from benchmarks.calibration.clients.base import Asking, Scripted, Step, name

COMMIT, FETCH_OFFSETS, DESCRIBE = (8, 7), (9, 5), (15, 3)
JOIN, HEARTBEAT, LEAVE, SYNC = (11, 5), (12, 3), (13, 2), (14, 3)
GROUP, TOPIC = "readers", "__consumer_offsets"
SESSION_MS = 60_000
NOWHERE: Mapping[str, Any] = {"group_id": GROUP, "group_instance_id": None}

STEPS: Mapping[str, tuple[Step, ...]] = {
    "a": (
        (1, 0, "join"), (1, 0, "join"), (1, 0, "sync"),
        (9, 0, "heartbeat"), (9, 0, "commit"), (9, 0, "offsets"),
        (12, 0, "heartbeat"), (12, 0, "commit"), (12, 0, "join"),
        (26, 1, "heartbeat"), (26, 1, "commit"), (26, 1, "offsets"),
        (28, 1, "heartbeat"), (28, 1, "join"), (28, 1, "sync"), (31, 1, "heartbeat"), (31, 1, "commit"),
        (33, 1, "commit"), (46, 1, "commit"), (46, 1, "offsets"),
        (48, 1, "heartbeat"), (48, 1, "join"), (50, 1, "sync"),
        (51.5, 1, "heartbeat"), (52, 1, "join"), (54, 1, "sync"),
        (92, 1, "heartbeat"), (92, 1, "commit"), (92, 0, "heartbeat"), (92, 0, "commit"), (92, 0, "offsets"),
        (94, 0, "join"), (94, 0, "sync"), (98, 0, "heartbeat"), (98, 0, "commit"), (98, 0, "offsets"),
    ),
    "b": (
        (2, 0, "join"), (2, 0, "join"), (2, 0, "sync"),
        (9, 0, "heartbeat"), (9, 0, "commit as of the last generation"), (9, 0, "heartbeat as a stranger"),
        (12.5, 0, "heartbeat"), (14, 1, "heartbeat"), (14, 1, "commit"), (14, 1, "offsets"),
        (26, 1, "heartbeat"), (28.5, 1, "heartbeat"), (28.5, 1, "join"), (28.5, 1, "sync"), (31, 1, "heartbeat"),
        (48.5, 1, "heartbeat"), (48.5, 1, "join"), (51, 1, "sync"), (52.5, 1, "join"), (55, 1, "sync"),
        (92, 0, "heartbeat"), (95, 0, "join"), (95, 0, "sync"), (98, 0, "heartbeat"),
    ),
    "c": (
        (11, 0, "join"), (11, 0, "join"),
        (26, 1, "heartbeat"), (27, 1, "join"), (27, 1, "join"), (27, 1, "join"), (27, 1, "sync"), (31, 1, "heartbeat"),
        (47, 1, "leave"), (47, 1, "heartbeat"),
        (92, 0, "heartbeat"), (96, 0, "heartbeat"), (96, 0, "leave"), (98, 0, "heartbeat"),
    ),
    "admin": (
        (1, 3, "coordinator"), (10, 0, "describe"), (10, 1, "describe"), (12.7, 0, "describe"),
        (14, 1, "coordinator"), (14, 3, "coordinator"), (14, 1, "describe"),
        (25, 1, "coordinator"), (25, 2, "coordinator"), (25, 3, "coordinator"), (25, 1, "describe"),
        (31.5, 1, "describe"),
        (49, 1, "describe"), (56, 1, "describe"),
        (91, 1, "coordinator"), (91, 3, "coordinator"), (91, 0, "describe"), (91, 1, "describe"), (99, 0, "describe"),
    ),
}  # fmt: skip


@define(eq=False)
class GroupMember(Scripted):
    """One member, or the admin. Its member ids begin with its name."""

    topic = TOPIC
    _id: str = ""
    _generation: int = -1
    _others: tuple[str, ...] = ()
    _committed: int = 0

    def carry_out(self, broker: int, verb: str) -> Asking:
        return VERBS[verb](self, broker)

    def _join(self, broker: int) -> Asking:
        body = {
            **NOWHERE, "session_timeout_ms": SESSION_MS, "rebalance_timeout_ms": SESSION_MS, "member_id": self._id,
            "protocol_type": "calibration", "protocols": [{"name": "all", "metadata": self.who.encode()}],
        }  # fmt: skip
        found = yield from self.ask(broker, JOIN, body, client_id=self.who)
        error = name(found)
        if error == "MEMBER_ID_REQUIRED":
            self._id = found["member_id"]
        if error == "UNKNOWN_MEMBER_ID":
            self._id = ""
        if error != "NONE":
            return error
        self._id, self._generation = found["member_id"], found["generation_id"]
        self._others = tuple(each["member_id"] for each in found["members"])
        members = sorted(map(_whose, self._others))
        return f"{error}, generation {self._generation}, {_whose(found['leader'])} leads {', '.join(members)}"

    def _sync(self, broker: int) -> Asking:
        given = [{"member_id": each, "assignment": f"of {_whose(each)}".encode()} for each in self._others]
        body = {**NOWHERE, "generation_id": self._generation, "member_id": self._id, "assignments": given}
        found = yield from self.ask(broker, SYNC, body, client_id=self.who)
        return "" if found is None else f"{name(found)}, {found['assignment'].decode() or 'nothing'}"

    def _heartbeat(self, broker: int, member: str | None = None) -> Asking:
        whose = self._id if member is None else member
        body = {**NOWHERE, "generation_id": self._generation, "member_id": whose}
        return name((yield from self.ask(broker, HEARTBEAT, body, client_id=self.who)))

    def _commit(self, broker: int, back: int = 0) -> Asking:
        """Each commit is of another offset, so that a refused one can be distinguished."""
        self._committed += 1
        part = {"partition_index": 0, "committed_offset": self._committed, "committed_metadata": self.who}
        topics = [{"name": "orders", "partitions": [part]}]
        body = {**NOWHERE, "generation_id": self._generation - back, "member_id": self._id, "topics": topics}
        found = yield from self.ask(broker, COMMIT, body, client_id=self.who)
        return "" if found is None else f"offset {self._committed}, {name(_parts(found)[0])}"

    def _offsets(self, broker: int) -> Asking:
        body = {"group_id": GROUP, "topics": [{"name": "orders", "partition_indexes": [0]}]}
        found = yield from self.ask(broker, FETCH_OFFSETS, body, client_id=self.who)
        if found is None:
            return ""
        parts = [f"{name(part)}, {part['committed_offset']} of {part['metadata']!r}" for part in _parts(found)]
        return f"{name(found)}: {'; '.join(parts)}"

    def _leave(self, broker: int) -> Asking:
        body = {"group_id": GROUP, "member_id": self._id}
        return name((yield from self.ask(broker, LEAVE, body, client_id=self.who)))

    def _describe(self, broker: int) -> Asking:
        found = yield from self.ask(broker, DESCRIBE, {"groups": [GROUP], "include_authorized_operations": False})
        if found is None:
            return ""
        [group] = found["groups"]
        members = sorted(f"{each['client_id']} has {each['member_assignment'].decode()!r}" for each in group["members"])
        protocol = f"{group['protocol_type']!r} {group['protocol_data']!r}"
        return f"{name(group)}, {group['group_state']!r} {protocol}: {', '.join(members) or 'no members'}"


VERBS: Mapping[str, Callable[[GroupMember, int], Asking]] = {
    "join": GroupMember._join,
    "sync": GroupMember._sync,
    "heartbeat": GroupMember._heartbeat,
    "heartbeat as a stranger": lambda member, broker: member._heartbeat(broker, "stranger"),
    "commit": GroupMember._commit,
    "commit as of the last generation": lambda member, broker: member._commit(broker, back=1),
    "offsets": GroupMember._offsets,
    "leave": GroupMember._leave,
    "describe": GroupMember._describe,
    "coordinator": lambda member, broker: member.coordinator(broker, GROUP, 0),
}


def _whose(member_id: str) -> str:
    return member_id.partition("-")[0]


def _parts(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [part for topic in found["topics"] for part in topic["partitions"]]
