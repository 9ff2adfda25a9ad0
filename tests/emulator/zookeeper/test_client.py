"""The verbs, as a role sees them."""

from collections.abc import Iterator

import pytest

from emulator.zookeeper import (
    BadArguments,
    BadVersion,
    Check,
    Create,
    Delete,
    GetData,
    Multi,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotEmpty,
    Request,
    SetData,
    ZkCode,
    ZkResponse,
    ZkSpec,
)
from tests.emulator.zookeeper.stage import Answers, Stage, play


def test_versions_count_and_guard() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        assert await zk.create("/a", "0") == "/a"
        created = await zk.exists("/a")
        assert created is not None
        assert (created.version, created.czxid) == (0, created.mzxid)
        stat = await zk.set("/a", "1", version=0)
        assert stat.version == 1
        assert stat.czxid == created.czxid < stat.mzxid
        with pytest.raises(BadVersion) as refused:
            await zk.set("/a", "2", version=0)
        assert refused.value.path == "/a"
        assert await zk.get("/a") == ("1", stat)
        with pytest.raises(BadVersion):
            await zk.delete("/a", version=7)
        await zk.delete("/a", version=1)
        assert await zk.exists("/a") is None

    stage = play(script)
    assert [(e.client, e.op, e.path, e.version, e.data) for e in stage.written] == [
        (0, "create", "/a", 0, "0"), (0, "setData", "/a", 1, "1"), (0, "delete", "/a", 1, ""),
    ]  # fmt: skip


def test_refusals() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create_parents("/a/b/c")
        assert await zk.children("/a") == ("b",)
        assert await zk.children("/a/b") == ()
        await zk.create_parents("/a/b/c")
        await zk.create("/e", ephemeral=True)
        for error, operation in (
            (NodeExists, zk.create("/a")),
            (NoNode, zk.create("/x/y")),
            (NoNode, zk.get("/x")),
            (NoNode, zk.set("/x", "")),
            (NoNode, zk.delete("/x")),
            (NoNode, zk.children("/x")),
            (NotEmpty, zk.delete("/a")),
            (NoChildrenForEphemerals, zk.create("/e/x")),
            (BadArguments, zk.create("a")),
            (BadArguments, zk.create("/a/")),
            (BadArguments, zk.delete("/")),
        ):
            with pytest.raises(error):
                await operation

    stage = play(script)
    assert [e.path for e in stage.written] == ["/a", "/a/b", "/e"]


def test_children_come_in_the_order_of_their_numbers() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        for name in ("10", "word", "9", "2", "another"):
            await zk.create(f"/{name}")
        assert await zk.children("/") == ("2", "9", "10", "another", "word")

    play(script)


def test_sequential_names_go_by_the_creations_under_the_parent() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/n")
        assert await zk.create("/n/isr_change_", "x", sequential=True) == "/n/isr_change_0000000000"
        await zk.create("/n/other")
        await zk.delete("/n/isr_change_0000000000")
        assert await zk.create("/n/isr_change_", "y", sequential=True) == "/n/isr_change_0000000002"
        stat = await zk.exists("/n")
        assert stat is not None
        assert (stat.cversion, stat.num_children) == (4, 2)

    play(script)


def test_a_multi_is_all_or_nothing() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/epoch", "1")
        results = await zk.multi(Check("/epoch", 0), SetData("/epoch", "2", 0), Create("/c", "me", True))
        assert [result.error for result in results] == [ZkCode.OK] * 3
        assert results[2].stat is not None
        assert results[2].stat.ephemeral_owner == zk.session_id
        before = (dict(stage.zookeeper.tree.nodes), stage.zookeeper.tree.stat("/"))
        change = SetData("/epoch", "3")
        with pytest.raises(BadVersion):
            await zk.multi(Create("/d"), Delete("/c"), change, change, Check("/epoch", 0), Create("/e"))
        assert (dict(stage.zookeeper.tree.nodes), stage.zookeeper.tree.stat("/")) == before
        assert stage.zookeeper.tree.get("/epoch") == "2"
        assert stage.zookeeper.tree.ephemerals(zk.session_id) == ("/c",)
        [failed] = await zk.pipeline([Multi((Create("/d"), Check("/x"), Create("/e")))])
        assert [r.error for r in failed.results] == [
            ZkCode.OK, ZkCode.NO_NODE, ZkCode.RUNTIME_INCONSISTENCY,
        ]  # fmt: skip

    stage = play(script)
    done = [(e.op, e.path, e.zxid - stage.written[0].zxid) for e in stage.written]
    assert done == [("create", "/epoch", 0), ("setData", "/epoch", 1), ("create", "/c", 1)]


def test_a_pipeline_keeps_order_and_its_limit() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/p")
        began = stage.world.now
        requests: list[Request] = [Create(f"/p/{n}", str(n)) for n in range(20)]
        requests += [GetData("/p/3"), Create("/p/3")]
        responses = await zk.pipeline(requests)
        assert [r.path for r in responses[:20]] == [f"/p/{n}" for n in range(20)]
        assert [r.error for r in responses[20:]] == [ZkCode.OK, ZkCode.NODE_EXISTS]
        assert responses[20].data == "3"
        assert stage.world.now - began == 3 * stage.spec.rtt_us

    play(script, spec=ZkSpec(jitter_us=0))


