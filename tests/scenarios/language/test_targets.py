"""Targets: the forms they are written in, and which broker a mode picks."""

import pytest

from scenarios.language import Role, Target, parse_role
from scenarios.language.targets import PEER, TARGET


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("controller", Role("controller")),
        ("leader(orders-0)", Role("leader", "orders-0")),
        ("isr(my-topic-12)-leader", Role("isr", "my-topic-12", without_leader=True)),
        ("adding(orders-0)", Role("adding", "orders-0")),
        ("removing(orders-0)", Role("removing", "orders-0")),
        ("kept(orders-0)", Role("kept", "orders-0")),
    ],
)
def test_roles(text: str, role: Role) -> None:
    assert parse_role(text) == role
    assert TARGET.dump(TARGET.read(text)) == text


@pytest.mark.parametrize(
    ("written", "target"),
    [
        (3, Target(brokers=[3])),
        ([5, 2], Target(brokers=[5, 2])),
        ({"mode": "all", "state": "down"}, Target(mode="all", state="down")),
        ({"role": "isr(orders-0)", "mode": "all"}, Target(role="isr(orders-0)", mode="all")),
    ],
)
def test_forms(written: object, target: Target) -> None:
    assert TARGET.read(written) == target
    assert TARGET.read(TARGET.dump(target)) == target
    assert PEER.read("zookeeper") == "zookeeper"


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
