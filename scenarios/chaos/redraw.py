"""The rest of a run, drawn again: a branch for a scenario, from a sub-seed.

Where the file has ``[[chaos]]`` blocks, its kinds draw the entries between the branch and healing, half of them soon
after the branch. Where it has none, the entries that have not acted are drawn from: each is left out half of the time,
and those with a time get another one. What heals the cluster, or ends a fault, stays.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from attrs import evolve, frozen

from emulator.streams import Streams
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, EntryChain
from scenarios.chaos.draw import MACHINES_DIE, Weights, heal_entries, swarm_of
from scenarios.chaos.kinds.shape import Healing
from scenarios.errors import BadInput
from scenarios.faults.actions.healing import Heal
from scenarios.faults.actions.reassignments import OfPlan
from scenarios.language.actions import all_actions
from scenarios.language.entries import Branch, MethodEntry, begun
from scenarios.language.scenario import Scenario
from scenarios.language.schema.spans import certain
from scenarios.language.triggers import After, At, Until

FIRST_FAULTS = 2
"""The turn of the kinds that draw faults and operations (``DrawnChaos.turn``). The cluster and its loads stay."""
LEFT_OUT = 0.5
"""The share of the entries of a file that a branch leaves out."""
CHANGES_TOPICS = ("topic.create", "topic.delete", "topic.expand")


def sub_seed(seed: int, *path: object) -> int:
    """A seed for a branch of a run, below 2**52."""
    return Streams(seed).stream("branches", "/".join(map(str, path))).bits() >> 12


def redrawn(swarm: Scenario, drawn: Scenario, at_us: int, seed: int, weights: Weights | None = None) -> Branch:
    """The branch that ``seed`` draws from the blocks of ``swarm`` for a scenario which was drawn from them."""
    healing = list(_healing(drawn.method))
    heal = next((entry for entry in healing if isinstance(entry.action, Heal)), None)
    if heal is None or not isinstance(heal.trigger, At) or certain(heal.trigger.time_us) <= at_us:
        return Branch(at_us=at_us, seed=seed, method=tuple(entry for entry in healing if _comes(entry, at_us)))
    assert isinstance(heal.action, Heal)
    draft = _draft(drawn, at_us, certain(heal.trigger.time_us), heal.action.brokers)
    draft.throttles = len(healing) > 1
    draft.tools_us = next((block.tools_us for block in swarm.chaos if isinstance(block, Healing)), draft.tools_us)
    blocks = [(block, draws) for block, draws in swarm_of(swarm.chaos, seed, weights or {})[0]]
    for turn in (FIRST_FAULTS, FIRST_FAULTS + 1):
        for block, draws in blocks:
            if block.turn == turn:
                kept, scenario = len(draft.chains), draft.scenario
                block.draw(draft, draws)
                draft.scenario = scenario  # the cluster is there already: nothing of it is drawn again
                draft.chains[kept:] = [one for one in draft.chains[kept:] if _fits(one, draft.core)]
    last = next((entry.action for entry in healing if isinstance(entry.trigger, After) and not _ends(entry)), None)
    draft.last = last if heal.action.brokers else None
    return _accepted(drawn, draft, at_us, seed, swarm)


def _draft(drawn: Scenario, at_us: int, heal_us: int, core: tuple[int, ...]) -> Draft:
    """The draft of the rest: faults may begin from the branch on, and gather soon after it."""
    draws = Draws.of(drawn.seed, "hot")
    draft = Draft(evolve(drawn, branches=()), faults=(-(-at_us // MS) * MS, heal_us), hot_us=(at_us // MS * MS,))
    draft.hot, draft.core = draws.between((0, 1_000_000)), core
    draft.machines_die = draws.sub("machines").chance(MACHINES_DIE)
    created = (entry.action.new_topic() for entry in drawn.entries)
    draft.made = [topic.name for topic in created if topic is not None]
    return draft


def _fits(chain: EntryChain, core: Container[int] | None) -> bool:
    """Whether entries ask for nothing of brokers that are not going to be healed."""
    if not core:
        return True
    plans = [entry.action.own_plan() for entry in chain.entries if isinstance(entry.action, OfPlan)]
    asked = [broker for plan in plans if plan is not None for move in plan.partitions for broker in move.replicas]
    changes = any(entry.name in CHANGES_TOPICS for entry in chain.entries)
    return not changes and all(broker in core for broker in asked)


def _accepted(drawn: Scenario, draft: Draft, at_us: int, seed: int, swarm: Scenario) -> Branch:
    """The branch with all chains that were drawn; without those that do not fit the cluster, where some do not."""

    def made(chains: list[EntryChain]) -> Branch:
        draft.chains = chains
        later = [entry for entry in draft.method() if _comes(entry, at_us)]
        return Branch(at_us=at_us, seed=seed, method=(*later, *heal_entries(draft, swarm)))

    chains = list(draft.chains)
    if _is_good(drawn, made(chains)):
        return made(chains)
    good: list[EntryChain] = []
    for one in chains:
        good += [one] if _is_good(drawn, made([*good, one])) else []
    return made(good)


def _is_good(drawn: Scenario, branch: Branch) -> bool:
    try:
        evolve(drawn, branches=(*drawn.branches, branch)).check()
    except BadInput:
        return False
    return True


def _comes(entry: MethodEntry, at_us: int) -> bool:
    return not isinstance(entry.trigger, At) or certain(entry.trigger.time_us) >= at_us


def _healing(method: Sequence[MethodEntry]) -> Iterator[MethodEntry]:
    """The entries that heal the cluster at the end of a drawn method."""
    place = next((n for n in range(len(method) - 1, -1, -1) if isinstance(method[n].action, Heal)), None)
    if place is None:
        return
    before = method[place - 1 : place] if place and method[place - 1].trigger == method[place].trigger else ()
    yield from (*before, *method[place:])


# -- of a file without chaos ------------------------------------------------------------------------------------------

Place = tuple[int, int]
"""The number of an entry in its method, and of the method: 0, or that of the n-th branch."""


@frozen
class FileMethod:
    """The entries of a file that its run comes to, in chains: an entry that follows no other one, with all that follow
    it.

    Attributes:
        chains: the place of the first entry of each, and its entries.
        last_us: the time of the last entry that begins a fault, as far as it is known.
    """

    chains: tuple[tuple[Place, tuple[MethodEntry, ...]], ...]
    last_us: int

    @classmethod
    def of(cls, scenario: Scenario) -> FileMethod:
        """The entries of the method and of branches, without those that a branch drops."""
        methods = [scenario.method, *(branch.method for branch in scenario.branches)]
        ends = [branch.at_us for branch in scenario.branches]
        found = [
            ((first, of), entries)
            for of, (method, end_us) in enumerate(zip(methods, [*ends, None], strict=True))
            for first, entries in _chains(method)
            if end_us is None or begun(entries, end_us)
        ]
        times = [certain(entry.trigger.time_us) for _, chain in found for entry in chain[:1]
                 if isinstance(entry.trigger, At) and not _ends(entry)]  # fmt: skip
        return cls(tuple(found), max(times, default=0))

    def without(self, acted: Container[Place]) -> FileMethod:
        """The chains whose first entry has not acted."""
        return evolve(self, chains=tuple(one for one in self.chains if one[0] not in acted))


def varied(left: FileMethod, at_us: int, seed: int) -> Branch:
    """The branch that ``seed`` draws from the entries that are left."""
    draws = Draws.of(seed, "varied")
    span = (at_us, max(at_us + SECOND, left.last_us))
    found: list[MethodEntry] = []
    for _, (head, *following) in left.chains:
        if all(map(_ends, (head, *following))):
            found += [head, *following] if _comes(head, at_us) else []
        elif not draws.chance(LEFT_OUT):
            if isinstance(head.trigger, At):
                head = evolve(head, trigger=At(draws.between(span)))
            found += [head, *following]
    return Branch(at_us=at_us, seed=seed, method=tuple(found))


def _chains(method: Sequence[MethodEntry]) -> Iterator[tuple[int, tuple[MethodEntry, ...]]]:
    """The entries that follow no other one, by their numbers, each with all that follow it."""
    heads = [n for n, entry in enumerate(method) if n == 0 or not isinstance(entry.trigger, After | Until)]
    for first, after in zip(heads, [*heads[1:], len(method)], strict=True):
        yield first, tuple(method[first:after])


def _ends(entry: MethodEntry) -> bool:
    """Whether an entry ends faults, and begins none."""
    undoing = (kind.undo.name for kind in all_actions().values() if kind.undo is not None)
    return entry.name == Heal.name or entry.name in undoing
