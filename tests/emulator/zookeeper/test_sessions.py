"""Sessions: what keeps them alive, what ends them, and what is left of requests when a connection is lost."""

from collections.abc import Callable

import pytest

from emulator.zookeeper import (
    ZOOKEEPER,
    BadVersion,
    Create,
    GetData,
    NodeExists,
    SessionExpired,
    SetData,
    ZkCode,
    ZkSpec,
)
from emulator.zookeeper.messages import Connect
from emulator.zookeeper.spec import PORT, SIZE
from tests.emulator.zookeeper.stage import SECOND, Answers, Stage, is_expired, is_up, play


def test_ephemerals_vanish_at_expiry_and_not_at_the_crash() -> None:
    async def script(stage: Stage) -> None:
        other = await stage.connected(1)
        zk = await stage.connected(0)
        await zk.create("/e0", ephemeral=True)
        await zk.create("/e1", ephemeral=True)
        await zk.create("/p")
        gone: list[int] = []
        other.on_node("/e0", lambda _: gone.append(stage.world.now))
        await other.exists("/e0")
        crashed = stage.world.now
        stage.node(0).crash("process")
        await stage.sleep_s(5.9)
        assert await other.exists("/e0") is not None
        assert stage.zookeeper.expiring
        await stage.sleep_s(2.2)
        assert await other.exists("/e0") is None
        assert 6 * SECOND <= gone[0] - crashed <= 8 * SECOND + stage.spec.rtt_us
        assert stage.zookeeper.tree.children("/") == ("p",)
        assert not stage.zookeeper.expiring

    stage = play(script)
    assert stage.states(0) == ["created", "expired"]
    deleted = [(e.client, e.op, e.path) for e in stage.written[-2:]]
    assert deleted == [(-1, "delete", "/e0"), (-1, "delete", "/e1")]
    expired = stage.sessions[-1]
    assert [e.cause for e in stage.written[-2:]] == [expired.seq] * 2


@pytest.mark.parametrize(
    "harm",
    [
        lambda stage: stage.node(0).crash("process"),
        lambda stage: stage.node(0).crash("host"),
        lambda stage: stage.process(0).pause(),
        lambda stage: stage.network.cut(0, ZOOKEEPER),
        lambda stage: stage.network.cut(ZOOKEEPER, 0),
        lambda stage: stage.cut(0),
    ],
    ids=["crash", "crash of the machine", "pause", "cut to", "cut from", "cut"],
)
def test_the_world_is_settled_when_a_session_that_is_not_kept_alive_has_expired(
    harm: Callable[[Stage], object],
) -> None:
    """And then it is, though the client stays dead, paused or cut off, and the session of another one goes on."""

    async def script(stage: Stage) -> None:
        await stage.connected(1)
        await stage.connected(0)
        await stage.world.settled()
        began = stage.world.now
        assert began < SECOND
        harm(stage)
        await stage.world.settled()
        assert stage.states(0) == ["created", "expired"]
        assert 6 * SECOND <= stage.world.now - began < 13 * SECOND
        began = stage.world.now
        await stage.world.settled()
        assert stage.world.now - began < SECOND

    assert play(script).states(1) == ["created"]


def test_the_world_is_settled_when_a_session_has_been_resumed() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        stage.process(0).pause()
        stage.world.call_later(3 * SECOND, lambda _: stage.process(0).resume(), background=True)
        await stage.world.settled()
        assert stage.world.now < 4 * SECOND
        assert is_up(zk)

    assert play(script).states(0) == ["created"]


def test_an_idle_session_lives_on_a_few_background_events() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        lost: list[int] = []
        zk.on_disconnected = lambda: lost.append(stage.world.now)
        before, began = stage.world.events, stage.world.now
        await stage.world.settled()
        assert stage.world.now - began < SECOND, "an idle session keeps the world unsettled"
        await stage.sleep_s(600)
        assert is_up(zk)
        assert lost == []
        assert stage.world.events - before < 600 * 2.5
        for _ in range(10_000):
            await stage.world.sleep(250, background=True)
            assert stage.world.foreground == 0, "a ping keeps the world unsettled"

    assert play(script).states(0) == ["created"]


def test_a_new_incarnation_has_a_session_of_its_own() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/broker", "old", ephemeral=True)
        stage.node(0).crash("host")
        await stage.sleep_s(1)
        zk = await stage.connected(0)
        with pytest.raises(NodeExists):
            await zk.create("/broker", "new", ephemeral=True)
        await stage.sleep_s(8)
        await zk.create("/broker", "new", ephemeral=True)

    assert play(script).states(0) == ["created", "created", "expired"]