def test_a_pipeline_makes_its_requests_as_they_go_and_takes_answers_as_they_come() -> None:
    """Of a long pipeline only what is under way is in memory."""

    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/p")
        made, answered = 0, 0
        ahead: list[int] = []

        def requests() -> Iterator[Request]:
            nonlocal made
            for number in range(50):
                made += 1
                ahead.append(made - answered)
                yield Create(f"/p/{number}")

        def take(response: ZkResponse) -> str:
            nonlocal answered
            answered += 1
            return response.path

        assert await zk.pipeline_into(take, requests()) == [f"/p/{number}" for number in range(50)]
        assert max(ahead) == stage.spec.max_in_flight
        assert await zk.pipeline_into(take, ()) == []

    play(script)


def test_others_get_their_turn_during_a_long_pipeline() -> None:
    finished: list[str] = []

    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/p")

        async def long() -> None:
            await zk.pipeline([SetData("/p", str(n)) for n in range(200)])
            finished.append("long")

        async with stage.world.open_nursery() as nursery:
            stage.world.spawn(nursery, long)
            await stage.world.sleep(100)
            await zk.get("/p")
            finished.append("short")

    play(script)
    assert finished == ["short", "long"]


def test_requests_of_one_client_are_done_in_order() -> None:
    answers = Answers()

    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        answers.ask(zk, Create("/a"), *(SetData("/a", str(n), n) for n in range(30)))
        await stage.world.settled()

    stage = play(script, spec=ZkSpec(jitter_us=400))
    assert [r.error for r in answers.got] == [ZkCode.OK] * 31
    assert [e.data for e in stage.written[1:]] == [str(n) for n in range(30)]


def test_a_write_that_takes_time_holds_up_what_comes_after_it() -> None:
    async def script(stage: Stage) -> None:
        one, two = await stage.connected(0), await stage.connected(1)
        await one.create("/a")
        began = stage.world.now
        order: list[str] = []
        one.submit(SetData("/a", "1"), lambda _: order.append("one"))
        two.submit(SetData("/a", "2"), lambda _: order.append("two"))
        two.submit(GetData("/a"), lambda r: order.append(r.data))
        await stage.world.settled()
        assert order == ["one", "two", "2"]
        assert stage.world.now - began == stage.spec.rtt_us + 2 * stage.spec.write_us

    play(script, spec=ZkSpec(jitter_us=0, write_us=300))


def test_what_follows_an_answer_is_caused_by_the_write() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        stage.trace.cause = 0
        await zk.create("/a")
        await zk.create("/b")
        seen: list[int] = []
        zk.on_node("/b", lambda _: seen.append(stage.trace.cause))
        await zk.get("/b")
        [_, response] = await zk.pipeline([SetData("/b", "1"), GetData("/b")])
        assert seen == [stage.written[2].seq]
        assert response.cause == stage.trace.cause

    a, b, _ = play(script).written
    assert (a.cause, b.cause) == (0, a.seq)


def test_what_follows_is_caused_by_ones_own_answer_though_others_came_at_the_same_instant() -> None:
    async def script(stage: Stage) -> None:
        clients = [await stage.connected(broker) for broker in range(3)]

        async def write(broker: int) -> None:
            stage.trace.cause = 0
            await clients[broker].create(f"/{broker}")
            await clients[broker].create(f"/{broker}/x")

        async with stage.world.open_nursery() as nursery:
            for broker in range(3):
                stage.world.spawn(nursery, write, broker)

    written = play(script, spec=ZkSpec(jitter_us=0)).written
    assert [e.cause for e in written[3:]] == [e.seq for e in written[:3]]


def test_single_requests_share_the_limit_and_keep_their_causes() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        await zk.create("/a")
        began = stage.world.now
        answers = Answers()
        for cause in range(25):
            stage.trace.cause = cause
            answers.ask(zk, SetData("/a", str(cause)))
        await stage.world.settled()
        assert len(answers.got) == 25
        assert stage.world.now - began == 3 * stage.spec.rtt_us

    stage = play(script, spec=ZkSpec(jitter_us=0))
    assert [e.cause for e in stage.written[1:]] == list(range(25))


def test_seeded_znodes_are_there_before_the_run() -> None:
    async def script(stage: Stage) -> None:
        stage.zookeeper.seed("/brokers/topics/orders", "{}")
        stage.zookeeper.seed("/brokers/topics/orders", "{1}")
        zk = await stage.connected(0)
        assert (await zk.get("/brokers/topics/orders"))[0] == "{1}"

    stage = play(script)
    assert [(e.client, e.op, e.path) for e in stage.written] == [
        (-1, "create", "/brokers"), (-1, "create", "/brokers/topics"),
        (-1, "create", "/brokers/topics/orders"), (-1, "setData", "/brokers/topics/orders"),
    ]  # fmt: skip


def test_a_cancelled_request_is_done_all_the_same_and_the_session_lives() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)

        async def ask() -> None:
            await zk.create("/a")

        async with stage.world.open_nursery() as nursery:
            stage.world.spawn(nursery, ask)
            await stage.world.sleep(100)
            nursery.cancel_scope.cancel()
        assert await zk.exists("/a") is not None

    play(script)


def test_callbacks_may_ask_again() -> None:
    async def script(stage: Stage) -> None:
        zk = await stage.connected(0)
        left = [5]

        def again(response: ZkResponse) -> None:
            assert response.error is ZkCode.OK
            left[0] -= 1
            if left[0]:
                zk.submit(Create(f"/{left[0]}"), again)

        zk.submit(Create("/first"), again)
        await stage.world.settled()

    assert [e.path for e in play(script).written] == ["/first", "/4", "/3", "/2", "/1"]
