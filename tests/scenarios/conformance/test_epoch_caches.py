"""C103 on real brokers: EpochDrivenReplicationProtocolAcceptanceTest.shouldFollowLeaderEpochBasicWorkflow (2.4.1)."""

from emulator.protocol.events import IsrChanged
from scenarios.runs.runner import Stage
from tests.scenarios.runs.building import TP, Table, play, scenario

Entries = tuple[tuple[int, int], ...]


def bounced(broker: int, at_s: int) -> list[Table]:
    return [
        {"at": f"{at_s}s", "action": "broker.controlled_shutdown", "target": broker},
        {"at": f"{at_s + 5}s", "action": "broker.start", "target": broker},
    ]


def known(stage: Stage, broker: int) -> Entries:
    """The leader epochs in the log of ``broker``, each with the offset of its start."""
    log = stage.cluster.brokers[broker].replicas.partitions[TP].log
    assert log is not None
    return tuple(log.epochs.entries)


def test_C103_a_leader_enters_an_epoch_when_it_begins_and_a_follower_with_its_first_record() -> None:
    """Write, bounce the follower, write, bounce the leader, write."""
    before_writes: list[tuple[Entries, Entries]] = []

    def watch(stage: Stage) -> None:
        stage.cluster.trace.fold(
            IsrChanged, lambda _: before_writes.append((known(stage, 0), known(stage, 1)))
        )  # the restarted broker is back, and nothing has been written under the new epoch

    writes = [
        {"topic": "orders", "producerRate": 1, "start": f"{at_s}s", "stop": f"{at_s + 2}s"} for at_s in (2, 17, 37)
    ]
    method = [*bounced(1, 5), *bounced(0, 25), {"at": "40s", "action": "link.heal", "target": 2}]
    wanted = scenario(brokers=3, controller=2, assignment=[(0, 1)], rate=0, workloads=writes, method=method, size="0B")
    played = play(wanted, watch)
    assert played.run.violations == ()
    first, second, third = (0, 0), (1, 2), (2, 4)
    assert before_writes == [((first, second), (first,)), ((first, second), (first, second, third))]
    assert known(played.stage, 0) == known(played.stage, 1) == (first, second, third)
