"""A seed of a file with [[chaos]] draws one ordinary scenario: valid, the same each time, and its own replay."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest
from attrs import evolve

from scenarios.chaos.block_draws import Draws
from scenarios.chaos.draft import Strike
from scenarios.chaos.draw import concrete, default_swarm
from scenarios.chaos.kinds.loads import Loads
from scenarios.chaos.kinds.meetings import possible
from scenarios.chaos.kinds.shape import Healing
from scenarios.chaos.kinds.upkeep import UncleanElections
from scenarios.faults.actions.brokers import ZkExpire
from scenarios.faults.actions.config_actions import ConfigSet
from scenarios.faults.actions.disks import LogDirOffline
from scenarios.faults.actions.healing import Heal
from scenarios.faults.actions.topic_actions import TopicCreate, TopicDelete, TopicExpand
from scenarios.language import Scenario
from scenarios.language.chaos import all_kinds, find_kind
from scenarios.language.entries import MethodEntry
from scenarios.language.schema.spans import certain
from scenarios.language.topic_spec import TopicSpec
from scenarios.language.triggers import After, At, WhenMessage, WhenZk
from scenarios.profiles import PROFILES
from scenarios.runs.runner import prepare
from tests.scenarios.cli.tool import environment
from tests.scenarios.language.builders import SMALL, small_and

FAST = """
schema = "scenario/1"
title = "fast"

[cluster]
brokers = 3

[[topics]]
name = "orders"
assignment = [[0, 1, 2]]

[[chaos]]
kind = "loads"
batches = 2

[[chaos]]
kind = "attrition"
share = 1.0

[[chaos]]
kind = "healing"
at = "6s"
"""
"""A file whose runs take some milliseconds."""


SINCE: dict[str, str] = {}
"""Kinds that draw nothing under the default profile, each with one under which it draws."""
DRAWS_WHAT_IS_NOT_STATED = (
    "healing",
    "consumers",
    "coordinators-again",
    "loads",
    "mistakes",
    "protocols",
    "used-topics",
)


def of(*kinds: str, share: float = 1.0) -> Scenario:
    """The small scenario with a block of each kind."""
    blocks = [find_kind(kind)(share=share, **({"brokers": (7, 9)} if kind == "cluster" else {})) for kind in kinds]
    return evolve(Scenario.loads(SMALL), chaos=blocks)


@pytest.mark.parametrize("profile", PROFILES)
def test_what_the_default_swarm_draws_is_a_valid_scenario_under_every_profile(profile: str) -> None:
    swarm = default_swarm().for_run(profile=profile)
    for seed in (*range(4), 226, 635):  # in the last two a topic is loaded after healing begins
        drawn = concrete(swarm, seed)
        assert not drawn.chaos
        assert Scenario.loads(drawn.to_toml()) == drawn


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["kafka-0.8", "kafka-2.4"])
def test_so_is_what_thousands_of_seeds_draw(profile: str) -> None:
    swarm = default_swarm().for_run(profile=profile)
    for seed in range(12, 3000):
        prepare(concrete(swarm, seed), seed)


def test_requests_that_meet_give_a_topic_no_more_partitions_than_it_has_by_then() -> None:
    topic = TopicSpec(name="t", partitions=2, replication_factor=1)
    made, gone = Strike(TopicCreate(topic=topic)), Strike(TopicDelete(topic="t"))
    grown = [Strike(TopicExpand(topic="t", partitions=number)) for number in range(2, 6)]
    assert possible(topic, [made], grown) == grown[1:]
    assert possible(topic, [made, grown[2]], [*grown, gone]) == [grown[3], gone]
    assert possible(topic, [made, grown[2], gone, made], grown) == grown[1:]


def limit_and_largest_message(swarm: Scenario, seed: int) -> tuple[int, int]:
    """The most that a follower fetches of a partition, and the size of the largest message of the loads."""
    drawn = concrete(swarm, seed)
    limit = drawn.settings()["replica.fetch.max.bytes"]
    assert isinstance(limit, int)
    return limit, max((load.message_size for load in drawn.workloads), default=0)


def test_followers_can_fetch_every_message_where_they_would_stop_at_one_before_kip_74() -> None:
    later, before = (default_swarm().for_run(profile=profile) for profile in ("kafka-1.1", "kafka-0.8"))
    below = [seed for seed in range(60) if (found := limit_and_largest_message(later, seed))[0] < found[1]]
    assert below, "since KIP-74 a limit below the largest message is drawn: one batch comes with each answer"
    for seed in below:
        limit, largest = limit_and_largest_message(before, seed)
        assert limit >= largest


def test_a_limit_of_followers_that_the_file_states_is_kept_before_kip_74() -> None:
    text = FAST.replace("brokers = 3", 'brokers = 3\nconfig = { "replica.fetch.max.bytes" = 10 }', 1)
    limit, largest = limit_and_largest_message(Scenario.loads(text).for_run(profile="kafka-0.8"), 1)
    assert limit == 10 < largest


def test_preloaded_messages_count_as_messages_before_kip_74() -> None:
    """Of 12,000 bytes, messages of 8 KiB are preloaded as one: it is larger than those of the load."""
    text = FAST.replace("assignment", 'size = "12KB"\nassignment', 1)
    text += """
