"""C103 on real brokers: EpochDrivenReplicationProtocolAcceptanceTest.shouldFollowLeaderEpochBasicWorkflow (2.4.1)."""

from understudy.testing import ClusterInstance, cluster, in_virtual_time

Entries = tuple[tuple[int, int], ...]


def known(c: ClusterInstance, broker: int) -> Entries:
    """The leader epochs in the log of ``broker``, each with the offset of its start."""
    log = c.log(broker, "orders-0")
    assert log is not None
    return log.epochs


async def bounce(c: ClusterInstance, broker: int) -> None:
    """Stop and start a broker; it is back when it is in the ISR."""
    await c.stop(broker)
    c.start(broker)
    await c.until(lambda: sorted(c.isr("orders-0")) == [0, 1])


@in_virtual_time(seed=1)
async def test_C103_a_leader_enters_an_epoch_when_it_begins_and_a_follower_with_its_first_record() -> None:
    """Write, bounce the follower, write, bounce the leader, write."""
    first, second, third = (0, 0), (1, 1), (2, 2)
    async with cluster(3, {"orders": [[0, 1]]}, controller=2, network={"jitter": "200us"}) as c:
        await c.produce("orders-0")
        assert known(c, 0) == known(c, 1) == (first,)

        await bounce(c, 1)
        assert (known(c, 0), known(c, 1)) == ((first, second), (first,))
        await c.produce("orders-0")
        assert known(c, 0) == known(c, 1) == (first, second)

        await bounce(c, 0)
        assert c.leader("orders-0") == 1
        assert (known(c, 0), known(c, 1)) == ((first, second), (first, second, third))
        await c.produce("orders-0")
        assert known(c, 0) == known(c, 1) == (first, second, third)
