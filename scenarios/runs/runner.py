"""One run from its scenario to its verdict: everything that it needs is set up, it is played, then judged."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field

from emulator import logger
from emulator.kernel import Backend, BudgetExceeded, Signal, World
from emulator.protocol.events import BatchesAppended, Fault, MoveAnswered
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step
from scenarios.cluster.cluster import Cluster
from scenarios.cluster.from_scenario import cluster_setup, topic_setup
from scenarios.cluster.policies import min_insync_replicas
from scenarios.errors import BadInput
from scenarios.faults import Performer, TargetRoles
from scenarios.faults.operated import Executions
from scenarios.language import Scenario
from scenarios.language.entries import Branch
from scenarios.language.fidelity import SAMPLED
from scenarios.language.schedules import parse_schedule
from scenarios.observe.checkers import Checkers, Violation
from scenarios.observe.checkers.converged import Converged
from scenarios.observe.checkers.idle_changes_nothing import IdleChangesNothing
from scenarios.observe.findings.convergence_facts import Broken, Condition, CutOff
from scenarios.observe.history.quotas import Quotas, QuotaUse
from scenarios.observe.measures import Measured, Measures
from scenarios.observe.measures.figures import Figures
from scenarios.observe.measures.moves import refused as is_refusal
from scenarios.observe.timeline.log_changes import is_data
from scenarios.profiles.profile_registry import PROFILES
from scenarios.runs.control_plane_log import ControlPlaneLog
from scenarios.runs.convergence import Convergence, ConvergenceJudge
from scenarios.runs.culprits import named_failures
from scenarios.runs.dataset.identity import code_digest, command_line, run_id
from scenarios.runs.finding import LIVELOCK, OWN_DEFECT
from scenarios.runs.judge import Judge
from scenarios.runs.method import Method
from scenarios.runs.recounts import Looks, Recounts, start_settings
from scenarios.runs.run import Expectation, Run
from scenarios.runs.waits import LOOK_US, RETRY_US, Settled, Waits
from scenarios.units import counted

if TYPE_CHECKING:
    from emulator.schedules import Schedule
    from scenarios.observe.specification import Oracle
    from scenarios.runs.leaping import Leaper


MOST_DEFECTS = 100

REMEMBERS_US = (2_000_000, 8_000_000)
"""How long after roles have shown what they remember they do so again, at the next settled moment: twice as long each
time, from the first to the second."""
MEANWHILE_US = 5_000_000
"""How often they show it before the first settled moment."""


@define(eq=False)
class Stage:
    """Everything that one run consists of, set up and not begun.

    Attributes:
        keep_rows: keep the rows of the data set's tables.
        counts_reach: count what is reached (``scenarios.observe.reach``).
        figures: compute every figure. Without that ``Run.metrics`` has only what the run itself goes by; where the
            scenario names metrics, all are computed nevertheless.
        against_specification: hold every event against docs/specification too. The events do not depend on it.
        backend: how tasks wait. The events of a run do not depend on it.
        leaper: lets a sampled run leap; None: the run is exact.
        defects: defects of the tool itself that did not end the program, in a line each, each once.
    """

    scenario: Scenario
    keep_rows: bool = False
    counts_reach: bool = False
    figures: bool = True
    against_specification: bool = False
    backend: Backend = "detached"
    reach: Mapping[str, int] = field(init=False, factory=dict)
    on_reach: Callable[[Callable[[str], object]], object] = field(init=False, default=lambda _: None)
    world: World = field(init=False)
    cluster: Cluster = field(init=False)
    measures: Measures = field(init=False)
    checkers: Checkers = field(init=False)
    quotas: Quotas = field(init=False)
    oracle: "Oracle | None" = field(init=False, default=None)
    control_plane: ControlPlaneLog = field(init=False)
    performer: Performer = field(init=False)
    judge: Judge = field(init=False)
    convergence: ConvergenceJudge = field(init=False)
    converged: Convergence = field(init=False)
    cut_off: str = field(init=False, default="")
    defects: list[str] = field(init=False, factory=list)
    method: Method = field(init=False)
    leaper: "Leaper | None" = field(init=False, default=None)
    _looks: Settled = field(init=False)
    _ending: bool = False
    _remembers_us: int = 0
    """The pause before the next look at memories at a settled moment; 0: there was none."""
    _late_us: int = 0
    """How long a follower's fetch and its answer can be on their way, where no fault delays them."""
    _appended_us: int = 0
    _counts_appends: bool = False

    def __attrs_post_init__(self) -> None:
        logger.silence()
        scenario = self.scenario
        schedule = parse_schedule(scenario.schedule, scenario.schedule_jitter_us)
        self.world = self.make_world(schedule)
        self.cluster = cluster = Cluster(self.world, cluster_setup(scenario))
        if scenario.frames is not None:
            cluster.epoch_us = scenario.frames.clock_us
        trace = cluster.trace
        network = scenario.cluster.network
        late_us = network.latency_us + network.jitter_us + (0 if schedule is None else schedule.bound_us)
        late_us += sum(scenario.cluster.service.values())
        self._late_us = 2 * late_us
        self.measures = Measures(
            trace, measured_of(scenario, keep_rows=self.keep_rows, figures=self.figures or scenario.names_metrics)
        )
        expected = [expect.invariant for expect in scenario.expect if expect.invariant is not None]
        self.checkers = Checkers(trace, expected=expected, past=self.measures.past, start=start_settings(scenario))
        if self.counts_reach:
            from scenarios.observe.reach import Reach  # which few runs need

            reached = Reach(trace, self.measures.past)
            self.reach, self.on_reach = reached.counts, reached.on_first
        if self.against_specification:
            if scenario.fidelity == SAMPLED:
                raise BadInput(
                    "a sampled run cannot be held against it; leave out --sampled", where="--against-specification"
                )
            from scenarios.observe.specification import Oracle  # which few runs need

            strategy = scenario.strategy.parsed
            self.oracle = Oracle(
                trace, self.checkers.history, PROFILES[scenario.profile].release,
                other_hops=strategy.shape != strategy.protocol,
            )  # fmt: skip
        self.quotas = Quotas(trace, self.measures.past.now, self.log_end)
        self.control_plane = ControlPlaneLog.of(trace)
        roles = TargetRoles(cluster, scenario.assignments(), scenario.targets())
        self.performer = Performer(cluster, scenario, roles, topic_setup, self.measures.now)
        self.judge = Judge(scenario, trace, roles, self.measures, self.checkers)
        self.convergence = ConvergenceJudge(cluster, scenario, self.checkers, lambda: self.method.is_over)
        self._looks = Settled(cluster, self._at_rest)
        waits = Waits(cluster, self.measures, lambda: self._asking)
        self.method = method = Method(scenario, cluster, self.performer, waits)
        if scenario.fidelity == SAMPLED:
            from scenarios.runs.leaping import Leaper  # which few runs need

            self.leaper = Leaper.of(
                cluster, scenario, lambda: method.acts_us, lambda: self.measures.any_open_moves, self._late_us
            )

    def log_end(self, broker: int, tp: TopicPartition) -> int | None:
        """The end of the log of a broker's replica; None: nothing is known of it."""
        log = self.checkers.history.logs.get(broker, tp)
        return None if log is None else log.end_offset

    def make_world(self, schedule: "Schedule | None") -> World:
        scenario = self.scenario
        return World(scenario.seed, backend=self.backend, max_events=scenario.max_events, schedule=schedule)

    def play(self) -> None:
        """Run it in its world, up to its end."""
        with named_failures():
            try:
                self.world.run(self.cluster.run, self.drive)
            except BudgetExceeded as error:
                self.cut_off = str(error)
                self.did_not_end(self.cut_off)

    def did_not_end(self, why: str) -> None:
        """The run was ended before its end, so nothing has looked whether the cluster is well."""
        self.converged = Convergence(0, None, (Broken(Condition.GOES_ON, CutOff(why)),))

    def defect(self, what: str) -> None:
        """The tool itself did something wrong: the run has failed."""
        if what not in self.defects and len(self.defects) < MOST_DEFECTS:
            self.defects.append(what)

    # -- the course of a run ------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Everything has started: look at the state, and begin the method."""
        self.judge.check_steady("start", self.world.now)
        self._look(None)
        self._remember(None)
        Looks(self.world, self.checkers).begin()
        Recounts(self.world, self.checkers).begin()
        if self.scenario.frames is not None:
            _attach_recorded_clients(self)
        self.method.begin()
        for number, branch in enumerate(self.scenario.branches):
            at_us = max(branch.at_us, self.world.now + 1)
            self.world.call_first(at_us, self._branch, (branch, f"branches[{number}]"))
        if self.leaper is not None:
            self.leaper.begin()

    def _branch(self, branch: tuple[Branch, str]) -> None:
        self.method.branch(*branch)

    def go_on(self, branch: Branch) -> None:
        """Go another way from here on, one that the scenario did not have. Called at the branch's instant, before
        everything else that happens at it."""
        self.scenario = evolve(self.scenario, branches=(*self.scenario.branches, branch))
        self.method.branch(branch, f"branches[{len(self.scenario.branches) - 1}]")

    async def drive(self, cluster: Cluster) -> None:
        """The course of the run, from its begin to its end."""
        self.begin()
        await self._until(lambda: self.method.is_over)
        await self._rest()
        while not (self.method.is_over or self._late):  # meanwhile an optional entry has acted
            await self._until(lambda: self.method.is_over)
            await self._rest()
        self.method.disarm()
        await self.method.roll_back()
        await self._well()
        await self._well_again()
        await self._stand_idle()
        await self._well_again()
        self.judge.check_steady("end", self.world.now)
        self.converged = self.convergence.finish(self.world.now)

    async def _well(self) -> None:
        """Wait for everything that has to come true in some time, then for rest."""
        await self._until(lambda: not (self._moving or self._waiting(self.world.now)))
        if not self._ending:
            self._ending, self._appended_us = True, self.world.now
            self._count_appends()
        await self._rest()
        await self._until(lambda: not self.convergence.is_early(self.world.now))
        await self._quiet_moment()

    async def _well_again(self) -> None:
        """Wait where something has lapsed: under a load, or as the controller has just begun an election of its own."""
        while self.convergence.lapsed(self.world.now):
            self._ending = False
            await self._well()

    async def _stand_idle(self) -> None:
        """Let a cluster that has converged, and has nothing to do, stand for so long that leaders look at their ISRs
        again."""
        checker = self.checkers.get(IdleChangesNothing)
        if checker is None or not self.convergence.is_well(self.world.now):
            return
        await self._pause(LOOK_US)
        if self._settled():
            checker.idle = True
            await self._pause(checker.window_us)
            checker.idle = False

    def not_exercised(self) -> list[str]:
        """The parts of the scenario that the run has not done, in words: topics that Kafka refused, actions, and loads
        whose topic never existed."""
        scenario, there = self.scenario, self.measures.past.now.topics
        loads = [(f"workloads[{n}]", load.topic, load.start_us) for n, load in enumerate(scenario.workloads)]
        loads += [(f"consumers[{n}]", load.topic, load.start_us) for n, load in enumerate(scenario.consumers)]
        lacking = (
            f"{which}: there was never a topic {topic!r}"
            for which, topic, start_us in loads
            if topic not in there and start_us < self.world.now
        )
        return [*self.cluster.refused, *self.performer.not_exercised(), *self.method.not_exercised(), *lacking]

    @property
    def judges_moves(self) -> bool:
        """Whether every move has to finish: so it is unless an expectation states the assignment."""
        return not any(expect.statement == "assignment" for expect in self.scenario.expect)

    @property
    def _moving(self) -> bool:
        return self.measures.any_open_moves and self.judges_moves

    def _waiting(self, now_us: int) -> bool:
        """Whether something that is expected has not come true, and its time is not over."""
        return self.judge.waiting(now_us) or self.convergence.waiting(now_us)

    def _look(self, _: Any) -> None:
        self.cluster.trace.cause = 0
        self.judge.look(self.world.now)
        self.convergence.look(self.world.now)
        if not self._remembers_us and self.world.now % MEANWHILE_US < LOOK_US:
            self.cluster.show_memories_meanwhile()
        self.world.call_later(LOOK_US, self._look, None, True)

    def _remember(self, _: Any) -> None:
        """At the next settled moment, let roles show what they remember; from then on again and again."""
        self.world.when_settled(self._show_memories)

    def _show_memories(self) -> None:
        first_us, last_us = REMEMBERS_US
        self._remembers_us = min(2 * self._remembers_us, last_us) or first_us
        if self.cluster.sessions_stand:
            self.cluster.show_memories("rest")
        self.world.call_later(self._remembers_us, self._remember, None, True)

    @property
    def _late(self) -> bool:
        return self.world.now >= self.scenario.horizon_us

    async def _until(self, condition: Callable[[], bool]) -> None:
        """Wait for ``condition`` or for the horizon."""
        while not condition() and not self._late:
            await self._pause(LOOK_US)

    async def _pause(self, for_us: int) -> None:
        """Let time pass, up to the horizon."""
        left_us = max(0, self.scenario.horizon_us - self.world.now)
        await self.world.sleep(min(for_us, left_us), background=True)

    async def _rest(self) -> None:
        """Wait until the cluster is settled and stays so over one retry, or for the horizon."""
        await self._until(self._settled)
        rested_us = self.world.now
        await self._pause(RETRY_US)
        if self._ending:
            await self._outcomes(rested_us)
        await self._until(self._settled)

    async def _outcomes(self, before_us: int) -> None:
        """Wait for the outcomes of the batches that wait for longer than a retry: while a request that was sent before
        that time has no answer, which takes request.timeout.ms at most, and then while the batches become fewer."""
        left = self._waiting_batches
        if not left:
            return
        while left and not self._late:
            before, awaits = left, self.cluster.awaits_answer(before_us)
            await self._pause(RETRY_US)
            left = self._waiting_batches
            if left >= before and not awaits:
                break
        await self._pause(RETRY_US)

    @property
    def _waiting_batches(self) -> int:
        return self.cluster.unfinished_batches(self.world.now - RETRY_US)

    async def _quiet_moment(self) -> None:
        """Let what is on its way arrive, so that the batches which are unfinished are those that wait. A load that
        always has something in flight is not waited for."""
        quiet = Signal(self.world, "a quiet moment")
        self.world.when_settled(quiet.set)
        left_us = max(0, self.scenario.horizon_us - self.world.now)
        self.world.call_later(min(LOOK_US, left_us), quiet.set, None, True)
        await quiet.wait()

    def _settled(self) -> bool:
        """Whether the world was settled since the last call, and the operator's tool has no more to ask."""
        return self._looks.since_last_look() and not self._asking

    @property
    def _asking(self) -> bool:
        """Whether the operator's tool is going to request more moves, since others have ended."""
        under_way = self.measures.under_way
        return any(executor.would_ask(under_way) for executor in self.performer.memory(Executions).executors)

    def _at_rest(self) -> None:
        """The world is settled: look at what holds then only, once the run is about to end."""
        if self._ending and not self._late and self.cluster.sessions_stand and not self._is_fetching:
            self.checkers.at_rest(self.world.now)
            if self.oracle is not None:
                self.oracle.at_rest(self.world.now)

    def _count_appends(self) -> None:
        """Look at appends from now on: before a run is about to end, nothing asks when the last one was."""
        if not self._counts_appends:
            self._counts_appends = True
            self.cluster.trace.fold(BatchesAppended, self._note_append)

    def _note_append(self, event: BatchesAppended) -> None:
        self._appended_us = event.t_us

    @property
    def _is_fetching(self) -> bool:
        """Whether a fetch may be under way that gets what was appended meanwhile: it was sent with nothing to ask for,
        so it does not keep the world unsettled."""
        return self.world.now - self._appended_us <= self._late_us