def test_a_short_cut_is_survived_and_requests_are_sent_again() -> None:
    turns: list[str] = []

    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        zk.on_disconnected = lambda: turns.append("lost")
        zk.on_connected = lambda: turns.append("back")
        session = zk.session_id
        stage.cut(0)
        answers = Answers()
        answers.ask(zk, Create("/a"), *(SetData("/a", str(n), n) for n in range(20)), GetData("/a"))
        await stage.sleep_s(4.5)
        assert turns == ["lost"]
        assert not is_up(zk)
        stage.heal(0)
        await stage.sleep_s(1.3)
        assert is_up(zk)
        assert zk.session_id == session
        assert len(answers.got) == 22
        assert answers.got[-1].data == "19"

    stage = play(script)
    assert turns == ["lost", "back"]
    assert stage.states(0) == ["created"]
    assert [e.data for e in stage.written if e.op == "setData"] == [str(n) for n in range(20)]


def test_a_write_whose_answer_was_lost_took_effect() -> None:
    """The caller sees NodeExists and BadVersion for what it did itself (kafka-behaviour §7.6)."""

    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/a")
        stage.network.cut(ZOOKEEPER, 0)

        async def heal() -> None:
            await stage.sleep_s(5)
            stage.network.heal(ZOOKEEPER, 0)

        async with stage.world.open_nursery() as nursery:
            stage.world.spawn(nursery, heal)
            created, written = await zk.pipeline([Create("/b", "mine"), SetData("/a", "mine", 0)])
        assert (created.error, written.error) == (ZkCode.NODE_EXISTS, ZkCode.BAD_VERSION)
        assert (await zk.get("/b"))[0] == (await zk.get("/a"))[0] == "mine"
        with pytest.raises(BadVersion):
            await zk.set("/a", "again", 0)

    stage = play(script)
    assert stage.states(0) == ["created"]
    assert [(e.op, e.path) for e in stage.written] == [("create", "/a"), ("create", "/b"), ("setData", "/a")]


def test_a_long_cut_ends_the_session_and_the_client_learns_it_when_it_is_back() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/e", ephemeral=True)
        expired: list[int] = []
        zk.on_expired = lambda: expired.append(stage.world.now)
        stage.cut(0)
        answers = Answers()
        answers.ask(zk, SetData("/e", "1"), *(Create("/later") for _ in range(12)))
        await stage.sleep_s(20)
        assert stage.zookeeper.tree.get("/e") is None
        assert not is_expired(zk)
        assert answers.got == []
        stage.heal(0)
        await stage.sleep_s(1.2)
        assert is_expired(zk)
        assert len(expired) == 1
        assert [r.error for r in answers.got] == [ZkCode.SESSION_EXPIRED] * 13
        for operation in (zk.get("/e"), zk.pipeline([Create("/x")])):
            with pytest.raises(SessionExpired):
                await operation
        old = stage.sessions[-1].session
        await zk.reopen()
        assert not is_expired(zk)
        assert zk.session_id != old
        await zk.create("/e", ephemeral=True)

    stage = play(script)
    assert stage.states(0) == ["created", "expired", "created"]
    assert [(e.op, e.path) for e in stage.written] == [("create", "/e"), ("delete", "/e"), ("create", "/e")]


def test_tasks_that_wait_for_an_answer_learn_of_the_expiry() -> None:
    learnt: list[str] = []

    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        zk.on_expired = lambda: learnt.append("handler")

        async def ask() -> None:
            with pytest.raises(SessionExpired):
                await zk.get("/a")
            learnt.append("get")

        async def ask_many() -> None:
            with pytest.raises(SessionExpired):
                await zk.pipeline([GetData("/a")] * 50)
            learnt.append("pipeline")

        stage.network.cut(0, ZOOKEEPER)
        async with stage.world.open_nursery() as nursery:
            stage.world.spawn(nursery, ask)
            stage.world.spawn(nursery, ask_many)
            await stage.sleep_s(10)
            stage.network.heal(0, ZOOKEEPER)

    play(script)
    assert learnt == ["handler", "get", "pipeline"]


def test_a_paused_client_expires_and_learns_it_when_it_goes_on() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/e", ephemeral=True)
        stage.process(0).pause()
        await stage.sleep_s(9)
        assert stage.zookeeper.tree.get("/e") is None
        assert is_up(zk)
        assert not is_expired(zk)
        stage.process(0).resume()
        await stage.sleep_s(1.2)
        assert is_expired(zk)

    assert play(script).states(0) == ["created", "expired"]


def test_a_connection_that_claims_a_session_takes_it_from_the_old_one() -> None:
    turns: list[str] = []

    async def script(stage: Stage) -> None:
        zk, _ = await stage.connected(0), await stage.connected(1)
        zk.on_disconnected = lambda: turns.append("lost")
        zk.on_connected = lambda: turns.append("back")
        thief = stage.network.connect(stage.process(1), ZOOKEEPER, PORT, lambda _: turns.append("stolen"))
        thief.send(Connect(zk.session_id), SIZE)
        await stage.sleep_s(3)
        assert thief.done
        assert not stage.zookeeper.expiring

    stage = play(script)
    assert turns == ["stolen", "lost", "back"]
    assert stage.states(0) == ["created"]


