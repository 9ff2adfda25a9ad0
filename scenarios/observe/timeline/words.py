"""Every event in words: one line, without its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from emulator.protocol import events as e
from emulator.trace import Event
from emulator.trace.events import Step, ZkSession, ZkWritten
from scenarios.observe.timeline.group_words import GROUP_WORDS
from scenarios.observe.timeline.transaction_words import TRANSACTION_WORDS
from scenarios.observe.timeline.znode_words import written
from scenarios.units import counted

CONTENT = 160
"""Characters of a znode's content that are shown, where its form is not known."""


def words(event: Event) -> str:
    """The event in words. An event of an unknown kind shows its name and fields."""
    in_words = _WORDS.get(type(event))
    if in_words is not None:
        return in_words(event)
    fields = ", ".join(str(value) for value in tuple(event)[3:]) if isinstance(event, tuple) else ""
    return f"{type(event).__name__} {fields}".rstrip()


def seconds(t_us: int) -> str:
    """Virtual time in seconds, to the microsecond: ``12.345678``."""
    return f"{t_us // 1_000_000}.{t_us % 1_000_000:06}"


def brokers(ids: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, ids))}]"


def who(node: int) -> str:
    """A machine by its number: brokers from 0 up, -1 is ZooKeeper, the others are clients."""
    return f"broker {node}" if node >= 0 else "ZooKeeper" if node == -1 else f"client {node}"


def _tp(event: Any) -> str:
    return f"{event.topic}-{event.partition}"


def _offsets(event: Any) -> str:
    return f"offsets {event.base_offset} to {event.next_offset - 1}"


def _ends(event: Any) -> str:
    return f"log end {event.log_end_offset}, high watermark {event.high_watermark}"


def _more(detail: str) -> str:
    return f" ({detail})" if detail else ""


def _step(event: Step) -> str:
    place = [_tp(event)] if event.topic and event.partition >= 0 else [event.topic] if event.topic else []
    place += [f"broker {event.broker}"] if event.broker >= 0 else []
    place += [f"hop {event.hop}"] if event.hop else []
    return f"{event.step} {event.edge}" + "".join(f", {part}" for part in place) + _more(event.detail)


def _controlled_shutdown_answered(event: e.ControlledShutdownAnswered) -> str:
    left = f", still leads {event.remaining}" if event.remaining >= 0 else ""
    return (
        f"broker {event.node} asked controller {event.controller} for its shutdown: {event.error}{left} "
        f"(attempt {event.attempt})"
    )


def _control_response(event: e.ControlResponse) -> str:
    failed = f", {counted(len(event.refused), 'partitions')} refused" if event.refused else ""
    return f"{event.api} <- {event.node}: {event.error}{failed} (controller {event.controller})"


def _leader_elected(event: e.LeaderElected) -> str:
    unclean = ", unclean" if event.unclean else ""
    return (
        f"leader {event.leader} of {_tp(event)} elected ({event.selector}{unclean}), "
        f"epoch {event.leader_epoch}, isr {brokers(event.isr)}"
    )


def _appended(event: e.Appended) -> str:
    as_what = "leader" if event.leader else "follower"
    return f"broker {event.node} appends batch {event.id} to {_tp(event)} as {as_what}, {_offsets(event)}"


def _high_watermark(event: e.HighWatermark) -> str:
    as_what = "leader" if event.leader else "follower"
    return (
        f"broker {event.node}, {as_what} of {_tp(event)}: high watermark {event.high_watermark} "
        f"(epoch {event.leader_epoch})"
    )


def _copy_position(event: e.CopyPosition) -> str:
    if event.offset < 0:
        return f"broker {event.node} stops copying {_tp(event)} to another log directory"
    return f"broker {event.node} copies {_tp(event)} to another log directory from offset {event.offset} on"


