"""Faults at a step of a protocol, at a message, or at a write to ZooKeeper: at the n-th of its kind, by chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import field, frozen

from controller.procedures import PROCEDURES
from emulator.protocol.api import apis, names_partitions
from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.faults.actions.brokers import BrokerPause, ZkExpire
from scenarios.faults.actions.intercepted import MessageCut, MessageDelay, MessageHold
from scenarios.faults.actions.links import HostIsolate
from scenarios.faults.actions.zookeeper import ControllerResign
from scenarios.language.actions import Action, DelaySpec
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.triggers import At, When, WhenMessage, WhenZk
from scenarios.profiles import PROFILES

CONTROLLER = Target(role="controller")
OCCURRENCES = ((5, (1, 1)), (4, (2, 3)), (2, (4, 10)))
"""Which occurrence of a step, a message or a write, by weight."""


def steps(draft: Draft) -> Iterator[str]:
    """The steps that the file and what was drawn so far can reach."""
    protocol = draft.scenario.strategy.parsed.protocol
    causes = {"delete": ("topic.delete",), "shutdown": ("broker.controlled_shutdown",), protocol: ("reassign.execute",)}
    for procedure in PROCEDURES.values():
        if procedure.reassignment and procedure.name != protocol:
            continue
        if procedure.name not in causes or draft.does(*causes[procedure.name]):
            yield from procedure.steps


def _at_a_broker(scope: Scope, draws: Draws, target: Target) -> Strike:
    """A strike at the controller, or at a broker that takes part."""
    kind = draws.weighted(((7, "crash"), (2, "pause"), (2, "expire"), (1, "resign"), (2, "isolate")))
    if kind == "resign":
        return Strike(ControllerResign())
    if kind == "expire":
        return Strike(ZkExpire(), target)
    if kind == "pause":
        return Strike(BrokerPause(), target, strikes.lasting(draws))
    if kind == "isolate":
        return Strike(HostIsolate(), target, strikes.until_healed(draws))
    return Strike(scope.draft.crash(draws), target, strikes.until_healed(draws))


@chaos(
    "controller-hunting",
    "the controller, or a broker that takes part, dies, hangs or loses its session at a step of a protocol",
)
@frozen(kw_only=True)
class ControllerHunting(Episodes):
    turn = 3

    times: Range = field(default=(1, 3), metadata=key(COUNT, "how many steps are waited for in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        moves = draws.sub("moves").chance(0.5)
        possible = tuple(steps(scope.draft))
        of_moves = tuple(step for step in possible if PROCEDURES[step.partition(".")[0]].reassignment)
        step = draws.choice(of_moves if moves and of_moves else possible)
        when = When(
            steps=step,
            edge=draws.choice(("before", "after")),
            occurrence=draws.between(draws.weighted(OCCURRENCES)),
        )
        partition = scope.partition(draws)
        target = draws.weighted(((5, CONTROLLER), (4, strikes.role(scope, draws, partition))))
        series = [_at_a_broker(scope, draws, target)]
        while len(series) < 3 and draws.chance(0.3):
            again = draws.weighted(((2, CONTROLLER), (2, strikes.role(scope, draws, partition))))
            series.append(strikes.strike(scope, draws, again)._replace(gap_us=draws.spread((MS, 3 * SECOND))))
        scope.draft.add(when, series)


ASKED = (
    "config.set", "election.preferred", "reassign.cancel", "reassign.execute", "topic.create", "topic.delete",
    "topic.expand",
)  # fmt: skip
"""The requests of operators to controllers."""


@chaos(
    "failovers",
    "the controller is replaced, once or several times in a row, often while it does what an operator has asked for",
)
@frozen(kw_only=True)
class Failovers(Episodes):
    turn = 3

    times: Range = field(default=(1, 2), metadata=key(COUNT, "how many series there are in a run"))
    elections: Range = field(default=(1, 4), metadata=key(COUNT, "how many controllers are replaced in a series"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft = scope.draft
        asked = [at_us for at_us, action in draft.times() if action in ASKED]
        at_us = draws.choice(asked) + draws.spread((MS, SECOND)) if asked and draws.chance(0.7) else None
        series = []
        for _ in range(draws.between(self.elections)):
            expire, resign = Strike(ZkExpire(), CONTROLLER), Strike(ControllerResign())
            gone = draws.weighted(((3, resign), (3, expire), (2, strikes.short_crash(scope, draws, CONTROLLER))))
            series.append(gone._replace(gap_us=draws.spread((MS, 15 * SECOND))))
        if series:
            draft.add(At(draft.moment(draws) if at_us is None else at_us), series)


MESSAGES = (
    (6, "LeaderAndIsr"), (4, "StopReplica"), (3, "UpdateMetadata"), (3, "Fetch"), (3, "OffsetsForLeaderEpoch"),
    (2, "Produce"), (3, "AlterIsr"), (2, "ControlledShutdown"),
)  # fmt: skip


def messages(draft: Draft) -> Sequence[tuple[int, str]]:
    """The messages that are worth waiting for, by weight: those that are sent."""
    settings, shuts_down = draft.scenario.settings(), draft.does("broker.controlled_shutdown")
    lacking = {
        "Produce": not draft.scenario.workloads,
        "AlterIsr": not PROFILES[draft.scenario.profile].policies.alters_isr,
        "ControlledShutdown": not (shuts_down and settings["controlled.shutdown.enable"]),
    }
    return [(weight, name) for weight, name in MESSAGES if not lacking.get(name, False)]


STATE, REGISTRATION = "/brokers/topics/*/partitions/*/state", "/brokers/ids/*"
WRITES = (
    (6, ("setData", STATE)), (2, ("create", "/controller")),
    (2, ("setData", "/controller_epoch")), (2, ("create", REGISTRATION)), (2, ("setData", "/brokers/topics/*")),
    (1, ("delete", "/admin/reassign_partitions")), (1, ("setData", "/admin/reassign_partitions")),
    (1, ("create", "/isr_change_notification/*")),
)  # fmt: skip


@chaos(
    "message-trouble",
    "a message between brokers, or a write to ZooKeeper, is lost, held or late, or a broker dies at it",
)
@frozen(kw_only=True)
class MessageTrouble(Episodes):
    turn = 3

    times: Range = field(default=(1, 4), metadata=key(COUNT, "how many messages or writes are waited for in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        since_us = scope.draft.moment(draws)
        writes = draws.chance(0.4)
        trigger = self._write(scope, draws, since_us) if writes else self._message(scope, draws, since_us)
        strike = self._strike(scope, draws)
        series = [strike]
        if draws.chance(0.4):
            series.append(self._next(scope, draws)._replace(gap_us=draws.spread((MS, 3 * SECOND))))
        if draws.sub("provoked").chance(0.4):
            self._provoke(scope, draws.sub("provoked/by"), trigger, since_us)
        scope.draft.add(trigger, series, at_us=since_us)

    @staticmethod
    def _next(scope: Scope, draws: Draws) -> Strike:
        """A strike while the message is on its way, or soon after it was lost."""
        partition = scope.partition(draws)
        target = draws.weighted(((1, CONTROLLER), (3, strikes.role(scope, draws, partition))))
        return strikes.strike(scope, draws, target)

    @staticmethod
    def _provoke(scope: Scope, draws: Draws, trigger: WhenMessage | WhenZk, since_us: int) -> None:
        """Bring about the condition of the trigger: by a leader's or a follower's death or new session, or by a slow
        link."""
        partition = scope.partition(draws)
        leader, follower = Target(role=f"leader({partition})"), Target(role=f"any isr({partition})-leader")
        follows = [strikes.expire, strikes.short_crash]
        if isinstance(trigger, WhenZk) and trigger.path == STATE:
            way, target = draws.choice((strikes.isolate, strikes.pause, strikes.crash)), follower
        elif isinstance(trigger, WhenZk) and trigger.path == REGISTRATION:
            way, target = draws.choice(follows), draws.choice((leader, follower))
        else:
            way, target = draws.choice((*follows, strikes.shut_down)), draws.choice((leader, follower, CONTROLLER))
        scope.draft.add(At(since_us + draws.spread((MS, SECOND))), [way(scope, draws, target)])

    @staticmethod
    def _message(scope: Scope, draws: Draws, since_us: int) -> WhenMessage:
        name = draws.weighted(messages(scope.draft))
        response = draws.chance(0.25)
        api = apis()[name]
        about = scope.partition(draws) if draws.chance(0.4) else None
        named = names_partitions(api.response if response else api.request)
        broker = Target(brokers=(draws.choice(scope.brokers),))
        end = draws.weighted(((2, None), (1, "from"), (2, "to")))
        return WhenMessage(
            message=name,
            response=response,
            edge=draws.choice(("sent", "delivered")),
            source=broker if end == "from" else None,
            target=broker if end == "to" else None,
            partition=about if named and name != "Fetch" else None,
            occurrence=draws.between(draws.weighted(OCCURRENCES)),
            since=since_us,
        )

    @staticmethod
    def _write(scope: Scope, draws: Draws, since_us: int) -> WhenZk:
        zk, path = draws.weighted(WRITES)
        writer = Target(role=f"leader({scope.partition(draws)})")
        return WhenZk(
            zk=zk,
            path=path,
            source=writer if path == STATE and draws.chance(0.6) else None,
            edge=draws.weighted(((1, "before"), (3, "applied"), (1, "answered"))),
            occurrence=draws.between(draws.weighted(OCCURRENCES)),
            since=since_us,
        )

    @staticmethod
    def _strike(scope: Scope, draws: Draws) -> Strike:
        latency_us = draws.spread((5 * MS, 10 * SECOND))
        lasts_us = draws.spread((5 * MS, 20 * SECOND))
        hold: Action = MessageHold()
        delay = MessageDelay(delay=DelaySpec(latency_us=latency_us))
        at_a_broker = _at_a_broker(scope, draws, strikes.role(scope, draws, scope.partition(draws)))
        held, late = Strike(hold, None, lasts_us), Strike(delay, None, lasts_us)
        return draws.weighted(((4, Strike(MessageCut())), (4, held), (2, late), (3, at_a_broker)))