def test_a_short_pause_is_survived() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        stage.process(0).pause()
        await stage.sleep_s(3.5)
        stage.process(0).resume()
        await zk.create("/a")
        await stage.sleep_s(30)
        assert is_up(zk)

    assert play(script).states(0) == ["created"]


def test_the_fault_expires_a_session_at_once() -> None:
    async def script(stage: Stage) -> None:
        zk, other = await stage.connected(0), await stage.connected(1)
        await zk.create("/e", ephemeral=True)
        stage.trace.cause = 0
        assert stage.zookeeper.expire(0)
        assert stage.zookeeper.tree.get("/e") is None
        assert not stage.zookeeper.expire(0)
        assert not stage.zookeeper.expire(7)
        assert is_up(zk)
        await stage.sleep_s(1.2)
        assert is_expired(zk)
        assert is_up(other)
        await zk.reopen()
        await zk.create("/e", ephemeral=True)

    assert play(script).states(0) == ["created", "expired", "created"]


def test_a_connected_client_gets_the_watch_event_of_its_ephemeral_before_the_expiry() -> None:
    turns: list[str] = []

    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/controller", ephemeral=True)
        zk.on_node("/controller", lambda event: turns.append(event.type.name))
        zk.on_disconnected = lambda: turns.append("lost")
        zk.on_expired = lambda: turns.append("expired")
        await zk.get("/controller")
        stage.zookeeper.expire(0)
        await stage.sleep_s(1.2)

    play(script)
    assert turns == ["NODE_DELETED", "lost", "expired"]


def test_a_clean_close_takes_the_ephemerals_along() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/e", ephemeral=True)
        answers = Answers()
        answers.ask(zk, Create("/before"))
        zk.close()
        await stage.world.sleep(stage.spec.rtt_us)
        assert stage.zookeeper.tree.children("/") == ("before",)
        assert [r.error for r in answers.got] == [ZkCode.SESSION_EXPIRED]
        with pytest.raises(SessionExpired):
            await zk.get("/before")

    stage = play(script)
    assert stage.states(0) == ["created", "closed"]
    assert (stage.written[-1].op, stage.written[-1].client) == ("delete", 0)


def test_a_crashed_process_gets_no_answer() -> None:
    answers = Answers()

    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        answers.ask(zk, Create("/a"))
        await stage.world.sleep(700)
        stage.node(0).crash("process")
        await stage.sleep_s(1)
        assert stage.zookeeper.tree.get("/a") == ""

    play(script)
    assert answers.got == []


def test_connecting_waits_for_the_network_as_long_as_it_takes() -> None:
    async def script(stage: Stage) -> None:
        zk = stage.client(0)
        stage.cut(0)
        answers = Answers()
        answers.ask(zk, Create("/a"))

        async def heal() -> None:
            await stage.sleep_s(60)
            stage.heal(0)

        async with stage.world.open_nursery() as nursery:
            stage.world.spawn(nursery, heal)
            await zk.connect()
        assert stage.world.now >= 60 * SECOND
        await stage.world.settled()
        assert [r.error for r in answers.got] == [ZkCode.OK]

    play(script)


def test_an_abandoned_connection_no_longer_acts_for_the_session() -> None:
    """Only the way there is cut: requests stall, and arrive after the client has come back on a new
    connection."""

    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/a")
        stage.network.cut(0, ZOOKEEPER)
        answers = Answers()
        answers.ask(zk, SetData("/a", "1", 0))
        await stage.sleep_s(4.5)
        stage.network.heal(0, ZOOKEEPER)
        await stage.sleep_s(3)
        assert [r.error for r in answers.got] in ([ZkCode.OK], [ZkCode.BAD_VERSION])
        assert stage.zookeeper.tree.get("/a") == "1"
        assert is_up(zk)

    play(script, spec=ZkSpec(retry_min_us=1, retry_max_us=2))


@pytest.mark.parametrize("seed", range(3))
def test_the_same_seed_gives_the_same_trace_on_both_backends(seed: int) -> None:
    async def script(stage: Stage) -> None:
        clients = [await stage.connected(broker) for broker in range(3)]
        await clients[0].create("/c")

        async def contend(broker: int) -> None:
            zk = clients[broker]
            zk.on_node("/c", lambda _: zk.submit(SetData("/c", f"told {broker}"), lambda _: None))
            for n in range(5):
                await zk.get("/c")
                await zk.set("/c", f"{broker}.{n}")
                await zk.pipeline([Create(f"/c/{broker}.", sequential=True) for _ in range(12)])

        async with stage.world.open_nursery() as nursery:
            for broker in range(3):
                stage.world.spawn(nursery, contend, broker)
        stage.zookeeper.expire(1)
        stage.cut(2)
        await stage.sleep_s(12)
        stage.heal(2)
        await stage.sleep_s(2)

    digests = [play(script, seed=seed, backend=b).trace.digest() for b in ("detached", "detached", "attached")]
    assert digests[0] == digests[1] == digests[2]
    assert digests[0] != play(script, seed=seed + 100).trace.digest()