def measured_of(scenario: Scenario, *, keep_rows: bool = True, figures: bool = True) -> Measured:
    """The settings of a scenario's cluster that measures need."""
    default = int(scenario.settings()["min.insync.replicas"])
    return Measured(
        min_isr=min_insync_replicas(scenario), default_min_isr=default,
        caps_min_isr=scenario.policies.brokers.caps_min_isr, keep_rows=keep_rows, figures=figures,
    )  # fmt: skip


def _attach_recorded_clients(stage: Stage) -> None:
    """Raises: BadInput."""
    clients = import_module("..wire.recording.recorded_clients", __package__)  # by name: the wire stands above runs
    clients.attach(stage)


def prepare(
    scenario: Scenario, seed: int | None = None, strategy: str | None = None, profile: str | None = None
) -> Scenario:
    """The scenario as it is run, checked: with what its seed draws for ``[draws]`` and ``[[chaos]]``. Raises:
    BadInput."""
    asked = scenario.for_run(seed=seed, strategy=strategy, profile=profile)
    if not asked.chaos:
        return asked.settled()
    from scenarios.chaos.draw import concrete  # with the actions of all kinds, which other runs do not need

    return concrete(asked, asked.seed)


def conclude(
    stage: Stage, original: Scenario, wall_s: float, changes: Iterable[tuple[str, str]] = (), replay: str | None = None
) -> tuple[Run, Figures]:
    """Judge a run that has ended.

    Args:
        original: the scenario before this run's own seed, strategy and profile.
        changes: changes to the file, as keys and values of ``--set``.
        replay: the command that shows the run again, where that is not ``run``; "": nothing does.
    """
    scenario, trace, end_us = stage.scenario, stage.cluster.trace, stage.world.now
    with named_failures():
        violations = tuple(stage.checkers.finish())
        leaderless = stage.measures.now("offline_partitions")
        figures = stage.measures.finish(end_us)
    expectations = stage.judge.verdicts(end_us, figures.metrics(), stage.converged)
    besides = _reason(stage, expectations, figures)
    reason = "violated" if violations and not (stage.cut_off or stage.defects) else besides
    digest = trace.digest()
    quotas = stage.quotas.uses(end_us)
    replay = replay_command(original, scenario, changes) if replay is None else replay
    strategy = scenario.strategy.name
    run = Run(
        run_id=run_id(
            scenario=original.digest(), profile=scenario.profile, strategy=strategy, seed=scenario.seed, grid={},
            code=code_digest(),
        ),
        digest=digest,
        scenario=scenario,
        seed=scenario.seed,
        strategy=strategy,
        profile=scenario.profile,
        verdict="failed" if reason else "passed",
        reason=reason,
        violations=violations,
        expectations=expectations,
        metrics=figures.metrics(),
        leaderless=leaderless,
        convergence=stage.converged,
        worst_partition=str(stage.measures.worst_partition or ""),
        virtual_s=end_us / 1_000_000,
        wall_s=wall_s,
        events=trace.seq,
        explanation=_explanation(stage, reason, violations, expectations, figures, quotas, replay) if reason else "",
        replay=replay,
        drawn=stage.method.drawn,
        log=stage.control_plane,
        quotas=quotas,
        reach=stage.reach,
        cut_off=stage.cut_off,
        defects=tuple(stage.defects),
        besides=besides,
        leaping=None if stage.leaper is None else stage.leaper.account(),
        rejections=() if stage.oracle is None else tuple(stage.oracle.rejections),
    )  # fmt: skip
    if reason:
        from scenarios.runs.findings import also_found

        run = evolve(run, explanation="\n".join([run.explanation, *also_found(run)]))
    return run, figures


