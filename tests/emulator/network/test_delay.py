"""How long links hold messages back: lognormal delays."""

from math import exp
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.network import Delay, NetworkSpec
from emulator.streams import Streams
from tests.emulator.network.site import Site, on_site
from tests.emulator.network.test_connections import pair

MESSAGES = 2000
APART_US = 200_000


def delays(spec: NetworkSpec, extra: Delay | None = None) -> list[int]:
    """The delays of ``MESSAGES`` messages, far enough apart for none to wait for another; ascending."""

    async def body(site: Site) -> list[int]:
        connection = await pair(site)
        if extra is not None:
            site.network.delay(0, 1, extra)
        sent = []
        for number in range(MESSAGES):
            sent.append(site.world.now)
            connection.client.send(number, 100)
            await site.world.sleep(APART_US)
        return sorted(arrived - left for (arrived, _), left in zip(connection.got, sent, strict=True))

    found: list[int] = on_site(body, spec=spec)
    return found


@pytest.mark.parametrize(
    ("spec", "extra"),
    [
        (NetworkSpec(latency_us=5_000, jitter_us=0, sigma=0.6), None),
        (NetworkSpec(latency_us=0, jitter_us=0), Delay(5_000, sigma=0.6)),
    ],
    ids=["of the network", "of a fault"],
)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_the_quantiles_are_those_of_a_lognormal_delay(spec: NetworkSpec, extra: Delay | None, share: float) -> None:
    found = delays(spec, extra)[int(share * MESSAGES)]
    assert found == pytest.approx(5_000 * exp(0.6 * NormalDist().inv_cdf(share)), rel=0.1)


def test_the_faults_spread_comes_on_top_of_the_links() -> None:
    found = delays(NetworkSpec(latency_us=1_000, jitter_us=0, sigma=0.1), Delay(1_000, sigma=0.1))
    assert found[MESSAGES // 2] == pytest.approx(2_000, rel=0.02)
    assert 0 < found[0] < found[-1] < 2_000 * exp(0.1 * 4)


@given(st.integers(0, 2**32), st.integers(0, 10**9), st.floats(0, 3))
def test_no_message_arrives_before_it_is_sent(seed: int, median_us: int, sigma: float) -> None:
    stream = Streams(seed).stream("network", "0>1")
    assert all(median_us + Delay(median_us, sigma=sigma).off_the_median(stream) >= 0 for _ in range(20))


@pytest.mark.parametrize("egress", [None, 100_000])
def test_jitter_is_give_or_take_and_never_takes_more_than_there_is(egress: int | None) -> None:
    on_the_card_us = 0 if egress is None else 1_000
    found = delays(NetworkSpec(latency_us=1_000, jitter_us=400, egress=egress))
    assert 600 <= found[0] - on_the_card_us < 620
    assert 1_380 < found[-1] - on_the_card_us <= 1_400
    assert delays(NetworkSpec(latency_us=200, jitter_us=400, sigma=2.0, egress=egress))[0] == on_the_card_us
