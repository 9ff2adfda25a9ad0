"""Topics are created, brokers die, start and bounce: writes, requests and leader epochs (kafka-behaviour §4)."""

import pytest

from controller.policies import ControllerPolicies
from controller.states import PartitionState
from controller.zk_client import KafkaZkClient
from emulator.protocol import znodes
from emulator.protocol.events import LeaderElected
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.trace.events import Step
from emulator.zookeeper import SessionExpired
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes, check_golden

TP = TopicPartition("orders", 0)
PINNED_3 = ControllerPolicies(pinned=3)


async def crash(lab: Lab, *brokers: int) -> None:
    for broker in brokers:
        lab.nodes[broker].crash()
    await lab.pass_time(EXPIRY_US)


def test_new_topic() -> None:
    async def test(lab: Lab) -> None:
        notes = Notes(lab)
        await lab.create_topic("orders", {0: (1, 2), 1: (2, 0)})
        check_golden("new-topic", notes.text())

    run(test, brokers=4, policies=PINNED_3)


def test_a_topic_without_live_replica_waits_for_one() -> None:
    async def test(lab: Lab) -> None:
        await crash(lab, 0)
        await lab.create_topic("orders", {0: (0,)})
        assert lab.data("/brokers/topics/orders/partitions/0/state") is None
        lab.restart(0)
        await lab.pass_time(EXPIRY_US)
        state = lab.state(TP)
        assert (state.leader, state.isr, state.leader_epoch) == (0, (0,), 0)

    run(test, brokers=4, policies=PINNED_3)


def test_partitions_that_cannot_be_created_stay_new_and_the_others_get_leaders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The session expires while the state znode of the new partition is created: as in Kafka the event goes on, and
    elects for the partition that is offline."""

    async def fail(zk_client: KafkaZkClient, states: object) -> object:
        raise SessionExpired("/brokers/topics")

    async def test(lab: Lab) -> None:
        new = TopicPartition("more", 0)
        await lab.create_topic("orders", {0: (0, 1)})
        c = lab.active
        c.context.partition_states[TP] = PartitionState.OFFLINE
        c.context.assign(new, (0, 1))
        c.context.partition_states[new] = PartitionState.NEW
        with monkeypatch.context() as patch:
            patch.setattr(KafkaZkClient, "create_states", fail)
            changed = await c.partitions.handle_state_changes([new, TP], PartitionState.ONLINE)
        assert changed == [TP]
        assert c.context.partition_state(new) is PartitionState.NEW
        assert lab.state(TP).leader_epoch == 1

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_a_topic_that_is_removed_from_zookeeper_is_forgotten() -> None:
    """As in Kafka, nothing is sent to the brokers. A topic created under the same name is a new one."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        path = znodes.topic_path("orders")
        notes = Notes(lab)
        for below in ("/partitions/0/state", "/partitions/0", "/partitions", ""):
            await lab.operator.delete(path + below)
        await lab.settle()
        context = lab.active.context
        assert (context.assignments, context.leadership_info, context.partition_states) == ({}, {}, {})
        assert notes.requests() == {}
        await lab.operator.create(path, znodes.encode_topic({0: (2, 1)}))
        await lab.settle()
        assert (lab.state(TP).leader, lab.state(TP).leader_epoch, lab.state(TP).isr) == (2, 0, (2, 1))

    run(test, brokers=4, policies=PINNED_3)


def test_more_partitions() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        data = '{"version":1,"partitions":{"0":[0,1],"1":[1,2]}}'
        await lab.operator.set("/brokers/topics/orders", data)
        await lab.settle()
        assert lab.state(TopicPartition("orders", 1)).isr == (1, 2)
        assert lab.state(TP).leader_epoch == 0

    run(test, brokers=4, policies=PINNED_3)


EPOCHS = [
    ("follower", (2,), 3, 1, (0, (0, 1))),
    ("leader", (0,), 3, 1, (1, (1, 2))),
    ("leader that is the controller", (0,), 0, 2, (1, (1, 2))),
    ("no replica", (4,), 3, 0, (0, (0, 1, 2))),
    ("a replica outside the ISR", (5,), 3, 0, (0, (0, 1, 2))),
]


@pytest.mark.parametrize(("_who", "dead", "pinned", "epoch", "state"), EPOCHS, ids=[case[0] for case in EPOCHS])
def test_leader_epochs(
    _who: str, dead: tuple[int, ...], pinned: int, epoch: int, state: tuple[int, tuple[int, ...]]
) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2, 5)})
        await lab.write_isr(TP, (0, 1, 2))
        await crash(lab, *dead)
        after = lab.state(TP)
        assert (after.leader, after.isr) == state
        assert after.leader_epoch == epoch

    run(test, brokers=6, policies=ControllerPolicies(pinned=pinned), joins=False)


