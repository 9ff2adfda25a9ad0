"""Asking one broker after the other until one answers."""

from attrs import define, field

from emulator.network import Channel, NetworkSpec, serve
from emulator.nodes import Process
from emulator.protocol.address import LISTENER
from scenarios.cluster.clients.question import Question
from tests.emulator.network.site import Site, on_site

MS = 1000


class Request:
    """A request for these tests."""

    size = 10


@define(eq=False)
class Asker:
    """Machine 0 sends requests to the brokers 1, 2, ..., each of which records when a request arrives and answers with
    its id."""

    site: Site
    question: Question = field(init=False)
    asked: list[tuple[int, int]] = field(factory=list)
    answers: list[tuple[int, int]] = field(factory=list)
    servers: dict[int, Process] = field(factory=dict)

    async def start(self, brokers: int) -> None:
        me = await self.site.process(0)
        for broker in range(1, brokers + 1):
            self.servers[broker] = await self.site.process(broker)
            self.listen(broker)
        self.question = Question(self.site.network, me, tuple(self.servers), 100 * MS, 1_000 * MS, Request(), self.note)

    def listen(self, broker: int) -> None:
        def handle(_request: object, channel: Channel) -> None:
            self.asked.append((broker, self.site.world.now // MS))
            channel.reply(broker, 10)

        serve(self.site.network, self.servers[broker], LISTENER, handle)

    def note(self, answer: int) -> None:
        self.answers.append((answer, self.site.world.now // MS))

    async def sleep_ms(self, ms: int) -> None:
        await self.site.world.sleep(ms * MS)


def far(latency_ms: int) -> NetworkSpec:
    return NetworkSpec(latency_us=latency_ms * MS, jitter_us=0)


def test_an_answer_that_takes_longer_than_the_back_off_counts() -> None:
    async def body(site: Site) -> None:
        asker = Asker(site)
        await asker.start(1)
        asker.question.ask()
        await asker.sleep_ms(5_000)
        assert asker.answers == [(1, 240)]  # the handshake takes one round trip, the answer another

    on_site(body, spec=far(60))


def test_while_one_is_silent_the_next_is_asked_and_the_first_answer_counts_alone() -> None:
    async def body(site: Site) -> None:
        asker = Asker(site)
        await asker.start(3)
        asker.servers[1].node.crash("host")
        asker.question.ask()
        await asker.sleep_ms(5_000)
        assert asker.asked == [(2, 190), (3, 290)]
        assert asker.answers == [(2, 220)]

    on_site(body, spec=far(30))


def test_a_silent_broker_is_asked_again_after_the_time_out_and_one_that_refuses_after_the_back_off() -> None:
    async def body(site: Site, kind: str) -> list[tuple[int, int]]:
        asker = Asker(site)
        await asker.start(1)
        asker.question.ask()
        await asker.sleep_ms(50)
        node = asker.servers[1].node
        node.crash(kind)  # type: ignore[arg-type]
        asker.question.ask()
        await asker.sleep_ms(200)
        asker.servers[1] = node.start(lambda _process: site.world.sleep(10**9))
        await asker.sleep_ms(1)
        asker.listen(1)
        await asker.sleep_ms(5_000)
        return [(broker, ms // 100) for broker, ms in asker.answers]

    assert on_site(lambda site: body(site, "process"), spec=far(1)) == [(1, 0), (1, 3)]
    assert on_site(lambda site: body(site, "host"), spec=far(1)) == [(1, 0), (1, 11)]


def test_it_asks_once_per_back_off_at_most() -> None:
    async def body(site: Site) -> None:
        asker = Asker(site)
        await asker.start(2)
        for _ in range(25):
            asker.question.ask()
            await asker.sleep_ms(10)
        await asker.sleep_ms(1_000)
        assert asker.asked == [(1, 3), (2, 103), (1, 203), (2, 303)]
        assert [answer for answer, _ in asker.answers] == [1, 2, 1, 2]

    on_site(body, spec=far(1))
