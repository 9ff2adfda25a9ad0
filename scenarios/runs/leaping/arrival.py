"""Arrival: what a leap brings, in one transition, with the ordinary methods of partitions, fetchers and clients.

Leaders append, replicas in sync follow to the end, each copy as far as its rate has brought it, high watermarks move,
producers get their acknowledgements and consumers their messages.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING

from brokers.log.batch_runs import Piece, in_objects
from brokers.partition.partition import Partition
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.producer import NO_RATES
from scenarios.runs.leaping.followed import FetchedReplica, leaders, running

if TYPE_CHECKING:
    from scenarios.cluster.clients.producer import Producer
    from scenarios.cluster.cluster import Cluster


def arrive(
    cluster: Cluster,
    fetched: Sequence[FetchedReplica],
    producers: Sequence[Producer],
    chunk: int,
    target: Callable[[FetchedReplica, int], int],
    rates: Mapping[TopicPartition, float] = NO_RATES,
    only: Container[TopicPartition] | None = None,
) -> int:
    """Bring the logs and clients of ``cluster`` to now.

    Args:
        producers: those that were held: what they have missed is appended.
        chunk: the bytes of a batch that stands for several, at most.
        target: where a copy is now, given the end of its leader's log.
        rates: the messages per microsecond that each partition gets whose batches wait in producers.
        only: the partitions that are brought to now; None: all. Producers keep the messages of the others.

    Returns:
        How many batches the producers would have closed, about.
    """
    led = leaders(cluster)
    if only is not None:
        led = {tp: partition for tp, partition in led.items() if tp in only}
        fetched = [each for each in fetched if each.state.tp in only]
    before = {tp: partition.high_watermark for tp, partition in led.items()} if cluster.consumers else {}
    acked, closed = [], 0
    for producer in producers:
        missed = producer.missed(chunk, rates, only)
        closed += missed.closed if producer.load.acks else 0
        acked.append((producer, _append(led, missed.batches)))
    _complete(cluster)
    copies = [each for each in fetched if not each.in_sync]
    for each in fetched:
        if each.in_sync:
            _advance(each, each.led.log.end_offset)
    for each in copies:
        end = each.led.log.end_offset
        _advance(each, min(end, target(each, end)))
    _complete(cluster)
    for each in fetched:
        remote = each.led.remotes.get(each.broker.process.node.id)
        if each.in_sync and remote is not None:  # where a copy is, its next fetch says
            each.led.update_follower_fetch_state(remote, each.state.offset, each.led.process.clock_us)
    _complete(cluster)
    for each in fetched:
        _learn(each, ())
    _complete(cluster)
    for producer, appended in acked:
        for leader, batches, bases in appended:
            producer.appended(leader, batches, bases)
    for consumer in cluster.consumers:
        for tp, partition in led.items():
            if partition.high_watermark > before[tp]:
                pieces = partition.log.pieces(before[tp], partition.high_watermark)
                read = [batch for piece in pieces for batch in in_objects(piece)]
                consumer.skip(tp, read, partition.high_watermark)
    return closed


def _append(
    led: dict[TopicPartition, Partition], batches: Sequence[ProducedBatch]
) -> list[tuple[int, list[ProducedBatch], list[int]]]:
    """Append what a producer has missed. Returns the batches and their base offsets, by leader."""
    by_leader: dict[int, tuple[list[ProducedBatch], list[int]]] = {}
    for batch in batches:
        partition = led[batch.tp]
        sent, bases = by_leader.setdefault(partition.process.node.id, ([], []))
        sent.append(batch)
        bases.append(partition.append_as_leader(batch))
    return [(leader, sent, bases) for leader, (sent, bases) in by_leader.items()]


def _advance(each: FetchedReplica, target: int) -> None:
    """Let a replica have what its leader has up to ``target``, in whole batches."""
    pieces = each.led.log.pieces(each.state.offset, target)
    if pieces:
        _learn(each, pieces)
        size = sum([piece.size for piece in pieces])
        meters = each.leader.replicas.metrics.topics
        meters.replication_out.mark(size)
        if each.broker.process.node.id in each.led.adding:
            meters.reassignment_out.mark(size)


def _learn(each: FetchedReplica, pieces: Sequence[Piece]) -> None:
    led = each.led
    replica = each.broker.replicas.partitions[each.state.tp]
    replica.append_pieces_as_follower(pieces, led.high_watermark, led.log.start_offset)
    each.thread.advanced(each.state, led.high_watermark)


def _complete(cluster: Cluster) -> None:
    """End the transition of each broker: record its rows, answer what it has woken."""
    cluster.trace.record_collected()
    for broker in running(cluster):
        broker.replicas.purgatory.complete()
