"""The way from a file with ``[[chaos]]`` blocks and a seed to an ordinary scenario.

A pure function: the same file and seed give the same scenario, in every process. Each block draws from a stream with
its own name, and each seed leaves some kinds out (swarm testing, Groce et al. 2012): if every kind happens in every
run, a failure that needs few faults, or a long time without one, never does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from importlib.resources import files

from attrs import evolve

from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Strike
from scenarios.chaos.kind import DrawnChaos
from scenarios.chaos.kinds.operator_work import unthrottle
from scenarios.cluster.from_scenario import topic_setup
from scenarios.cluster.preload import preloaded
from scenarios.faults.actions.config_actions import ConfigSet
from scenarios.faults.actions.healing import LEFT, STOPPED, Heal
from scenarios.language.chaos import Chaos
from scenarios.language.entries import MethodEntry
from scenarios.language.expect import Expect
from scenarios.language.scenario import Scenario
from scenarios.language.schedules import FIFO
from scenarios.language.targets import Target
from scenarios.language.triggers import After, At
from scenarios.language.workloads import WorkloadSpec

Weights = Mapping[str, float]
"""The share of seeds that have each kind, where it is not the block's own."""
AFTER_HEALING_US = 60_000_000
FOLLOWERS_LIMIT = "replica.fetch.max.bytes"
LATER_US = 10_000_000
"""The time after healing when an operator gives up the brokers that are not healed, where unclean elections are
drawn."""
COMPACTED_RECORDS = 50
"""The most records of a batch in a topic that is compacted."""
TO_KEEP_UP = 0.5
"""The share of their fetches that followers can spend on what is new, and still catch up in about the time in which
they fell behind."""
MACHINES_DIE = 0.3
"""The share of seeds in which brokers die with their machines too. Kafka flushes nothing by itself, so most of such
runs lose records, and hide what else goes wrong."""


def concrete(scenario: Scenario, seed: int, weights: Weights | None = None) -> Scenario:
    """The scenario that ``seed`` draws: a checked one without ``[[chaos]]``, whose run is the chaos run.

    A ``scenario`` without such blocks is returned as it is, with the seed. Raises: BadInput where what the file states
    and what is drawn do not fit.
    """
    scenario = evolve(scenario, seed=seed).settled()
    if not scenario.chaos:
        return scenario
    draft = Draft(evolve(scenario, chaos=()))
    taken, left_out = swarm_of(scenario.chaos, seed, weights or {})
    for turn in range(4):
        if turn == 1:
            _heat(draft, seed)
        for block, draws in taken:
            if block.turn == turn:
                block.draw(draft, draws)
    _choose_core(draft, Draws.of(seed, "core"))
    if FOLLOWERS_LIMIT not in scenario.cluster.config and not scenario.policies.brokers.sends_first_batch:
        _let_followers_read_every_message(draft)
    _give_up_with_their_topics(draft)
    stated = [load.topic for load in scenario.workloads]
    _write_few_records_to_be_compacted(draft, stated)
    _allow_for_what_outruns(draft, stated)
    return _finished(draft, scenario, [block.kind for block, _ in taken], left_out)


def default_swarm() -> Scenario:
    """The file that seeds are drawn from where none is named."""
    return Scenario.loads(_default_text())


def swarm_digest() -> str:
    """The digest of that file: what was measured with it holds for it."""
    return blake2b(_default_text().encode(), digest_size=8).hexdigest()


def _default_text() -> str:
    return files(__package__).joinpath("default.toml").read_text(encoding="utf-8")


def swarm_of(blocks: Sequence[Chaos], seed: int, weights: Weights) -> tuple[list[tuple[DrawnChaos, Draws]], list[str]]:
    """The blocks that take part, each with its draws, and the kinds that are left out."""
    taken, left_out, seen = [], [], Counter[str]()
    for block in blocks:
        seen[block.kind] += 1
        name = block.kind if seen[block.kind] == 1 else f"{block.kind}#{seen[block.kind]}"
        draws = Draws.of(seed, name)
        assert isinstance(block, DrawnChaos), f"{block.kind} is declared and cannot be drawn"
        if draws.sub("share").chance(weights.get(block.kind, block.share)):
            taken.append((block, draws))
        else:
            left_out.append(block.kind)
    return taken, left_out