def test_the_whole_isr_dies() -> None:
    """One after the other: the last member stays in the ISR without a leader, and leads again when it is back."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        await crash(lab, 1)
        await crash(lab, 0)
        state = lab.state(TP)
        assert (state.leader, state.isr, state.leader_epoch) == (-1, (0,), 2)
        lab.restart(0)
        await lab.pass_time(EXPIRY_US)
        state = lab.state(TP)
        assert (state.leader, state.isr, state.leader_epoch) == (0, (0,), 3)

    run(test, brokers=4, policies=PINNED_3)


@pytest.mark.parametrize("unclean", [False, True])
def test_unclean_election(unclean: bool) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        await lab.write_isr(TP, (0,))
        await crash(lab, 0)
        elected = lab.of(LeaderElected)[1:]
        if unclean:
            assert [(e.leader, e.isr, e.unclean) for e in elected] == [(1, (1,), True)]
        else:
            assert elected == []
            assert lab.state(TP).leader == -1

    run(test, brokers=4, policies=ControllerPolicies(pinned=3, unclean_leader_election=unclean), joins=False)


def test_broker_failure_and_startup() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        notes = Notes(lab)
        await crash(lab, 0)
        check_golden("broker-failure", notes.text())
        notes = Notes(lab)
        lab.restart(0)
        await lab.pass_time(EXPIRY_US)
        check_golden("broker-startup", notes.text())

    run(test, brokers=4, policies=PINNED_3, joins=False)


@pytest.mark.parametrize(("announces", "others"), [(True, {0, 1, 3}), (False, set())])
def test_before_kafka_972_only_the_broker_that_starts_gets_metadata(announces: bool, others: set[int]) -> None:
    """Broker 2 has no replica: nothing else is sent when it fails and starts."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        notes = Notes(lab)
        await crash(lab, 2)
        assert set(notes.requests()) == others
        notes = Notes(lab)
        lab.restart(2)
        await lab.pass_time(EXPIRY_US)
        assert set(notes.requests()) == {*others, 2}

    run(test, brokers=4, policies=ControllerPolicies(pinned=3, announces_brokers=announces), joins=False)


def test_a_bounce_is_a_failure_and_a_startup() -> None:
    """The broker is back before the controller reads the registrations: only its epoch has changed (KIP-380)."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        before = dict(lab.active.context.brokers)
        [path, data] = ["/brokers/ids/0", lab.data("/brokers/ids/0")]
        lab.active.process.pause()
        lab.zookeeper.expire(0)
        await lab.operator.create(path, data or "", ephemeral=True)
        lab.active.process.resume()
        await lab.settle()
        assert lab.active.context.brokers[0] > before[0]
        steps = [e.step for e in lab.of(Step) if e.broker == 0 and e.edge == "before"]
        assert steps == [f"broker-failure.{n}" for n in (1, 2, 3)] + [f"broker-startup.{n}" for n in (1, 2, 3, 4)]
        assert lab.state(TP).leader == 1

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_requests_queued_for_a_broker_that_bounced_are_dropped() -> None:
    """The queued requests (three LeaderAndIsr, three UpdateMetadata) were for the earlier incarnation. The new one gets
    those that are queued after the controller has noticed it."""

    async def test(lab: Lab) -> None:
        old = lab.active.context.brokers[0]
        lab.nodes[0].crash()
        for topic in ("orders", "payments", "returns"):
            await lab.operator.create(f"/brokers/topics/{topic}", znodes.encode_topic({0: (0, 1)}))
            await lab.world.sleep(500_000)
        lab.active.process.pause()
        lab.zookeeper.expire(0)
        lab.restart(0)
        await lab.world.sleep(1_000_000)
        before = len(lab.received)
        lab.active.process.resume()
        await lab.settle()
        epochs = [request.broker_epoch for broker, request in lab.received[before:] if broker == 0]
        assert lab.active.context.brokers[0] > old, "the bounce was noticed"
        assert epochs.count(old) <= 2
        assert len(epochs) - epochs.count(old) >= 3

    run(test, brokers=4, policies=PINNED_3)


def test_isr_change_notification() -> None:
    """The controller sends the announced ISR to all brokers, and deletes the announcement."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        await lab.write_isr(TP, (0,))
        assert lab.active.context.leadership_info[TP].isr == (0, 1)
        notes = Notes(lab)
        data = '{"version":1,"partitions":[{"topic":"orders","partition":0}]}'
        await lab.operator.create("/isr_change_notification/isr_change_", data, sequential=True)
        await lab.settle()
        assert lab.active.context.leadership_info[TP].isr == (0,)
        told = ["UpdateMetadata live {0,1,2,3} orders-0 0/{0} epoch 0 AR {0,1}"]
        assert notes.requests() == dict.fromkeys(range(4), told)
        assert lab.zookeeper.tree.children("/isr_change_notification") == ()

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_a_replica_whose_disk_is_gone_goes_offline() -> None:
    """The response to a LeaderAndIsr says so; the broker itself stays live."""

    async def test(lab: Lab) -> None:
        lab.broken_disks[0] = None
        await lab.create_topic("orders", {0: (0, 1, 2)})
        state = lab.state(TP)
        assert (state.leader, state.isr) == (1, (1, 2))
        assert lab.active.context.offline_dirs[0] == {TP: None}
        assert 0 in lab.active.context.brokers

    run(test, brokers=4, policies=PINNED_3, joins=False)


@pytest.mark.parametrize("skips", [False, True])
def test_since_kafka_13225_brokers_hear_of_a_failure_once(skips: bool) -> None:
    """Of a broker that follows only, the shrunk ISR tells all. Of one without replicas nothing does: before, that went
    untold while any partition had no leader."""
    expected = {"follower": 1, "leader": 1, "nothing": 1} if skips else {"follower": 2, "leader": 1, "nothing": 0}

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (1, 2)})
        for name, broker in (("follower", 2), ("leader", 1), ("nothing", 4)):
            lab.received.clear()
            await crash(lab, broker)
            updates = [1 for to, r in lab.received if to == 0 and isinstance(r, UpdateMetadataRequest)]
            assert len(updates) == expected[name], name

    run(test, brokers=5, policies=ControllerPolicies(pinned=3, skips_needless_metadata=skips), joins=False)
