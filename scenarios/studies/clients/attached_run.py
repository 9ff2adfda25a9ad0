"""One run: the faults of a seed under a served cluster, the applications of a driver beside it, and the judges."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from attrs import define, evolve, field, frozen

from emulator.protocol.events import AckedLost
from scenarios.chaos.draw import concrete
from scenarios.errors import BadInput
from scenarios.faults.actions.healing import Heal
from scenarios.language.scenario import Scenario
from scenarios.language.schema.spans import certain
from scenarios.language.triggers import At
from scenarios.runs.run import Run
from scenarios.studies.clients.application_plan import CONSUME, TOPIC, TRANSACT, ApplicationPlan, draw_plans
from scenarios.studies.clients.client_drivers import ClientDriver
from scenarios.studies.clients.driver_process import DriverProcess, SeenLine
from scenarios.studies.clients.evidence import AllowedLoss, Evidence
from scenarios.studies.clients.partition_contents import NotReadable, TopicReader, WrittenRecord
from scenarios.wire.asking import ask
from scenarios.wire.serving import LiveRun, ServeOptions

READY_S = 60.0
LOOK_S = 0.05
AFTER_HEALING_US = 3_000_000
"""Producers go on for so long after everything was healed, in virtual time, so that what is wrong then shows."""
RECORDING = "recording"
LATE = 0.5
"""The part of its rate below which a run says little of what stands still: the machine was too busy."""


@frozen(kw_only=True)
class AttachedCase:
    """One run that is asked for.

    Attributes:
        scenario: the file that the faults are drawn from.
        rate: virtual seconds for each second.
        api_versions: the release whose API versions the brokers announce; None: that of the profile.
        bound_s: the real time after the cluster is well in which applications have to get on.
    """

    scenario: Scenario
    driver: ClientDriver
    seed: int
    rate: float
    bound_s: float
    api_versions: str | None = None

    def drawn(self) -> Scenario:
        """The scenario of the seed. Whether the cluster converges is looked at here, since the run ends by hand."""
        names = tuple(plan.name for plan in self.plans)
        drawn = concrete(evolve(self.scenario, attached=names), self.seed)
        return evolve(drawn, expect=self.scenario.expect)

    @property
    def plans(self) -> tuple[ApplicationPlan, ...]:
        """The applications. Raises: BadInput where the file has no topic for them."""
        topic = next((topic for topic in self.scenario.topics if topic.name == TOPIC), None)
        if topic is None:
            raise BadInput(f"has no topic {TOPIC!r}, which the drivers write to; add one", source=self.scenario.source)
        plans = draw_plans(self.seed, topic.partitions, self.rate)
        return tuple(plan.without(self.driver.lacks) for plan in plans)


@frozen(kw_only=True)
class AttachedRun:
    """A run that has ended.

    Attributes:
        well: whether the cluster was well in time after healing; applications are not judged for it otherwise.
        client, version: the names that the driver gives.
        pace: the virtual seconds that passed in each second, on average.
    """

    case: AttachedCase
    run: Run
    evidence: Evidence
    well: bool
    client: str
    version: str
    pace: float
    unreadable: str = ""

    @property
    def machine_was_late(self) -> bool:
        return self.pace < LATE * self.case.rate


@define(eq=False)
class _Attached:
    """One run while it goes on."""

    case: AttachedCase
    folder: Path
    lines: list[SeenLine] = field(factory=list)
    given_up: list[AllowedLoss] = field(factory=list)
    applications: list[DriverProcess] = field(init=False)
    live: LiveRun = field(init=False)
    _ready: threading.Event = field(factory=threading.Event)
    _ran: list[Run] = field(factory=list)
    _failed: list[BaseException] = field(factory=list)
    _pace: float = 0.0

    def __attrs_post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.applications = [
            DriverProcess(self.case.driver.command, plan, self.folder / f"{plan.name}.errors", self.lines.append)
            for plan in self.case.plans
        ]
        options = ServeOptions(rate=self.case.rate, record=self.folder / RECORDING, api_versions=self.case.api_versions)
        self.live = LiveRun(self.case.drawn(), options, on_ready=lambda _: self._ready.set())
        self.live.stage.cluster.trace.fold(AckedLost, self._lost)

    def _lost(self, event: AckedLost) -> None:
        if event.topic == TOPIC and (event.unclean or event.unflushed or event.acks != -1):
            one = AllowedLoss(partition=event.partition, base_offset=event.base_offset, next_offset=event.next_offset)
            self.given_up.append(one)

    def play(self) -> AttachedRun:
        """Carry out the run. Raises: BadInput where the driver is none, or a port cannot be had."""
        try:
            for application in self.applications:
                application.start()
            for application in self.applications:
                application.wait_ready()
            thread = threading.Thread(target=self._serve, name="understudy", daemon=True)
            thread.start()
            try:
                found = self._attended()
            finally:
                self._stop(thread)
        finally:
            for application in self.applications:
                application.kill()
        return self._result(*found)

    # -- the cluster --------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            self._ran.append(self.live.play())
        except BaseException as error:
            self._failed.append(error)
        finally:
            self._ready.set()

    def _stop(self, thread: threading.Thread) -> None:
        if thread.is_alive() and self._ready.is_set():
            ask(self.live.control, {"action": "stop"})
        thread.join(READY_S)
        self._raise_failure()

    def _raise_failure(self) -> None:
        for failure in self._failed:
            raise failure

    def _wait_healed(self) -> None:
        """Wait until everything was healed, and some time more."""
        while not self._failed and self.live.stage.world.now < self._healed_us + AFTER_HEALING_US:
            time.sleep(LOOK_S)
        self._raise_failure()

    @property
    def _healed_us(self) -> int:
        entries = self.live.stage.scenario.method
        times = [
            certain(one.trigger.time_us) for one in entries if one.name == Heal.name and isinstance(one.trigger, At)
        ]
        return max(times, default=0)

    def _wait_well(self) -> bool:
        """Wait until every partition has a leader and a second replica in sync. Returns whether it came to that."""
        late_s = time.monotonic() + self.case.bound_s
        while time.monotonic() < late_s:
            found = ask(self.live.control, {"action": "state"})
            if all(one.get("leader", -1) >= 0 and len(one["isr"]) > 1 for one in found["partitions"]):
                return True
            time.sleep(4 * LOOK_S)
        return False

    # -- the applications ---------------------------------------------------------------------------------------------

    def _attended(self) -> tuple[bool, dict[int, tuple[WrittenRecord, ...]] | None, dict[int, list[str]]]:
        """Let the applications work and end. Returns whether the cluster was well, the log, and what was not read."""
        if not self._ready.wait(READY_S):
            raise RuntimeError(f"the cluster is not ready in {READY_S:g} s")
        self._raise_failure()
        began_s, began_us = time.monotonic(), self.live.stage.world.now
        for application in self.applications:
            application.begin(self.live.bootstrap_servers)
        self._wait_healed()
        well = self._wait_well()
        writers = [one for one in self.applications if one.plan.role != CONSUME]
        readers = [one for one in self.applications if one.plan.role == CONSUME]
        self._wait_begun(writers)
        self._end(writers)
        log = self._contents()
        unread = self._wait_read(readers, log or {})
        self._end(readers)
        self._pace = (self.live.stage.world.now - began_us) / 1e6 / (time.monotonic() - began_s)
        return well, self._contents() or log, unread

    def _wait_begun(self, writers: list[DriverProcess]) -> None:
        """Wait until each writer has sent a record: a run in which none was sent shows nothing."""
        late_s = time.monotonic() + self.case.bound_s
        for writer in writers:
            while not (self._has_sent(writer.plan) or writer.has_ended or time.monotonic() > late_s):
                time.sleep(LOOK_S)

    def _has_sent(self, plan: ApplicationPlan) -> bool:
        return any(line.name == plan.name and line.seen == "sent" for line in list(self.lines))

    def _end(self, applications: list[DriverProcess]) -> None:
        late_s = time.monotonic() + self.case.bound_s
        for application in applications:
            application.ask_to_end()
        for application in applications:
            application.wait_end(late_s)

    def _contents(self) -> dict[int, tuple[WrittenRecord, ...]] | None:
        partitions = self.applications[0].plan.partitions
        try:
            reader = TopicReader(self.live.broker_addresses, TOPIC, partitions)
            return reader.read(time.monotonic() + self.case.bound_s)
        except NotReadable:
            return None

    def _wait_read(
        self, readers: list[DriverProcess], log: dict[int, tuple[WrittenRecord, ...]]
    ) -> dict[int, list[str]]:
        """Wait until the readers have been given all that is in the log. Returns what they were not given in time."""
        committed = any(reader.plan.reads_committed for reader in readers)
        wanted = {partition: _visible(records, committed) for partition, records in log.items()}
        late_s = time.monotonic() + self.case.bound_s
        while True:
            given = {(line.partition, line.offset) for line in list(self.lines) if line.seen == "received"}
            left = {
                partition: [one.value for one in records if (partition, one.offset) not in given]
                for partition, records in wanted.items()
            }
            over = time.monotonic() > late_s or all(reader.has_ended for reader in readers)
            if over or not any(left.values()):
                return left
            time.sleep(4 * LOOK_S)

    # -- the result ---------------------------------------------------------------------------------------------------

    def _result(
        self, well: bool, log: dict[int, tuple[WrittenRecord, ...]] | None, unread: dict[int, list[str]]
    ) -> AttachedRun:
        [run] = self._ran
        ready = next(one.ready for one in self.applications if one.ready is not None)
        evidence = Evidence(
            plans={one.plan.name: one.plan for one in self.applications},
            lines=tuple(self.lines),
            log=log,
            given_up=tuple(self.given_up),
            unclean=bool(run.metrics["unclean_elections"]),
            endings={one.plan.name: one.ending for one in self.applications if one.ending},
            unsettled={one.plan.name: self._unsettled(one.plan) for one in self.applications} if well else {},
            unread=unread if well else {},
            bound_s=self.case.bound_s,
        )
        return AttachedRun(
            case=self.case, run=run, evidence=evidence, well=well, client=ready.client, version=ready.version,
            pace=self._pace, unreadable=next((one.unreadable for one in self.applications if one.unreadable), ""),
        )  # fmt: skip

    def _unsettled(self, plan: ApplicationPlan) -> list[str]:
        """The records of a producer, or its transactions, that have no outcome; where it has sent none, the first."""
        lines = [line for line in self.lines if line.name == plan.name]
        if plan.role != CONSUME and not self._has_sent(plan):
            return ["its first one"]
        if plan.role == TRANSACT:
            open_one = dict.fromkeys(line.transaction for line in lines if line.seen == "begun")
            for line in lines:
                if line.seen in ("committed", "aborted", "unknown"):
                    open_one.pop(line.transaction, None)
            return [f"transaction {number}" for number in open_one]
        left = dict.fromkeys(line.record for line in lines if line.seen == "sent")
        for line in lines:
            if line.seen in ("acked", "failed"):
                left.pop(line.record, None)
        return list(left)


def _visible(records: tuple[WrittenRecord, ...], committed: bool) -> list[WrittenRecord]:
    """The records that a consumer has to be given: a read-committed one up to the first open transaction."""
    if not committed:
        return list(records)
    first_open = next((place for place, one in enumerate(records) if one.committed is None), len(records))
    return [one for one in records[:first_open] if one.committed]


def attached_run(case: AttachedCase, folder: Path) -> AttachedRun:
    """Carry out a run; ``folder`` gets its recording and what the applications complained of. Raises: BadInput."""
    return _Attached(case, folder).play()