def _fetch_position(event: e.FetchPosition) -> str:
    if event.offset < 0:
        return f"broker {event.node} stops fetching {_tp(event)} from {event.leader}"
    return (
        f"broker {event.node} fetches {_tp(event)} from {event.leader} at offset {event.offset} "
        f"(epoch {event.leader_epoch})"
    )


def _acked_lost(event: e.AckedLost) -> str:
    acks = "all" if event.acks < 0 else event.acks
    how = ", by an unclean election" if event.unclean else ""
    if event.unflushed:
        how = ", unflushed on the machines of all in-sync replicas, which crashed: KIP-966"
    return (
        f"LOST {counted(event.batches, 'acknowledged batches')}, {counted(event.records, 'records')} of {_tp(event)} "
        f"(acks={acks}{how}), from offset {event.base_offset} on: not in the log of leader {event.leader}, "
        f"epoch {event.leader_epoch}, log end {event.log_end_offset}"
    )


def _produced(event: e.Produced) -> str:
    batch = f"batch {event.id} for {_tp(event)}"
    if event.error != "NONE":
        return f"{who(event.node)} gives {batch} up ({event.outcome}): {event.error} (attempts: {event.attempts})"
    return f"{who(event.node)}: {batch} acknowledged by {event.leader} (acks {event.acks}), {_offsets(event)}"


def _position_reset(event: e.PositionReset) -> str:
    before = "" if event.before < 0 else f", not {event.before}"
    return f"{who(event.node)} reads {_tp(event)} from offset {event.offset} on{before} ({event.reason})"


def _replica_stopped(event: e.ReplicaStopped) -> str:
    log = "deleted" if event.deleted else "log kept"
    return f"broker {event.node} stops its replica of {_tp(event)} ({log})"


def _move_reported(event: e.MoveReported) -> str:
    why = "interrupted" if event.interrupted else "the path is gone"
    return f"the admin command reports ({why}): move of {_tp(event)} {'done' if event.done else 'failed'}"


def _zk_written(event: ZkWritten) -> str:
    op = "set" if event.op == "setData" else event.op
    content = "" if event.op == "delete" else written(event.path, event.data, event.version)
    if len(content) > CONTENT:
        content = content[: CONTENT - 1] + "…"
    return f"zk {op} {event.path} v{event.version} {content}".rstrip()


def _moves_verified(event: e.MovesVerified) -> str:
    ends = "; the throttle is cleared" if event.lifted else ""
    return f"the operator verifies the moves: {event.done} done, {event.open} open, {event.failed} failed{ends}"


def _moves_listed(event: e.MovesListed) -> str:
    return f"moves in progress: {event.detail or ('none' if event.error == 'NONE' else event.error)}"


