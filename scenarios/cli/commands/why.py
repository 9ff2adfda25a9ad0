"""``why TRACE --partition P``: why a replica is not in the ISR, who elected the leader, why a move waits, why a produce
failed; from the events of a folder of ``run --trace``."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from scenarios.cli import exits, options, traces
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput, did_you_mean
from scenarios.units import counted

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.why.answer import Answer
    from scenarios.observe.why.partition_past import PartitionPast


def add(program: Program) -> None:
    parser = program.command(
        "why", run, "say why a replica is not in the ISR, who elected a leader, why a move waits, why a produce failed"
    )
    traces.add_moment(parser)
    parser.add_argument("--partition", metavar="P", required=True, help="the partition, such as orders-0")
    parser.add_argument(
        "--replica", metavar="N", type=options.whole("--replica", 0), help="why is broker N not in the ISR?"
    )
    parser.add_argument("--leader", action="store_true", help="who elected the leader, or why is there none?")
    parser.add_argument("--move", action="store_true", help="why does the move wait?")
    parser.add_argument("--failed", action="store_true", help="why did the last batch that was given up fail?")
    parser.add_argument(
        "--batch", metavar="N", type=options.whole("--batch", 0), help="why did batch N fail (its number in timeline)?"
    )
    options.add_format(parser)
    traces.add_choice(parser)


def run(arguments: Namespace) -> int:
    recorded = traces.columns(arguments)
    events = recorded.events
    at_us = traces.moment_us(arguments, events.end_us)

    from emulator.protocol.types import TopicPartition
    from scenarios.language.strategies import parse_strategy
    from scenarios.observe.why.partition_past import PartitionPast

    protocol = parse_strategy(recorded.strategy).make_protocol()
    tp = TopicPartition.of(*_partition(arguments.partition))
    with traces.known_events(arguments.trace):
        happened = events.up_to(at_us)
        outcome = [] if arguments.batch is None else events.outcome(tp, arguments.batch)
    needed = {event.seq: event for event in (*happened.events, *outcome)}
    past = PartitionPast([needed[seq] for seq in sorted(needed)], tp, at_us, protocol, by_seq=happened.by_seq)
    if past.state is None:
        names = [f"{one.topic}-{one.partition}" for one in past.moment.partitions]
        raise BadInput(
            f"there is no partition {arguments.partition!r} at that moment; {did_you_mean(arguments.partition, names)}",
            where="--partition",
        )
    if arguments.replica is not None and arguments.replica not in past.brokers:
        known = ", ".join(map(str, past.brokers))
        raise BadInput(f"no broker {arguments.replica} has started by then; there are {known}", where="--replica")
    if arguments.batch is not None:
        _check_batch(arguments.batch, events.batches(tp), tp)
    answers = list(_answers(arguments, past))
    if arguments.format == "json":
        say(json.dumps([answer.to_json() for answer in answers], ensure_ascii=False))
        return exits.PASSED
    for number, answer in enumerate(answers):
        if number:
            say()
        for line in answer.lines():
            say(line)
    return exits.PASSED


def _partition(text: str) -> tuple[str, int]:
    from scenarios.language.topic_spec import split_partition

    try:
        return split_partition(text)
    except BadInput as error:
        raise error.under("--partition") from None


def _check_batch(number: int, known: Sequence[int], tp: TopicPartition) -> None:
    """Refuse a batch that the partition never had."""
    if number not in known:
        there = f"it has {counted(len(known), 'batches')}: {known[0]} to {known[-1]}" if known else "it has none"
        raise BadInput(f"{tp} has no batch {number}; {there}", where="--batch")


def _answers(arguments: Namespace, past: PartitionPast) -> Iterator[Answer]:
    """The requested answers; without a question, those to the leader, each replica out of sync, and the open move."""
    from scenarios.observe.why.batches import batch
    from scenarios.observe.why.leader_reasons import leader
    from scenarios.observe.why.move_reasons import move, open_move
    from scenarios.observe.why.replica_reasons import out_of_sync, replica

    asked = []
    if arguments.replica is not None:
        asked.append(replica(past, arguments.replica))
    if arguments.leader:
        asked.append(leader(past))
    if arguments.move:
        asked.append(move(past))
    if arguments.batch is not None:
        asked.append(batch(past, arguments.batch))
    if arguments.failed:
        asked.append(batch(past))
    if asked:
        yield from asked
        return
    yield leader(past)
    yield from (replica(past, broker) for broker in out_of_sync(past))
    if open_move(past) is not None:
        yield move(past)
