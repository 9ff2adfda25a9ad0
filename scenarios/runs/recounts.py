"""Settings of a run for its checkers, and their check once a second for what lasts for too long.

For one seed in twenty the checkers of metrics are verified: all through the run their state, which follows changes,
is compared with a recount from scratch (readings §10). A change that a checker has missed shows there.
"""

from typing import Any

from attrs import define

from brokers.partition.isr import NO_LIMIT, ByController, ByZooKeeper
from controller.memories import MEMORIES, OUTSIDE_THE_CONTEXT
from controller.policies import ControllerPolicies
from controller.reassignment.kip_455 import KIP_455
from controller.state_machines.leader_election_algorithms import IN_ORDER_OF_ISR
from emulator.kernel import World
from fetchers.failures import Verdict
from fetchers.truncation import Kip279
from scenarios.language import Scenario
from scenarios.language.actions import undone_by
from scenarios.observe.checkers import Checkers
from scenarios.observe.history.settings_history import StartSettings
from scenarios.profiles import PROFILES

ONE_IN = 20
PERIOD_US = 100_000


def recounts(world: World) -> bool:
    """Whether the run of ``world`` recounts, which a stream of its own draws for one seed in twenty."""
    return world.stream("recounts").below(ONE_IN) == 0


@define(eq=False)
class Recounts:
    """Recounts ten times a virtual second. The events of the run do not depend on it."""

    world: World
    checkers: Checkers

    def begin(self) -> None:
        """Begin, if the seed is one of them."""
        if recounts(self.world):
            self._count(None)

    def _count(self, _: Any) -> None:
        self.checkers.recount(self.world.now)
        self.world.call_later(PERIOD_US, self._count, None, True)


LOOK_US = 1_000_000


def start_settings(scenario: Scenario) -> StartSettings:
    """The settings that checkers compare with. The profile says what a release promises, whatever bugs are on."""
    release = PROFILES[scenario.profile].policies
    return StartSettings(
        scenario.settings(),
        scenario.session_timeout_us,
        metadata_has_raised_epochs=release.controller.remembers_bumps,
        isolates_failures=release.fetchers.failures.unexpected is Verdict.FAIL,
        ends_failed_threads=release.fetchers.end_thread_when_all_failed,
        marks_new_replicas=release.kip_455.adds_as_new and scenario.strategy.parsed.shape == KIP_455.name,
        detects_bounces=release.controller.broker_epochs,
        drops_slow=release.brokers.out_of_sync.max_messages != NO_LIMIT,
        drops_at_the_end=release.brokers.out_of_sync.even_at_the_end,
        accepts_newer_broker_epochs=release.brokers.accepts_newer_broker_epoch,
        truncates_on_fetch=release.fetchers.truncation.on_fetch,
        truncates_by_epochs=isinstance(release.fetchers.truncation, Kip279),
        fences_once=release.brokers.transactions.fences_once,
        awaits_isr_answers=isinstance(release.brokers.isr_writes, ByController)
        and release.brokers.isr_writes.awaits_answers,
        awaits_isr_writes=isinstance(release.brokers.isr_writes, ByZooKeeper),
        announces_brokers=release.controller.announces_brokers,
        stops_offline=release.controller.replicas.stops_offline,
        announces_isrs=release.brokers.announces_isrs,
        elects_by_assignment=release.controller.selectors != IN_ORDER_OF_ISR,
        resigned_keep=_kept_after_resigning(release.controller),
        demotion_answers=release.brokers.demotion_answers_waiting,
        stop_answers=release.brokers.stop_answers_waiting,
        knows_min_isr=release.brokers.knows_min_isr,
        rates_of_all=release.brokers.rates_of_all,
        caps_min_isr=release.brokers.caps_min_isr,
        holds_high_watermark=release.brokers.high_watermark_needs_min_isr,
        commits_at_outcome=release.brokers.isr_writes.outcome_moves_high_watermark or release.brokers.every_fetch_looks,
        expires_unsubscribed=release.brokers.groups.expires_unsubscribed,
        elects_preferred_again=release.controller.elects_preferred_again,
        discounts_deleted=release.controller.discounts_queued_again,
        verifies_offsets=release.brokers.verifies_transactions and release.brokers.transactions.verifies_offsets,
        asks_for_producer_ids=release.brokers.asks_for_producer_ids,
        deletes_topics=scenario.policies.deletes_topics and scenario.policies.controller.delete_topics,
        checks_epochs=release.brokers.checks_epochs,
        reads_from_followers=release.brokers.followers_serve_consumers,
        undone_by=undone_by,
    )


def _kept_after_resigning(release: ControllerPolicies) -> frozenset[str]:
    """The memories that a controller of a release keeps when it resigns."""
    every = [memory.name for memory in MEMORIES]
    if release.follows_controller_epoch:
        return frozenset(every)
    kept = {name for name in every if name not in OUTSIDE_THE_CONTEXT} if release.acts_after_resigning else set()
    if release.keeps_watches:
        kept |= {"watches", "watched", "watched_topics"}
    if not release.forgets_moves:
        kept.add("moves")
    return frozenset(kept)


@define(eq=False)
class Looks:
    """Looks once a virtual second for what lasts for too long."""

    world: World
    checkers: Checkers

    def begin(self) -> None:
        self.world.call_later(LOOK_US, self._look, None, True)

    def _look(self, _: Any) -> None:
        self.checkers.look(self.world.now)
        self.begin()
