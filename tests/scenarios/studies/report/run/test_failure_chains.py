"""Failures with what led to them, from written events and from runs of the library."""

from __future__ import annotations

from collections.abc import Callable

from emulator.protocol.events import Fault, PartitionFailed, Violated
from scenarios.studies.report.run.failure_chains import NEAR_US, failures
from scenarios.studies.report.run.recorded import RecordedRun

FAULT = Fault(1, 1, 0, "broker.crash", "1", "")


def violated(t_us: int, seq: int, cause: int = 0) -> Violated:
    return Violated(t_us, seq, cause, "leader_in_isr", f"statement {seq}")


def test_failures_that_are_alike_and_near_are_one_entry() -> None:
    events = [FAULT, violated(10, 2, 1), violated(20, 3), violated(21 + NEAR_US, 4)]
    (first, second), left_out = failures(events, [FAULT])
    assert (first.seq, first.alike, [other.seq for other in first.others]) == (2, 1, [3])
    assert (second.seq, second.alike, left_out) == (4, 0, 0)
    assert [(link.seq, link.depth) for link in first.links] == [(1, 0), (2, 1)]


def test_the_worst_kinds_are_explained_where_there_are_too_many() -> None:
    late = violated(30, 9)
    failed = PartitionFailed(5, 2, 1, 3, "fetcher", "orders", 0, 1, "error", "DiskError")
    found, left_out = failures([FAULT, failed, late], [FAULT], most=1)
    assert ([one.kind for one in found], left_out) == (["violation"], 1)


def test_a_loss_is_explained_by_the_unclean_election_and_the_faults_before_it(
    recorded: Callable[[str], RecordedRun],
) -> None:
    run = recorded("unclean-election")
    faults = [event for event in run.events if type(event) is Fault and not event.action.endswith((".heal", ".start"))]
    found, _ = failures(run.events, faults)
    loss = next(one for one in found if one.kind == "lost records")
    assert loss.partition == "orders-0"
    assert "uncleanly: no replica in the ISR was alive" in loss.sentence
    texts = [link.text for link in loss.links]
    assert texts[0].startswith("FAULT link.cut")
    assert texts[-1].startswith("LOST 300 acknowledged batches, 3,000 records")
    assert [link.depth for link in loss.links][-3:] == sorted(link.depth for link in loss.links)[-3:]


def test_a_new_controller_is_explained_by_the_session_that_expired(recorded: Callable[[str], RecordedRun]) -> None:
    run = recorded("controller-dies-mid-move")
    found, _ = failures(run.events, [])
    elected = next(one for one in found if one.kind == "new controller")
    assert [link.text for link in elected.links][:2] == ["zk session 5 of broker 6 expired", "zk delete /controller v0"]


def test_a_failed_partition_is_explained_by_how_its_replica_left_the_isr(
    recorded: Callable[[str], RecordedRun],
) -> None:
    run = recorded("kip-461-one-of-twenty")
    [failed], _ = failures(run.events, [])
    assert (failed.kind, failed.partition) == ("failed partition", "orders-0")
    assert "leader 0 dropped it from the ISR" in failed.sentence
    assert "takes it up again only with a higher leader epoch (KIP-461)" in failed.sentence
