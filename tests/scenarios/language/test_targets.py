"""Targets: the forms they are written in, and which broker a mode picks."""

import pytest

from emulator.streams import Streams
from scenarios.errors import BadInput
from scenarios.language import Target, TargetRole, parse_role
from scenarios.language.targets import PEERS, TARGET


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("controller", TargetRole("controller")),
        ("leader(orders-0)", TargetRole("leader", "orders-0")),
        ("isr(my-topic-12)-leader", TargetRole("isr", "my-topic-12", without_leader=True)),
        ("adding(orders-0)", TargetRole("adding", "orders-0")),
        ("removing(orders-0)", TargetRole("removing", "orders-0")),
        ("kept(orders-0)", TargetRole("kept", "orders-0")),
        ("clients", TargetRole("clients")),
        ("client(checkout)", TargetRole("client", client="checkout")),
        ("follower(orders-0)", TargetRole("follower", "orders-0")),
        ("any", TargetRole("broker", drawn=True)),
        ("any broker", TargetRole("broker", drawn=True)),
        ("any leader", TargetRole("leader", drawn=True)),
        ("any leader(orders-0)", TargetRole("leader", "orders-0", drawn=True)),
        ("any isr(orders-0)-leader", TargetRole("isr", "orders-0", without_leader=True, drawn=True)),
        ("any client", TargetRole("client", drawn=True)),
    ],
)
def test_roles(text: str, role: TargetRole) -> None:
    assert parse_role(text) == role
    assert TARGET.dump(TARGET.read(text)) == text


@pytest.mark.parametrize(
    ("written", "target"),
    [
        (3, Target(brokers=[3])),
        ([5, 2], Target(brokers=[5, 2])),
        ({"mode": "all", "state": "down"}, Target(mode="all", state="down")),
        ({"role": "isr(orders-0)", "mode": "all"}, Target(role="isr(orders-0)", mode="all")),
        ({"role": "any", "brokers": [1, 2]}, Target(role="any", brokers=[1, 2], mode="one")),
        ({"role": "any clients", "mode": "fixed", "value": 2}, Target(role="any clients", mode="fixed", value=2)),
    ],
)
def test_forms(written: object, target: Target) -> None:
    assert TARGET.read(written) == target
    assert TARGET.read(TARGET.dump(target)) == target


@pytest.mark.parametrize(
    ("target", "picked"),
    [
        (Target(role="isr(orders-0)-leader"), (1,)),
        (Target(brokers=[4, 1]), (1, 2, 4)),
        (Target(mode="all"), (1, 2, 4)),
        (Target(mode="fixed", value=2), (1, 2)),
        (Target(mode="fixed", value=9), (1, 2, 4)),
        (Target(mode="fixed-percent", value=34), (1, 2)),
        (Target(mode="fixed-percent", value=100), (1, 2, 4)),
    ],
)
def test_the_lowest_id_comes_first(target: Target, picked: tuple[int, ...]) -> None:
    assert target.pick([4, 1, 2]) == picked
    assert target.pick([]) == ()


def test_any_draws_and_every_broker_is_drawn_by_some_seed() -> None:
    target = Target(role="any")
    drawn = [target.pick([4, 1, 2], Streams(seed).stream("targets", "one")) for seed in range(30)]
    assert {one for (one,) in drawn} == {1, 2, 4}
    assert drawn == [target.pick([2, 4, 1], Streams(seed).stream("targets", "one")) for seed in range(30)]


def test_several_are_drawn_without_one_twice() -> None:
    target = Target(role="any", mode="fixed", value=2)
    for seed in range(20):
        assert len(set(target.pick([4, 1, 2], Streams(seed).stream("targets", "two")))) == 2
    assert target.pick([], Streams(1).stream("targets", "none")) == ()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("any leadr", "'leadr' is no target; did you mean 'any leader'?"),
        ("any any leader", "'any' is there twice; write 'any leader'"),
        ("anny leader", "did you mean 'any leader'?"),
        ("any isrr(orders-0)", "unknown role 'isrr'"),
        ({"role": "any isr(orders-0)", "mode": "all"}, "mode: all are meant, so none is drawn"),
        ({"role": "leader(orders-0)", "brokers": [1]}, 'draw of the brokers by role = "any"'),
    ],
)
def test_draws_that_are_refused(written: object, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        TARGET.read(written)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("written", "peers"),
    [
        ("zookeeper", ("zookeeper",)),
        ("all", ("all",)),
        ("clients", (Target(role="clients"),)),
        (2, (Target(brokers=[2]),)),
        ([1, 2], (Target(brokers=[1, 2]),)),
        (["zookeeper", 1, "client(a)", 2], (Target(brokers=[1, 2]), "zookeeper", Target(role="client(a)"))),
        (["brokers", "leader(orders-0)"], ("brokers", Target(role="leader(orders-0)"))),
        ("any follower", (Target(role="any follower"),)),
    ],
)
def test_the_other_ends_of_links(written: object, peers: tuple[object, ...]) -> None:
    assert PEERS.read(written) == peers
    assert PEERS.read(PEERS.dump(peers)) == peers  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("zookeper", "unknown end of a link 'zookeper'; did you mean 'zookeeper'?"),
        ("cliens", "did you mean 'clients'?"),
        ([1, 1], "listed twice"),
        (["zookeeper", "zookeeper"], "[1]: 'zookeeper' is listed twice"),
        ([0, "all"], "'all' is everything already; write it alone"),
        (["client()"], "no name of a client"),
    ],
)
def test_ends_that_are_refused(written: object, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        PEERS.read(written)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("written", "said"),
    [("zookeeper", 'action = "zookeeper.stop"'), ("all", '{ mode = "all" }'), ("brokers", 'for_each = "brokers"')],
)
def test_words_that_are_no_targets(written: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        TARGET.read(written)
    assert f"{written!r} is no target; " in str(refused.value)
    assert said in str(refused.value)