[[chaos]]
kind = "settings"
share = 1.0
"""
    scenario = Scenario.loads(text).for_run(profile="kafka-0.8")
    drawn = [concrete(scenario, seed) for seed in range(60)]
    large = [each.cluster.config for each in drawn if any(load.message_size == 8192 for load in each.workloads)]
    assert {config["replica.fetch.max.bytes"] for config in large if "replica.fetch.max.bytes" in config} == {12_000}


OF_REAL_CLIENTS = ("client-links", "client-requests")
"""Kinds of the swarm that real clients attach to."""


def test_the_default_swarm_has_every_kind() -> None:
    assert Counter(block.kind for block in default_swarm().chaos) == Counter({*all_kinds()}.difference(OF_REAL_CLIENTS))


@pytest.mark.parametrize("kind", all_kinds())
def test_every_kind_draws_something_that_fits_a_file(kind: str) -> None:
    alone, without = (scenario.for_run(profile=SINCE.get(kind)) for scenario in (of("healing", kind), of("healing")))
    drawn = [concrete(alone, seed) for seed in range(6)]
    plain = [evolve(concrete(without, seed), description=one.description) for seed, one in enumerate(drawn)]
    assert kind in DRAWS_WHAT_IS_NOT_STATED or drawn != plain
    assert [one.method[0] for one in drawn] == [alone.method[0]] * len(drawn)


def test_the_same_seed_draws_the_same_scenario_in_every_process() -> None:
    code = "from scenarios.chaos.draw import *; print(*(concrete(default_swarm(), n).digest() for n in range(5)))"
    command = [sys.executable, "-c", code]
    found = {
        subprocess.run(command, check=True, capture_output=True, text=True, env=environment(PYTHONHASHSEED=seed)).stdout
        for seed in ("1", "2")
    }
    assert found == {" ".join(concrete(default_swarm(), seed).digest() for seed in range(5)) + "\n"}


def test_a_block_that_is_added_does_not_move_what_the_others_draw() -> None:
    few, more = of("healing", "cuts", "pauses"), of("healing", "clogging", "cuts", "pauses")
    for seed in range(8):
        kept = [entry for entry in concrete(more, seed).method if entry.name != "link.delay"]
        assert kept == list(concrete(few, seed).method)


def test_an_episode_more_does_not_move_the_others() -> None:
    once, twice = (
        Scenario.loads(small_and("[[chaos]]", 'kind = "pauses"', "share = 1.0", f"times = {times}")) for times in (1, 2)
    )
    for seed in range(8):
        assert set(map(str, concrete(once, seed).method)) < set(map(str, concrete(twice, seed).method))


def test_seeds_leave_kinds_out_as_often_as_their_share_says() -> None:
    scenario = of("healing", "pauses", share=0.25)
    having = sum("broker.pause" in {entry.name for entry in concrete(scenario, seed).method} for seed in range(200))
    assert 30 <= having <= 70


def test_weights_take_the_place_of_shares() -> None:
    scenario = of("healing", "pauses", share=0.0)
    names = {entry.name for entry in concrete(scenario, 1, {"pauses": 1.0}).method}
    assert "broker.pause" in names
    assert "broker.pause" not in {entry.name for entry in concrete(scenario, 1).method}


def test_faults_are_optional_and_end_with_healing() -> None:
    own, *faults, heal = concrete(of("healing", "attrition", "storms"), 3).method
    assert not own.optional
    assert faults
    assert all(entry.optional for entry in faults)
    assert heal.name == "heal"


def test_the_cluster_is_expected_to_converge_in_the_time_that_the_file_allows() -> None:
    (expect,) = concrete(of("healing"), 3).expect
    assert (expect.converged, expect.within_us) == (True, 120_000_000)
    own = Scenario.loads(small_and("[[chaos]]", 'kind = "healing"', "", "[[expect]]", "converged = true"))
    assert concrete(own, 3).expect == own.expect


def test_a_core_of_more_than_half_of_the_brokers_may_be_healed() -> None:
    text = small_and("[[chaos]]", 'kind = "healing"', "core = 1.0")
    for seed in range(6):
        drawn = concrete(Scenario.loads(text), seed)
        [core] = [entry.action for entry in drawn.method if isinstance(entry.action, Heal)]
        assert drawn.cluster.brokers // 2 < len(core.brokers) < drawn.cluster.brokers
        assert drawn.plan is None or {*drawn.plan.partitions[0].replicas}.issubset(core.brokers)


def test_controllers_are_replaced_while_they_do_what_operators_ask_for() -> None:
    soon = 0
    for seed in range(8):
        method = concrete(of("healing", "failovers", "elections"), seed).method
        at = {entry.name: certain(entry.trigger.time_us) for entry in method if isinstance(entry.trigger, At)}
        lost = [at[name] for name in ("controller.resign", "zk.expire", "broker.crash") if name in at]
        soon += any(0 < lost_us - at.get("election.preferred", 0) < 1_000_000 for lost_us in lost)
    assert soon >= 2


def test_a_block_keeps_to_its_brokers_and_topics() -> None:
    text = small_and("[[chaos]]", 'kind = "attrition"', "share = 1.0", "brokers = [5]", "times = 5")
    targets = [entry.target for entry in concrete(Scenario.loads(text), 2).method[1:-1]]
    assert {target.brokers for target in targets if target is not None} == {(5,)}


def test_what_was_drawn_is_in_the_description() -> None:
    drawn = concrete(of("healing", "attrition", share=0.5), 1)
    assert drawn.description.startswith("Drawn by seed 1 from ")
    assert "left out: " in drawn.description


def test_a_chaos_run_is_the_run_of_the_scenario_that_is_drawn() -> None:
    scenario = Scenario.loads(FAST)
    replay = Scenario.loads(concrete(scenario, 5).to_toml())
    assert scenario.run(seed=5).digest == replay.run().digest


def test_times_are_spread_over_orders_of_magnitude() -> None:
    draws = Draws.of(1, "times")
    found = Counter(len(str(draws.spread((1_000, 999_000)) // 1_000)) for _ in range(3_000))
    assert all(700 < found[digits] < 1_300 for digits in (1, 2, 3))


def test_a_scenario_without_blocks_is_drawn_as_it_is() -> None:
    scenario = Scenario.loads(SMALL)
    assert concrete(scenario, 7) == evolve(scenario, seed=7)


def with_one_load(swarm: Scenario) -> Scenario:
    """The default swarm without the kinds that bring loads for a while, and without throttles, which change fetches."""
    others = ("throttles", "queued-sends", "names-again", "requests-meet", "setting-layers")
    return evolve(swarm, chaos=[block for block in swarm.chaos if block.kind not in others])


def test_loads_that_followers_cannot_keep_up_with_stop_as_faults_end() -> None:
    """Two producers write a batch every 30 ms each, of which a fetch brings one in 40 ms (seed 401), or as many as
    there are (seed 350)."""
    swarm = with_one_load(default_swarm())
    slow, fast = (concrete(swarm, seed) for seed in (401, 350))
    ends = [load.stop_us for load in slow.workloads if load.producer_rate == 99]
    heal, fast_heal = (
        next(entry.trigger for entry in drawn.method if entry.name == Heal.name) for drawn in (slow, fast)
    )
    assert isinstance(heal, At)
    assert isinstance(fast_heal, At)
    fast_heals_us = certain(fast_heal.time_us)
    assert ends == [heal.time_us]
    assert [expect.within_us for expect in slow.expect] == [120_000_000 + certain(heal.time_us) * 80_000 // 30_303]
    assert [expect.within_us for expect in fast.expect] == [120_000_000]
    assert [load.stop_us for load in fast.workloads] == [fast_heals_us + 15_000_000]


@pytest.mark.parametrize(("seed", "stops"), [(40001, True), (87, False)])
def test_loads_that_never_stop_leave_followers_time_to_catch_up(seed: int, stops: bool) -> None:
    """A fetch takes 60 ms and brings one batch of the 12 and 5 that come in a second; or 40 ms and ten, of 33."""
    drawn = concrete(with_one_load(default_swarm()), seed)
    [heal] = [entry.trigger for entry in drawn.method if entry.name == Heal.name]
    assert isinstance(heal, At)
    ends = [load.stop_us for load in drawn.workloads if not load.topic.startswith("passing")]
    assert ends == [heal.time_us if stops else certain(heal.time_us) + 15_000_000] * len(ends)


def test_loads_that_would_never_stop_go_on_for_as_long_as_is_asked() -> None:
    for goes_on_us, after_us in ((None, None), (15_000_000, 15_000_000)):
        blocks = [Healing(loaded=1.0, goes_on_us=goes_on_us), Loads()]
        drawn = concrete(evolve(default_swarm(), chaos=[*of("cluster", "topics").chaos, *blocks]), 3)
        [heal] = [entry.trigger for entry in drawn.method if entry.name == Heal.name]
        assert isinstance(heal, At)
        last = drawn.workloads[-1].stop_us
        assert last == (None if after_us is None else certain(heal.time_us) + after_us)


def test_loads_on_topics_that_come_and_go_give_up_as_soon_as_is_asked() -> None:
    """Others keep what they have, and without the key so do these."""
    for gives_up_us in (None, 10_000_000):
        blocks = [*of("healing", "names-again").chaos, Loads(gives_up_us=gives_up_us)]
        drawn = concrete(evolve(of(), chaos=blocks), 4)
        gone = [load for load in drawn.workloads if load.topic.startswith("passing")]
        assert gone
        wait_ms = None if gives_up_us is None else gives_up_us // 1_000
        assert {load.config.get("delivery.timeout.ms") for load in gone} == {wait_ms}
        others = [load for load in drawn.workloads if load not in gone]
        assert all("delivery.timeout.ms" not in load.config for load in others)


@pytest.mark.parametrize("tools_us", [12_000_000, 30_000_000])
def test_throttles_go_again_when_tools_are_sure_to_have_set_theirs(tools_us: int) -> None:
    blocks = [Healing(tools_us=tools_us), find_kind("throttles")()]
    drawn = concrete(evolve(of(), chaos=blocks), 1)
    assert drawn.method[-1].trigger == After(tools_us)
    assert drawn.method[-1].action == drawn.method[-3].action


def test_a_throttle_that_a_tool_sets_late_is_removed_too() -> None:
    """Of seed 466, whose tool waits for ZooKeeper until 19 s after healing."""
    method = concrete(default_swarm().for_run(profile="kafka-2.4"), 466).method
    assert [entry.name for entry in method[-3:]] == ["config.set", "heal", "config.set"]
    assert method[-1].action == method[-3].action


def test_requests_take_time_where_service_times_are_drawn() -> None:
    clusters = [concrete(of("healing", "service-times"), seed).cluster for seed in range(6)]
    assert all(cluster.service for cluster in clusters)
    assert {cluster.config["num.io.threads"] for cluster in clusters} > {1}


def test_all_brokers_are_restarted_in_the_same_way() -> None:
    drawn = concrete(of("healing", "rolling-restarts"), 4)
    restarts = [entry for entry in drawn.method if entry.duration_us is not None]
    assert len({entry.name for entry in restarts}) == 1
    targets = [entry.target.brokers for entry in restarts if entry.target is not None]
    assert sorted(targets) == [(broker,) for broker in range(drawn.cluster.brokers)]


@pytest.mark.parametrize(("profile", "copies"), [("kafka-0.8", False), ("kafka-1.1", True)])
def test_replicas_are_copied_to_other_disks_since_kip_113(profile: str, copies: bool) -> None:
    drawn = concrete(of("healing", "copies").for_run(profile=profile), 2)
    plans = [entry.action.own_plan() for entry in drawn.method]
    assert any(plan is not None and plan.directories() for plan in plans) is copies
    assert (drawn.cluster.log_dirs > 1) is copies


def test_messages_behind_count_only_where_the_release_has_them() -> None:
    names = [
        {name for seed in range(12) for name in concrete(default_swarm().for_run(profile=profile), seed).cluster.config}
        for profile in ("kafka-0.8", "kafka-1.1")
    ]
    assert ["replica.lag.max.messages" in found for found in names] == [True, False]


def test_a_reader_with_small_fetches_gets_more_at_a_time_than_comes_in() -> None:
    """Of seed 2434, whose dense load never stops."""
    drawn = concrete(default_swarm(), 2434)
    (reader,) = drawn.consumers
    comes_in = sum(load.producer_rate * load.message_size for load in drawn.workloads if load.topic == reader.topic)
    fetches_per_s = 1_000_000 / (2 * drawn.cluster.network.latency_us)
    assert reader.config["max.partition.fetch.bytes"] * fetches_per_s > 3 * comes_in


def test_two_brokers_are_controller_in_turn() -> None:
    """The brokers that hear late that there is no controller are all but the one whose turn it is."""
    for seed in range(6):
        drawn = concrete(of("healing", "controllers-again"), seed)
        late = [entry.target.brokers for entry in drawn.method if entry.name == "link.delay" and entry.target]
        turns = [[broker for broker in range(drawn.cluster.brokers) if broker not in others] for others in late]
        assert len(turns) >= 3
        assert all(before != after and len(after) == 1 for before, after in pairwise(turns))
        assert turns[0] == turns[2]


def test_a_name_is_used_again_and_the_file_still_holds() -> None:
    for seed in range(6):
        drawn = concrete(of("healing", "names-again"), seed)
        made = [entry.action.topic.name for entry in drawn.method if isinstance(entry.action, TopicCreate)]
        assert len(made) == made.count(made[0]) >= 2
        assert [entry.action.topic for entry in drawn.method if isinstance(entry.action, TopicDelete)] == made[1:]
        assert Scenario.loads(drawn.to_toml()) == drawn


def test_a_second_fault_waits_for_what_follows_from_the_first() -> None:
    for seed in range(6):
        method = concrete(of("healing", "second-faults"), seed).method
        inside = [entry.trigger for entry in method if isinstance(entry.trigger, WhenMessage | WhenZk)]
        at = {entry.trigger.time_us for entry in method if isinstance(entry.trigger, At)}
        assert inside
        assert {trigger.since for trigger in inside} <= at


def test_attempts_in_a_row_are_lost_and_the_next_one_meets_something() -> None:
    for seed in range(6):
        method = concrete(of("healing", "retries"), seed).method
        waits = [entry.trigger for entry in method if isinstance(entry.trigger, WhenMessage | WhenZk)]
        numbers = [trigger.occurrence for trigger in waits]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert len({evolve(trigger, occurrence=1) for trigger in waits}) == 1, "all are of the same request"


def test_a_lost_stop_replica_is_one_that_something_has_sent() -> None:
    """A deletion, or a move besides that of the file. For some requests nothing is done."""
    seen = Counter[bool]()
    for entries in drawn_entries("retries", seeds=120):
        waits = [entry.trigger for entry in entries if isinstance(entry.trigger, WhenMessage)]
        if waits and waits[0].message == "StopReplica":
            names = Counter(entry.name for entry in entries)
            seen[names["topic.delete"] > 0 or names["reassign.execute"] > 1] += 1
    assert seen[True] > seen[False] > 0


def test_each_request_of_the_clients_there_are_is_as_likely_as_any_other() -> None:
    entries = drawn_entries("seldom-messages", "transactions", seeds=120)
    waits = [entry.trigger for one in entries for entry in one]
    sent = Counter(trigger.message for trigger in waits if isinstance(trigger, WhenMessage) and not trigger.source)
    of_transactions = {"InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"}
    by_brokers = {"LeaderAndIsr", "StopReplica", "UpdateMetadata", "OffsetsForLeaderEpoch", "ListOffsets"}
    assert of_transactions | {"WriteTxnMarkers"} | by_brokers == set(sent)
    for names in (of_transactions, by_brokers):
        counts = [sent[name] for name in names]
        assert max(counts) < 3 * min(counts)
    written = {trigger.path for trigger in waits if isinstance(trigger, WhenZk)}
    assert {"/controller_epoch", "/config/changes/*", "/admin/delete_topics/*"} <= written


@pytest.mark.parametrize(("share", "short"), [(0.0, 0), (1.0, 20)])
def test_unclean_elections_may_be_held_on_short_logs(share: float, short: int) -> None:
    scenario = evolve(Scenario.loads(SMALL), chaos=[UncleanElections(share=1.0, short_logs=share)])
    assert sum("log.segment.bytes" in concrete(scenario, seed).cluster.config for seed in range(20)) == short


def test_a_directory_is_lost_by_a_broker_that_has_another() -> None:
    drawn = concrete(of("healing", "lost-directories"), 1)
    assert drawn.cluster.log_dirs >= 2
    lost = [entry for entry in drawn.method if entry.name == "log_dir.offline"]
    assert lost
    assert all(entry.action.log_dir is not None for entry in lost if isinstance(entry.action, LogDirOffline))


def drawn_entries(kind: str, *others: str, seeds: int = 40, profile: str | None = None) -> list[list[MethodEntry]]:
    """The entries of scenarios that draw a kind, seed by seed."""
    swarm = of("healing", *others, kind).for_run(profile=profile)
    return [list(concrete(swarm, seed).method) for seed in range(seeds)]


def test_the_one_who_acts_is_the_one_who_is_cut_off() -> None:
    hit = Counter[str]()
    for entries in drawn_entries("cut-off-halfway"):
        for entry in entries:
            if isinstance(entry.trigger, WhenMessage | WhenZk) and isinstance(entry.action, ZkExpire):
                ends = (entry.trigger.source, getattr(entry.trigger, "target", None))
                hit["actor" if entry.target in ends else "another"] += 1
    assert hit["actor"] > 5 * hit["another"], "a leader that a follower asks is the only other one"


def test_requests_about_one_topic_meet_at_one_instant() -> None:
    gaps = [
        certain(later.trigger.delay_us)
        for entries in drawn_entries("requests-meet")
        for later in entries
        if isinstance(later.trigger, After) and later.name in ("topic.delete", "reassign.execute", "topic.expand")
    ]
    assert 0 in gaps
    assert sum(gap <= 20_000 for gap in gaps) > len(gaps) // 4


def test_a_topic_that_is_deleted_is_asked_about_again() -> None:
    """Its creation is asked for in between, or the file would not hold; both come while the first topic is there."""
    names = [[entry.name for entry in entries] for entries in drawn_entries("requests-meet")]
    assert any("topic.expand" in after[after.index("topic.delete") :] for after in names if "topic.delete" in after)


def test_several_topics_are_deleted_together() -> None:
    deleted = [sum(entry.name == "topic.delete" for entry in entries) for entries in drawn_entries("several-topics")]
    assert max(deleted) >= 3
    assert all(count != 1 for count in deleted)


def test_the_last_setting_of_a_layer_is_taken_away() -> None:
    for entries in drawn_entries("setting-layers"):
        last = [entry.action for entry in entries if isinstance(entry.action, ConfigSet)]
        assert last == [] or any(action.remove and not action.config for action in last)


def test_partitions_of_coordinators_are_hit_as_others_are() -> None:
    aimed = Counter[bool]()
    for seed in range(30):
        drawn = concrete(of("healing", "groups", "attrition", "coordinators-again").for_run(), seed)
        there = "__consumer_offsets" in [topic.name for topic in drawn.topics]
        roles = [entry.target.role or "" for entry in drawn.method if entry.target is not None]
        aimed[there] += sum("(__" in role for role in roles)
    assert aimed[True] > 10
    assert aimed[False] == 0
