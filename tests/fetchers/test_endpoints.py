"""The follower's side of a fetch session, against a leader that applies exactly what a request says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.kernel import World
from emulator.network import Disconnected
from emulator.protocol.clients.fetch import INITIAL_EPOCH
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchedPartition, FetchPartition, FetchRequest, FetchResponse
from emulator.protocol.types import TopicPartition
from fetchers.endpoints import RemoteLeaderEndPoint
from fetchers.policies import FetcherPolicies

TPS = tuple(TopicPartition("t", number) for number in range(3))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("want"), st.sampled_from(TPS), st.integers(0, 9)),
        st.tuples(st.just("forget"), st.sampled_from(TPS), st.just(0)),
        st.tuples(
            st.sampled_from(["read", "wait", "lose the session", "lose the connection", "hang up"]),
            st.none(),
            st.just(0),
        ),
    ),
    max_size=30,
)


class Ledger:
    """A leader that holds one session: partition -> offset."""

    def __init__(self) -> None:
        self.session = 0
        self.epoch = 0
        self.offsets: dict[TopicPartition, int] = {}
        self.disconnect = False
        self.backgrounds: list[bool] = []

    async def call(self, request: FetchRequest, size: int, background: bool = False) -> Any:
        self.backgrounds.append(background)
        if self.disconnect:
            self.disconnect = False
            raise Disconnected("lost")
        if request.session_id == 0:
            self.session, self.epoch, self.offsets = self.session + 1, 0, {}
        elif (request.session_id, request.session_epoch) == (self.session, INITIAL_EPOCH):
            self.epoch = INITIAL_EPOCH
        elif (request.session_id, request.session_epoch) != (self.session, self.epoch):
            return FetchResponse(Errors.FETCH_SESSION_ID_NOT_FOUND, 0, (), 60)
        self.epoch += 1
        for tp in request.forgotten:
            del self.offsets[tp]  # what was never named cannot be forgotten
        self.offsets |= {wanted.tp: wanted.fetch_offset for wanted in request.partitions}
        answers = tuple(FetchedPartition(tp, Errors.NONE, at, 0, ()) for tp, at in self.offsets.items())
        return FetchResponse(Errors.NONE, self.session, answers, 60)

    def close(self) -> None: ...


@given(STEPS)
def test_the_leader_knows_exactly_what_is_wanted(steps: list[tuple[str, TopicPartition | None, int]]) -> None:
    async def body() -> None:
        ledger, wanted = Ledger(), dict[TopicPartition, int]()
        reader = RemoteLeaderEndPoint(1, ledger, FetcherPolicies())
        for what, tp, offset in [*steps, ("read", None, 0), ("read", None, 0)]:
            if what == "want" and tp is not None:
                wanted[tp] = offset
                reader.want(FetchPartition(tp, 0, offset, 0))
            elif what == "forget" and tp is not None:
                wanted.pop(tp, None)
                reader.forget(tp)
            elif what == "wait":
                reader.nothing_wanted()
            elif what == "lose the connection":
                ledger.disconnect = True
                with pytest.raises(Disconnected):
                    await reader.fetch()
                reader.reset()
            elif what == "hang up":  # the connection served another kind of request when it broke
                reader.reset()
            else:
                if what == "lose the session":
                    ledger.session += 1000
                    await reader.fetch()
                answers = await reader.fetch()
                assert ledger.offsets == wanted
                assert {answer[0]: answer[2] for answer in answers} == wanted

    World(1).run(body)


def test_a_request_that_names_nothing_new_is_background() -> None:
    async def body() -> None:
        ledger = Ledger()
        reader = RemoteLeaderEndPoint(1, ledger, FetcherPolicies())
        reader.want(FetchPartition(TPS[0], 0, 5, 0))
        await reader.fetch()
        await reader.fetch()
        reader.want(FetchPartition(TPS[0], 0, 6, 0))
        await reader.fetch()
        assert ledger.backgrounds == [False, True, False]

    World(1).run(body)


def test_an_answer_for_a_partition_forgotten_meanwhile_is_dropped() -> None:
    class Forgetful(Ledger):
        async def call(self, request: FetchRequest, size: int, background: bool = False) -> Any:
            response = await super().call(request, size, background)
            reader.forget(TPS[0])
            return response

    async def body() -> None:
        for tp in TPS[:2]:
            reader.want(FetchPartition(tp, 0, 5, 0))
        assert [answer[0] for answer in await reader.fetch()] == [TPS[1]]

    reader = RemoteLeaderEndPoint(1, Forgetful(), FetcherPolicies())
    World(1).run(body)


def test_a_new_session_does_not_bring_back_forgotten_partitions() -> None:
    async def body() -> None:
        ledger = Ledger()
        reader = RemoteLeaderEndPoint(1, ledger, FetcherPolicies())
        for tp in TPS[:2]:
            reader.want(FetchPartition(tp, 0, 5, 0))
        await reader.fetch()
        reader.forget(TPS[0])
        reader.reset()
        await reader.fetch()
        assert ledger.offsets == {TPS[1]: 5}

    World(1).run(body)


@pytest.mark.parametrize(("offset", "error", "kept"), [(5, 0, True), (6, 0, False), (5, 74, False)])
def test_an_answer_counts_for_a_partition_that_came_back_at_the_same_offset(
    offset: int, error: int, kept: bool
) -> None:
    """AbstractFetcherThread.processFetchRequest, 2.8.2. The session does not repeat the high watermark in it."""

    class Late(Ledger):
        async def call(self, request: FetchRequest, size: int, background: bool = False) -> Any:
            response = await super().call(request, size, background)
            reader.forget(TPS[0])
            reader.want(FetchPartition(TPS[0], 1, offset, 0))
            answers = tuple(answer._replace(error=Errors(error)) for answer in response.answers)
            return FetchResponse(Errors.NONE, self.session, answers, 60)

    async def body() -> None:
        reader.want(FetchPartition(TPS[0], 0, 5, 0))
        assert bool(await reader.fetch()) is kept

    reader = RemoteLeaderEndPoint(1, Late(), FetcherPolicies())
    World(1).run(body)


def test_a_session_in_which_nothing_is_left_ends() -> None:
    """What is fetched later is a full request, and new to the leader: it is checked by the leader's epoch up to 2.4,
    and sent the high watermark again (ReplicaFetcherThread.buildFetch and FetchManager.newContext, 2.4.1)."""

    class Named(Ledger):
        forgotten: tuple[TopicPartition, ...] = ()

        async def call(self, request: FetchRequest, size: int, background: bool = False) -> Any:
            self.forgotten = request.forgotten
            return await super().call(request, size, background)

    async def body() -> None:
        ledger = Named()
        reader = RemoteLeaderEndPoint(1, ledger, FetcherPolicies())
        reader.want(FetchPartition(TPS[0], 0, 5, 0))
        await reader.fetch()
        for waits, epoch, forgotten in ((False, 2, ()), (True, 1, (TPS[0],)), (False, 2, ())):
            reader.forget(TPS[0])
            if waits:
                reader.nothing_wanted()
                reader.nothing_wanted()
            reader.want(FetchPartition(TPS[0], 0, 5, 0))
            await reader.fetch()
            assert (ledger.epoch, ledger.forgotten) == (epoch, forgotten)
            assert ledger.offsets == {TPS[0]: 5}

    World(1).run(body)


@pytest.mark.parametrize("names_all", [True, False])
def test_before_kip_227_what_comes_back_gets_the_high_watermark_with_the_next_answer(names_all: bool) -> None:
    """As each fetch named all partitions (AbstractFetcherThread.doWork, 0.8.0): it is new in the session."""
    asked: list[tuple[TopicPartition, ...]] = []

    class Named(Ledger):
        async def call(self, request: FetchRequest, size: int, background: bool = False) -> Any:
            asked.append(request.forgotten)
            return await super().call(request, size, background)

    async def body() -> None:
        reader = RemoteLeaderEndPoint(1, Named(), FetcherPolicies(names_all_partitions=names_all))
        reader.want(FetchPartition(TPS[0], 0, 5, 0))
        await reader.fetch()
        reader.forget(TPS[0])
        reader.want(FetchPartition(TPS[0], 0, 5, 0))
        await reader.fetch()
        await reader.fetch()

    World(1).run(body)
    assert asked == [(), (TPS[0],) if names_all else (), ()]
