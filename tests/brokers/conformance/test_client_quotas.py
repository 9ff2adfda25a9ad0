"""ClientQuotaManagerTest (1.1.1 to 2.7.2): which quota counts for a client, and for how long it is throttled."""

import pytest

from brokers.client_quotas import ANONYMOUS, DEFAULT, PRODUCER, ClientQuotaManager, Entity

SECOND_MS = 1000
NO_LIMIT = None


def quotas(**of: int) -> ClientQuotaManager:
    found = ClientQuotaManager(PRODUCER)
    for client, limit in of.items():
        found.update((None, client), {PRODUCER: str(limit)})
    return found


def test_a_quota_is_violated_and_kept_again() -> None:
    """testQuotaViolation: 400 a second for ten seconds, then 2300: 6300 in 10.5 s are 600 a second, and (600 - 500) /
    500 of 10.5 s are 2.1 s. Once the samples with the spike are over, there is nothing to wait for."""
    manager, now_ms = quotas(unknown=500), 0

    def sent(count: int) -> int:
        return manager.record(ANONYMOUS, "unknown", count, now_ms)

    for _ in range(10):
        assert sent(400) == 0
        now_ms += SECOND_MS
    now_ms += SECOND_MS // 2
    delay_ms = sent(2300)
    assert delay_ms == 2100
    now_ms += delay_ms
    for _ in range(10):
        sent(400)
        now_ms += SECOND_MS
    assert sent(0) == 0


def test_samples_that_are_over_are_forgotten() -> None:
    """testExpireQuotaSensors, testExpireThrottleTimeSensor: after a long silence a client starts over."""
    manager = quotas(client1=500)
    assert manager.record("ANONYMOUS", "client1", 100, 0) == 0
    assert manager.record("ANONYMOUS", "client1", 20_000, 3600 * SECOND_MS) == 30_000
    assert manager.record("ANONYMOUS", "client1", 100, 7200 * SECOND_MS) == 0


def most(manager: ClientQuotaManager, user: str, client: str) -> float | None:
    """The bytes a second that a client may send."""
    found = manager.most_in_window(user, client)
    return None if found is None else found / 10


STATED: list[tuple[Entity, int | None]] = [
    ((None, DEFAULT), 1000), (("userA", None), 2000), ((DEFAULT, None), 3000), (("userA", "client1"), 4000),
    (("userA", DEFAULT), 5000), ((DEFAULT, "client1"), 6000), ((DEFAULT, DEFAULT), 7000),
]  # fmt: skip


@pytest.mark.parametrize(
    ("client", "removed", "limit"),
    [
        (("userA", "client1"), [], 4000),
        (("userA", "client1"), [("userA", "client1")], 5000),
        (("userA", "other"), [], 5000),
        (("userA", "client1"), [("userA", "client1"), ("userA", DEFAULT)], 2000),
        (("userB", "client1"), [], 6000),
        (("userB", "other"), [], 7000),
        (("userB", "client1"), [(DEFAULT, "client1")], 7000),
        (("userB", "client1"), [(DEFAULT, "client1"), (DEFAULT, DEFAULT)], 3000),
        (("userB", "client1"), [(DEFAULT, "client1"), (DEFAULT, DEFAULT), (DEFAULT, None)], 1000),
        (("userB", "client1"), [(DEFAULT, "client1"), (DEFAULT, DEFAULT), (DEFAULT, None), (None, DEFAULT)], NO_LIMIT),
    ],
)
def test_which_quota_counts(client: tuple[str, str], removed: list[Entity], limit: int | None) -> None:
    """testQuotaConfigPrecedence, test(User|UserClientId|ClientId)QuotaParsing,
    testSetAndRemove(DefaultUser|User|UserClient) Quota, testGetMaxValueInQuotaWindowWithNonDefaultQuotaWindow: the most
    specific one that is left."""
    manager = ClientQuotaManager(PRODUCER)
    for entity, value in STATED:
        manager.update(entity, {PRODUCER: str(value)})
    for entity in removed:
        manager.update(entity, {})
    assert most(manager, *client) == limit


def test_clients_share_what_is_theirs_together() -> None:
    """checkQuota of testUserQuotaParsing: all clients of a user share the user's quota, and each client id has its
    own."""
    manager = ClientQuotaManager(PRODUCER)
    manager.update(("userA", None), {PRODUCER: "1000"})
    manager.update((None, "client1"), {PRODUCER: "1000"})
    assert manager.record("userA", "client1", 9_000, 0) == 0
    assert manager.record("userA", "client2", 2_000, 0) > 0
    assert manager.record("userB", "client1", 9_000, 0) == 0
    assert manager.record("userC", "client1", 2_000, 0) > 0
    assert manager.record("userB", "client2", 90_000, 0) == 0