def _reason(stage: Stage, expectations: tuple[Expectation, ...], figures: Figures) -> str:
    """Why the run has failed, invariants apart; empty: it has not."""
    if stage.defects:
        return OWN_DEFECT
    if stage.cut_off:
        return LIVELOCK
    if stage.not_exercised():
        return "not exercised"
    if not all(expectation.ok for expectation in expectations):
        return "expectation"
    if stage.judges_moves and figures.unfinished_moves and not stage.convergence.excuses(stage.measures.unfinished):
        return "unfinished"
    return ""


def _explanation(
    stage: Stage, reason: str, violations: Any, expectations: tuple[Expectation, ...], figures: Figures,
    quotas: tuple[QuotaUse, ...], replay: str,
) -> str:  # fmt: skip
    from scenarios.observe.timeline.explain import explain  # with its words for all events, which few runs need
    from scenarios.runs.findings import gravest

    log = stage.control_plane.events()
    broken = next((expectation for expectation in expectations if not expectation.ok), None)
    first = gravest(violations)
    if stage.defects:  # no event of the cluster has caused it
        return explain(stage.defects[0], (), 0, replay, seed=stage.scenario.seed)
    if stage.cut_off:
        what, seq = stage.cut_off, log[-1].seq if log else 0
    elif first is not None:
        what, seq = str(first), first.seq
    elif reason == "not exercised":
        what = "not done: " + "; ".join(stage.not_exercised())
        seq = _turned_down(log, stage.performer)
    elif broken is not None:
        what, seq = f"expected {broken.statement}; {broken.detail}", _last_before(log, broken.t_us)
    else:
        what = _left_undone(figures, stage.world.now)
        seq = next((event.seq for event in reversed(log) if type(event) is Step and event.topic), 0)
    return explain(
        what, log, seq or _last_before(log, None), replay, seed=stage.scenario.seed,
        waits=_waits(stage, log, quotas) if _is_of_the_end(stage, reason, first, broken) else (),
    )  # fmt: skip


