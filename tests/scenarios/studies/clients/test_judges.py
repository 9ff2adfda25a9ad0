"""Each judge finds the history that breaks what it guards, and no other one does."""

from __future__ import annotations

import pytest
from attrs import evolve

from scenarios.studies.clients.evidence import AllowedLoss, Evidence
from scenarios.studies.clients.judges import JUDGES, judged
from scenarios.studies.clients.partition_contents import WrittenRecord
from tests.scenarios.studies.clients.histories import (
    READER,
    RECORDS,
    WRITER,
    evidence,
    line,
    log,
    read,
    transacted,
    written,
)


def lost() -> Evidence:
    return evidence(log=log(RECORDS - 1), lines=[*written(), *read(range(RECORDS - 1))])


def doubled() -> Evidence:
    found = log()
    found[1].append(WrittenRecord(RECORDS // 2, "writer-5"))
    return evidence(log=found)


def reordered() -> Evidence:
    lines = written()
    first, third = lines[0], lines[4]
    lines[0], lines[4] = third, first  # the order of sending is that of these lines
    return evidence(lines=[*lines, *read()])


def invented() -> Evidence:
    found = log()
    found[0].append(WrittenRecord(RECORDS // 2, "from another program"))
    return evidence(log=found)


def elsewhere() -> Evidence:
    lines = written()
    lines[-1] = evolve(lines[-1], offset=40)
    return evidence(lines=[*lines, *read()])


def out_of_the_log() -> Evidence:
    lines = read()
    lines[-2] = evolve(lines[-2], record="writer-3")
    return evidence(lines=[*written(), *lines])


def gone_back() -> Evidence:
    again = [line("reader", "assigned", partitions=(0,)), line("reader", "received", record="writer-0", partition=0,
             offset=0)]  # fmt: skip
    return evidence(lines=[*written(), *read(), *again])


def fractured() -> Evidence:
    found = transacted("committed", True)
    assert found.log is not None
    half = {0: found.log[0], 1: [evolve(one, committed=False) for one in found.log[1]]}
    return evolve(found, log=half)


FORGED = {
    "acknowledged_record_lost": lost(),
    "record_doubled": doubled(),
    "record_out_of_order": reordered(),
    "record_invented": invented(),
    "acknowledged_elsewhere": elsewhere(),
    "producer_stalled": evidence(unsettled={"writer": ["writer-9"]}),
    "client_died": evidence(endings={"writer": "breaks off by TypeError"}),
    "read_out_of_the_log": out_of_the_log(),
    "record_skipped": evidence(lines=[*written(), *read([0, 1, 3, 4, 5])]),
    "offset_went_back": gone_back(),
    "consumer_stopped": evidence(unread={1: ["writer-5"]}),
    "aborted_read": transacted("aborted", False, read_too=True),
    "transaction_fractured": fractured(),
    "committed_transaction_lost": transacted("committed", False),
}


def found_by(found: Evidence) -> list[str]:
    return [finding.judge for finding in judged(found)]


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_a_judge_finds_what_it_guards_and_no_other_one_does(judge) -> None:  # type: ignore[no-untyped-def]
    found = list(judge.find(FORGED[judge.name]))
    assert [one.judge for one in found] == [judge.name]
    assert found_by(FORGED[judge.name]) == [judge.name]


@pytest.mark.parametrize(
    "sound",
    [
        evidence(),
        transacted("committed", True, read_too=True),
        transacted("aborted", False),
        transacted("unknown", True, read_too=True),
        transacted("unknown", False),
        evidence(lines=[*written(), *read(), *read([4, 5])[:1]]),
    ],
)
def test_no_judge_finds_anything_where_all_is_well(sound: Evidence) -> None:
    assert found_by(sound) == []


def test_what_the_release_may_lose_is_no_finding() -> None:
    lost_offset = AllowedLoss(partition=1, base_offset=2, next_offset=3)
    assert found_by(evolve(lost(), given_up=[lost_offset])) == []
    assert found_by(evolve(lost(), given_up=[evolve(lost_offset, partition=0)])) == ["acknowledged_record_lost"]


@pytest.mark.parametrize(
    ("settings", "broken"),
    [
        ({"acks": 1}, lost()),
        ({"acks": "all", "enable.idempotence": False}, doubled()),
        ({"acks": "all", "enable.idempotence": False}, reordered()),
    ],
)
def test_what_the_settings_do_not_promise_is_no_finding(settings: dict[str, object], broken: Evidence) -> None:
    plans = {"writer": evolve(WRITER, settings=settings), "reader": READER}
    assert found_by(evolve(broken, plans=plans)) == []


def test_one_request_under_way_promises_the_order() -> None:
    settings = {"acks": "all", "enable.idempotence": False, "max.in.flight.requests.per.connection": 1}
    plans = {"writer": evolve(WRITER, settings=settings), "reader": READER}
    assert found_by(evolve(reordered(), plans=plans)) == ["record_out_of_order"]


def test_after_an_unclean_election_positions_may_go_back() -> None:
    assert found_by(evolve(gone_back(), unclean=True)) == []