_WORDS: dict[type, Callable[[Any], str]] = {
    Step: _step,
    e.Fault: lambda v: f"FAULT {v.action} {v.target}".rstrip() + _more(v.detail),
    e.Drawn: lambda v: f"{v.place}: {v.option} = {v.value}, drawn from the seed",
    e.NodeStarted: lambda v: f"start of {who(v.node)} (incarnation {v.incarnation})",
    e.NodeCrashed: lambda v: f"crash of {who(v.node)} ({v.kind})",
    e.BrokerRegistered: lambda v: f"broker {v.node} registered, broker epoch {v.broker_epoch}",
    e.ControlledShutdownAnswered: _controlled_shutdown_answered,
    e.ControllerElected: lambda v: f"controller {v.node} elected, epoch {v.controller_epoch}",
    e.ControllerResigned: lambda v: f"controller {v.node} resigned, epoch {v.controller_epoch}",
    e.ControlRequest: lambda v: (
        f"{v.api} -> {v.broker}: {v.detail or f'{v.partitions} partitions'} "
        f"(controller {v.node}, epoch {v.controller_epoch})"
    ),
    e.ControlResponse: _control_response,
    e.LeaderElected: _leader_elected,
    e.ElectionAnswered: lambda v: f"election for {_tp(v)} answered: {v.error}",
    e.PartitionCreated: lambda v: f"{_tp(v)} comes to broker {v.node}, replication factor {v.replication_factor}",
    e.BecameLeader: lambda v: f"broker {v.node} leads {_tp(v)}, epoch {v.leader_epoch}, {_ends(v)}",
    e.ReplicaOffline: lambda v: f"broker {v.node} loses its replica of {_tp(v)} with the log directory",
    e.UnassignedFollowerAdded: lambda v: (
        f"broker {v.node}, leader of {_tp(v)}, adds broker {v.broker}, which fetches, to its replicas"
    ),
    e.ImpendingReplicasReceived: lambda v: (
        f"broker {v.node}, leader of {_tp(v)}: current replicas {brokers(v.current)}, impending {brokers(v.impending)}"
    ),
    e.BecameFollower: lambda v: f"broker {v.node} follows {v.leader} on {_tp(v)}, epoch {v.leader_epoch}, {_ends(v)}",
    e.ReplicaStopped: _replica_stopped,
    e.LogLoaded: lambda v: f"broker {v.node} loads its log of {_tp(v)}, {_ends(v)}",
    e.Appended: _appended,
    e.Truncated: lambda v: f"broker {v.node} truncates {_tp(v)}, {_ends(v)} (epoch {v.leader_epoch})",
    e.LogRecovered: lambda v: (
        f"broker {v.node} cuts its log of {_tp(v)} at {v.log_end_offset}: {v.reason}, {v.batches} batches are lost"
    ),
    e.LogStartMoved: lambda v: f"the log of {_tp(v)} on broker {v.node} begins at {v.log_start_offset} ({v.reason})",
    e.LogCompacted: lambda v: (
        f"broker {v.node} compacts {_tp(v)} up to {v.next_offset}: {v.records} records fewer, "
        f"{v.size_before} bytes become {v.size_after}"
    ),
    e.CleanerFailed: lambda v: (
        f"broker {v.node} cannot compact {_tp(v)}: {v.reason}" + (", and its log cleaner ends" if v.ends else "")
    ),
    e.LogDirFailed: lambda v: (
        f"broker {v.node} loses {v.directory} with {v.replicas} replicas: {v.reason}"
        + (", and halts" if v.broker_halts else "")
    ),
    e.HighWatermark: _high_watermark,
    e.IsrProposed: lambda v: (
        f"leader {v.node} decides to {v.kind} the isr of {_tp(v)} to {brokers(v.isr)}, epoch {v.leader_epoch}, "
        f"hw {v.high_watermark}, leo {v.log_end_offset}"
    ),
    e.LatestOffsetReturned: lambda v: f"broker {v.node} answers a consumer that {_tp(v)} ends at {v.offset}",
    e.IsrChanged: lambda v: (
        f"{v.kind} of the isr of {_tp(v)} by leader {v.node} to {brokers(v.isr)}, epoch {v.leader_epoch} "
        f"(v{v.zk_version})"
    ),
    e.IsrUpdateFailed: lambda v: f"isr update of {_tp(v)} by broker {v.node} has failed (epoch {v.leader_epoch})",
    e.FetcherStarted: lambda v: f"{v.fetcher} on broker {v.node} starts, from leader {v.leader}",
    e.FetcherStopped: lambda v: (
        f"{v.fetcher} on broker {v.node} ends ({v.reason}{f' of {v.error} in {_tp(v)}' if v.error else ''})"
    ),
    e.PartitionFailed: lambda v: f"{_tp(v)} failed on broker {v.node}, {v.fetcher}: {v.reason}",
    e.PartitionFailureCleared: lambda v: f"{_tp(v)} no longer failed on broker {v.node} ({v.reason})",
    e.FetchPosition: _fetch_position,
    e.CopyStarted: lambda v: f"broker {v.node} begins to move {_tp(v)} from {v.source} to {v.target}",
    e.LogReplaced: lambda v: f"broker {v.node} has {_tp(v)} in {v.target} now, and deletes it from {v.source}",
    e.CopyAbandoned: lambda v: f"broker {v.node} gives up copying {_tp(v)} to {v.target} ({v.reason})",
    e.AlterLogDirAnswered: lambda v: f"broker {v.node} was asked to move {_tp(v)} to {v.target}: {v.error}",
    e.LogDirsVerified: lambda v: f"moves between log directories: {v.done} done, {v.open} open, {v.failed} failed",
    e.CopyFailed: lambda v: f"copy of {_tp(v)} failed on broker {v.node}, {v.fetcher}: {v.reason}",
    e.CopyFailureCleared: lambda v: f"copy of {_tp(v)} no longer failed on broker {v.node} ({v.reason})",
    e.CopyPosition: _copy_position,
    e.BatchRepeated: lambda v: (
        f"broker {v.node} has answered batch {v.id} of producer {v.producer_id} for {_tp(v)} as a repeat: it has it at "
        f"{v.base_offset}, sequence number {v.base_sequence}"
    ),
    e.UnknownProducerAppended: lambda v: (
        f"broker {v.node} has appended batch {v.id} of producer {v.producer_id}, which it did not know, to {_tp(v)} at "
        f"{v.base_offset}, sequence number {v.base_sequence}"
    ),
    e.Produced: _produced,
    e.Unfinished: lambda v: (
        f"{who(v.node)}: batch {v.id} for {_tp(v)} is unfinished at the end, "
        f"after {seconds(v.wait_us)} s (attempts: {v.attempts})"
    ),
    e.ProducerIdentified: lambda v: f"{who(v.node)} has producer id {v.producer_id}",
    e.Consumed: lambda v: f"{who(v.node)} reads {_tp(v)}, offsets {v.offset} to {v.next_offset - 1}",
    e.Fetched: lambda v: f"{who(v.node)} fetches {_tp(v)}, offsets {v.offset} to {v.next_offset - 1}",
    e.PositionReset: _position_reset,
    e.ConsumerFailed: lambda v: f"{who(v.node)} cannot go on with {_tp(v)} at offset {v.offset}: {v.reason}",
    e.MovePlanned: lambda v: f"move of {_tp(v)} to {brokers(v.target)} planned",
    e.MoveStarted: lambda v: f"move of {_tp(v)} to {brokers(v.target)} requested",
    e.MoveCancelled: lambda v: f"cancellation of the move of {_tp(v)} requested",
    e.MoveAnswered: lambda v: f"move of {_tp(v)} answered: {v.error}",
    e.MovesListed: _moves_listed,
    e.MovesVerified: _moves_verified,
    e.MoveFinished: lambda v: f"move of {_tp(v)} finished",
    e.MoveReported: _move_reported,
    e.AckedLost: _acked_lost,
    e.StretchBegan: lambda v: "a measured stretch begins, in which all is simulated",
    e.StretchEnded: lambda v: "the measured stretch is over",
    e.LeapBegan: lambda v: "a leap begins: no message of clients and fetchers is simulated",
    e.Leapt: lambda v: (
        f"leapt {seconds(v.t_us - v.since_us)} s, in which producers closed {counted(v.batches, 'batches')}; "
        f"it ended because of: {v.reason}"
    ),
    e.ClockSet: lambda v: (
        f"the clock of broker {v.node} is {seconds(v.after_us)} s ahead, from {seconds(v.before_us)} s"
    ),
    e.RoutesChanged: lambda v: f"{len(v.sources)} routes {'cut' if v.cut else 'healed'}",
    e.Violated: lambda v: f"VIOLATED {v.invariant}: {v.statement}",
    ZkWritten: _zk_written,
    ZkSession: lambda v: f"zk session {v.session} of {who(v.client)} {v.state}",
    **GROUP_WORDS,
    **TRANSACTION_WORDS,
}
