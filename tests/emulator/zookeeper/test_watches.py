"""Watches: one-shot, armed by reads alone, delivered before the data they announce."""

import pytest

from emulator.zookeeper import EventType, NoNode, ZkClient
from tests.emulator.zookeeper.stage import Stage, is_expired, is_up, play

CREATED, DELETED = EventType.NODE_CREATED, EventType.NODE_DELETED
CHANGED, CHILDREN = EventType.NODE_DATA_CHANGED, EventType.NODE_CHILDREN_CHANGED


class Seen:
    """The watch events that the handlers of one client received, and when."""

    def __init__(self, stage: Stage, client: ZkClient) -> None:
        self._stage = stage
        self._client = client
        self.events: list[tuple[EventType, str]] = []

    def node(self, path: str) -> None:
        self._client.on_node(path, lambda event: self.events.append((event.type, event.path)))

    def children(self, path: str) -> None:
        self._client.on_children(path, lambda event: self.events.append((event.type, event.path)))

    async def take(self) -> list[tuple[EventType, str]]:
        """The watch events since the last call, once nothing is under way."""
        await self._stage.world.settled()
        events, self.events = self.events, []
        return events


def test_registration_arms_nothing_and_a_read_arms_once() -> None:
    async def script(stage: Stage) -> None:
        writer, reader = await stage.connected(0), await stage.connected(1)
        await writer.create("/a")
        seen = Seen(stage, reader)
        await reader.get("/a")
        seen.node("/a")
        await writer.set("/a", "1")
        assert await seen.take() == []
        await reader.get("/a")
        await reader.get("/a")
        await writer.set("/a", "2")
        await writer.set("/a", "3")
        assert await seen.take() == [(CHANGED, "/a")]
        await reader.exists("/a")
        await writer.delete("/a")
        assert await seen.take() == [(DELETED, "/a")]

    play(script)


def test_exists_waits_for_a_creation_and_get_of_a_missing_node_for_nothing() -> None:
    async def script(stage: Stage) -> None:
        writer, reader = await stage.connected(0), await stage.connected(1)
        seen = Seen(stage, reader)
        seen.node("/a")
        with pytest.raises(NoNode):
            await reader.get("/a")
        await writer.create("/a")
        assert await seen.take() == []
        await writer.delete("/a")
        assert await reader.exists("/a") is None
        await writer.create("/a")
        assert await seen.take() == [(CREATED, "/a")]

    play(script)


def test_child_watches_fire_for_children_and_not_for_data() -> None:
    async def script(stage: Stage) -> None:
        writer, reader = await stage.connected(0), await stage.connected(1)
        await writer.create("/p")
        await writer.create("/p/1")
        seen = Seen(stage, reader)
        seen.children("/p")
        await reader.children("/p")
        await writer.set("/p", "x")
        await writer.set("/p/1", "x")
        assert await seen.take() == []
        await writer.create("/p/2")
        await writer.create("/p/3")
        assert await seen.take() == [(CHILDREN, "/p")]
        await reader.children("/p")
        await writer.delete("/p/1")
        assert await seen.take() == [(CHILDREN, "/p")]

    play(script)


def test_a_deletion_fires_once_for_a_client_that_watches_data_and_children() -> None:
    async def script(stage: Stage) -> None:
        writer, reader = await stage.connected(0), await stage.connected(1)
        await writer.create("/p")
        seen = Seen(stage, reader)
        seen.node("/p")
        seen.children("/p")
        seen.children("/")
        await reader.get("/p")
        await reader.children("/p")
        await reader.children("/")
        await writer.delete("/p")
        assert await seen.take() == [(DELETED, "/p"), (CHILDREN, "/")]

    play(script)


def test_a_removed_handler_is_not_called() -> None:
    async def script(stage: Stage) -> None:
        writer, reader = await stage.connected(0), await stage.connected(1)
        await writer.create("/a")
        seen = Seen(stage, reader)
        seen.node("/a")
        seen.children("/a")
        await reader.get("/a")
        await reader.children("/a")
        reader.off_node("/a")
        reader.off_children("/a")
        reader.off_children("/never")
        await writer.set("/a", "1")
        await writer.create("/a/b")
        assert await seen.take() == []

    play(script)


def test_the_notification_comes_before_the_data_it_announces() -> None:
    """The reader reads all the time: it never sees the new data before it has received the watch event."""
    told_late: list[str] = []

    async def script(stage: Stage) -> None:
        writer, reader = await stage.connected(0), await stage.connected(1)
        await writer.create("/a", "0")
        told = [0]
        reader.on_node("/a", lambda _: told.__setitem__(0, told[0] + 1))
        await reader.get("/a")

        async def write() -> None:
            await stage.world.sleep(3_333)
            await writer.set("/a", "1")

        async with stage.world.open_nursery() as nursery:
            stage.world.spawn(nursery, write)
            for _ in range(10):
                data, _stat = await reader.get("/a")
                if data == "1" and not told[0]:
                    told_late.append(data)
        assert told == [1]

    for seed in range(10):
        play(script, seed=seed)
    assert told_late == []


def test_a_writer_gets_the_watch_event_of_its_own_write_before_the_answer() -> None:
    order: list[str] = []

    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/a")
        zk.on_node("/a", lambda _: order.append("told"))
        await zk.get("/a")
        await zk.set("/a", "1")
        order.append("answered")

    play(script)
    assert order == ["told", "answered"]


def test_watches_survive_a_reconnection_and_missed_changes_fire_at_once() -> None:
    async def script(stage: Stage) -> None:
        writer, reader = await stage.connected(0), await stage.connected(1)
        for path in ("/missed", "/later", "/gone", "/parent", "/quiet-parent"):
            await writer.create(path)
        seen = Seen(stage, reader)
        for path in ("/missed", "/later", "/gone", "/born"):
            seen.node(path)
            await reader.exists(path)
        for path in ("/parent", "/quiet-parent"):
            seen.children(path)
            await reader.children(path)
        stage.cut(1)
        await writer.set("/missed", "1")
        await writer.delete("/gone")
        await writer.create("/born")
        await writer.create("/parent/1")
        await stage.sleep_s(4.5)
        assert not is_up(reader)
        stage.heal(1)
        await stage.sleep_s(1.3)
        assert is_up(reader)
        missed = [(CHANGED, "/missed"), (DELETED, "/gone"), (CREATED, "/born"), (CHILDREN, "/parent")]
        assert await seen.take() == missed
        await writer.set("/missed", "2")
        await writer.set("/later", "1")
        await writer.create("/quiet-parent/1")
        assert await seen.take() == [(CHANGED, "/later"), (CHILDREN, "/quiet-parent")]
        assert stage.states(1) == ["created"]

    play(script)


def test_watches_end_with_the_session() -> None:
    async def script(stage: Stage) -> None:
        writer, reader = await stage.connected(0), await stage.connected(1)
        await writer.create("/a")
        seen = Seen(stage, reader)
        seen.node("/a")
        await reader.get("/a")
        stage.zookeeper.expire(1)
        await stage.sleep_s(2)
        assert is_expired(reader)
        assert stage.zookeeper.server.database.watches.data == {}
        await reader.reopen()
        await writer.set("/a", "1")
        assert await seen.take() == []

    play(script)