def _is_of_the_end(stage: Stage, reason: str, first: Violation | None, broken: Expectation | None) -> bool:
    """Whether it failed by what has not come by its end, and no event shows that."""
    if stage.cut_off or reason == "not exercised":
        return False
    if first is not None:
        return first.invariant == Converged.name
    return broken is None or broken.t_us in (None, stage.world.now)


def _waits(stage: Stage, log: Sequence[Any], quotas: tuple[QuotaUse, ...]) -> tuple[str, ...]:
    """The causes for which the cluster waits as the run ends, a sentence each."""
    from scenarios.observe.why.partition_past import Seen
    from scenarios.observe.why.wait_reasons import waits

    protocol = stage.scenario.strategy.parsed.make_protocol()
    return tuple(waits(log, stage.world.now, protocol, Seen(stage.log_end, quotas)))


def _left_undone(figures: Figures, end_us: int) -> str:
    """The sentence about moves that were not done."""
    failed = figures.whole("moves_failed")
    if failed < figures.unfinished_moves:
        return f"a move is open at {end_us / 1e6:.3f} s, the horizon"
    return f"{counted(failed, 'moves')} ended without the target: refused, or lost with all that asked for it"


def _turned_down(log: tuple[Any, ...], performer: Performer) -> int:
    """The ``seq`` at which to explain the first refused action: of the answer, or of the action where its tool refused
    it; 0: none was."""
    if not performer.refused:
        return 0
    first = performer.refused[0]
    log = tuple(takewhile(lambda event: event.t_us <= first.t_us, log))
    words = (
        event.seq
        for event in reversed(log)
        if (type(event) is Fault and event.action == first.action)
        or (type(event) is MoveAnswered and is_refusal(event))
    )
    return next(words, 0)


def _last_before(log: tuple[Any, ...], t_us: int | None) -> int:
    """The ``seq`` at which to explain an unmet expectation: of the last event of a partition up to ``t_us`` that has a
    cause and is not routine; else of the last event."""
    seen = [event for event in log if t_us is None or event.t_us <= t_us]
    news = (event.seq for event in reversed(seen) if event.cause and getattr(event, "topic", "") and not is_data(event))
    return next(news, seen[-1].seq if seen else 0)


def replay_command(original: Scenario, scenario: Scenario, changes: Iterable[tuple[str, str]] = ()) -> str:
    """The command that runs ``scenario`` again. ``changes``: those that ``original`` has to its file."""
    words = [original.source or "FILE", "--seed", str(scenario.seed)]
    if scenario.strategy.name != original.strategy.name:
        words += ["--strategy", scenario.strategy.name]
    if scenario.profile != original.profile:
        words += ["--profile", scenario.profile]
    words += [word for key, value in changes for word in ("--set", f"{key}={value}")]
    return command_line("run", *words)