def kinds_of(scenario: Scenario, seed: int, weights: Weights | None = None) -> tuple[str, ...]:
    return tuple(block.kind for block, _ in swarm_of(scenario.chaos, seed, weights or {})[0])


def _heat(draft: Draft, seed: int) -> None:
    """Draw the moments and the partition at which faults of all kinds gather."""
    draws = Draws.of(seed, "hot")
    draft.hot_us = tuple(draws.moment(draft.faults) for _ in range(draws.between((1, 3))))
    draft.hot = draws.between((0, 1_000_000))
    draft.machines_die = draws.sub("machines").chance(MACHINES_DIE)


def _choose_core(draft: Draft, draws: Draws) -> None:
    """Draw the brokers that are healed, where not all are: more than half of them, and every broker that operators'
    requests wait for."""
    if not draft.heals_core or draft.does("topic.create", "topic.delete", "topic.expand"):
        return
    brokers, asked = draft.scenario.cluster.ids, draft.targets()
    possible = [broker for broker in brokers if broker not in asked]
    left_out = draws.some(possible, draws.between((1, (len(brokers) - 1) // 2)) if len(brokers) > 2 else 0)
    if left_out:
        draft.core = tuple(broker for broker in brokers if broker not in left_out)
        draft.notes.append(f"healed are brokers {list(draft.core)}, the others are stopped")
        if draws.chance(0.5):
            lost = [Strike(draft.crash(draws), Target(brokers=(broker,))) for broker in left_out]
            draft.add(At(draft.moment(draws)), lost)
        if draws.chance(0.5):
            topic = draws.choice((None, draws.choice(draft.scenario.topics).name)) if draft.scenario.topics else None
            draft.last = ConfigSet(config={"unclean.leader.election.enable": True}, topic=topic)


def _let_followers_read_every_message(draft: Draft) -> None:
    """Raise a drawn replica.fetch.max.bytes to the size of the largest message.

    Before KIP-74 (0.10.1) followers stop for ever at a message that is larger: no such cluster would converge.
    """
    scenario, config = draft.scenario, draft.scenario.cluster.config
    if FOLLOWERS_LIMIT not in config:
        return
    setups = [topic_setup(scenario, topic) for topic in scenario.topics]
    held = [piece for setup in setups for piece in preloaded(setup.size, setup.message_size)]
    sizes = [load.message_size for load in scenario.workloads]
    sizes += [-(-piece.size // (piece.next_offset - piece.base_offset)) for piece in held]
    limit = max(config[FOLLOWERS_LIMIT], *sizes, 0)
    draft.change(cluster=evolve(scenario.cluster, config={**config, FOLLOWERS_LIMIT: limit}))


def _give_up_with_their_topics(draft: Draft) -> None:
    """Let loads on topics that the method creates give up soon, where that is asked for.

    Most of these topics are deleted in the end. Kafka's producers ask for one for two minutes, every
    retry.backoff.ms, and the run would last as long.
    """
    if draft.gives_up_us is None:
        return
    made = (*draft.made, *draft.made_again)
    ends = {"delivery.timeout.ms": draft.gives_up_us // MS, "request.timeout.ms": draft.gives_up_us // (2 * MS)}
    draft.change(
        workloads=tuple(
            evolve(load, config={**ends, **load.config}) if load.topic in made and not load.config else load
            for load in draft.scenario.workloads
        )
    )


def _write_few_records_to_be_compacted(draft: Draft, stated: Sequence[str]) -> None:
    """Limit the records of a batch in compacted topics: each cleaning looks at every record of the log, several
    times."""
    compacted = {topic.name: topic for topic in draft.scenario.topics if "cleanup.policy" in topic.config}

    def limited(load: WorkloadSpec) -> WorkloadSpec:
        if load.topic in stated or load.topic not in compacted:
            return load
        most = COMPACTED_RECORDS * compacted[load.topic].partitions * SECOND // load.linger_us
        return evolve(load, producer_rate=min(load.producer_rate, most))

    draft.change(workloads=tuple(map(limited, draft.scenario.workloads)))


def _allow_for_what_outruns(draft: Draft, stated: Sequence[str]) -> None:
    """Stop the loads that outrun replication.

    A fetch takes a round trip, and brings replica.fetch.max.bytes of a partition, or one batch. Some loads write more
    than that, and no replica would ever catch up. They stop when faults end, and the cluster gets more time to
    converge. If all loads together leave followers less than half of their fetches to catch up, those without an end
    stop then, too.
    """
    cluster = draft.scenario.cluster
    most = draft.scenario.settings()[FOLLOWERS_LIMIT]
    late_us = draft.scenario.schedule_jitter_us if draft.scenario.schedule != FIFO else 0
    fetch_us = 2 * (cluster.network.latency_us + cluster.network.jitter_us + late_us)

    def share(load: WorkloadSpec) -> float:
        """The share of a follower's fetches that bring what a load writes. Above 1: the load writes more than they can
        bring."""
        if not isinstance(most, int):  # it is drawn
            return 0.0
        batch = load.producer_rate * load.message_size * load.linger_us // (SECOND * load.producers)
        return fetch_us * load.producers / (max(1, most // max(1, batch)) * load.linger_us)

    def lags(load: WorkloadSpec) -> bool:
        """Whether the load's followers are out of sync while it goes on: a few batches are more than a follower may
        lack."""
        may_lack = cluster.config.get("replica.lag.max.messages")
        each = max(1, load.producer_rate * load.linger_us // SECOND)
        return isinstance(may_lack, int) and may_lack < 4 * each * max(1, fetch_us // load.linger_us)

    def goes_on(load: WorkloadSpec) -> bool:
        """Whether the load goes on long after healing."""
        return load.stop_us is None or load.stop_us >= draft.faults[1] + draft.goes_on_us

    new = [load for load in draft.scenario.workloads if load.topic not in stated]
    outrun = [load for load in new if share(load) > 1 or lags(load)]
    if sum(map(share, new)) > TO_KEEP_UP:
        outrun += [load for load in new if goes_on(load) and load not in outrun]
    if outrun:
        draft.notes.append("followers cannot keep up with a load")
        draft.within_us += max(int(draft.faults[1] * max(1.0, share(load))) for load in outrun)
        ends = [
            evolve(load, stop_us=max(draft.faults[1], load.start_us + SECOND))
            if load in outrun and goes_on(load)
            else load
            for load in draft.scenario.workloads
        ]
        draft.change(workloads=tuple(ends))


def _finished(draft: Draft, original: Scenario, taken: list[str], left_out: list[str]) -> Scenario:
    heal_us = draft.faults[1]
    drawn = evolve(
        draft.scenario,
        title=f"{original.title}: seed {draft.scenario.seed}",
        description="\n".join(_description(draft, original, taken, left_out)),
        method=(*original.method, *draft.method(), *heal_entries(draft, original)),
        expect=(*original.expect, *_converged(draft, original)),
        horizon_us=max(original.horizon_us, heal_us + draft.within_us + AFTER_HEALING_US),
    )
    drawn.check()
    return drawn


def heal_entries(draft: Draft, original: Scenario) -> tuple[MethodEntry, ...]:
    """The end of all throttles and faults, unless the file has its own."""
    if any(entry.name == Heal.name for entry in original.method):
        return ()
    at = At(draft.faults[1])
    unthrottled = MethodEntry(action=unthrottle(), trigger=at, optional=True)
    heal = Heal(brokers=draft.core, others=STOPPED if draft.core else LEFT)
    then = [MethodEntry(action=draft.last, trigger=After(LATER_US), optional=True)] if draft.last else []
    if not draft.throttles:
        return (MethodEntry(action=heal, trigger=at), *then)
    again = MethodEntry(action=unthrottle(), trigger=After(draft.tools_us), optional=True)
    return (unthrottled, MethodEntry(action=heal, trigger=at), *then, again)


def _converged(draft: Draft, original: Scenario) -> tuple[Expect, ...]:
    """The expectation that the cluster converges after that, unless the file has one of its own."""
    if any(expect.converged for expect in original.expect):
        return ()
    return (Expect(converged=True, within_us=draft.within_us),)


def _description(draft: Draft, original: Scenario, taken: list[str], left_out: list[str]) -> Iterator[str]:
    """The draws in words."""
    origin = original.source or f'"{original.title}"'
    yield f"Drawn by seed {draft.scenario.seed} from {origin} (profile {original.profile})."
    yield f"Kinds: {', '.join(taken)}; left out: {', '.join(left_out) or 'none'}."
    yield f"Faults begin at {draft.faults[0] / 1e6:g} s, all end at {draft.faults[1] / 1e6:g} s."
    yield from (f"- {note}" for note in draft.notes)
