"""The events of consumer groups in words."""

from emulator.protocol.groups.operations import DeleteGroupsRequest
from emulator.trace import Event
from scenarios.observe.timeline.group_words import GROUP_WORDS
from scenarios.observe.timeline.words import words
from tests.brokers.groups.bench import GROUP, GroupBench


def test_a_group_from_its_first_member_to_its_deletion() -> None:
    bench = GroupBench(elected=False)
    told: list[Event] = []
    for kind in GROUP_WORDS:
        bench.trace.fold(kind, told.append)
    bench.elect()
    member, generation = bench.stable(instance="a")
    bench.commit(5, member, generation, instance_id="a")
    bench.leave((member, "a"))
    bench.send(DeleteGroupsRequest((GROUP,)))
    bench.resign()
    lines = [words(event).replace(member, "MEMBER") for event in told]
    assert lines == [
        "broker 0 coordinates the groups of __consumer_offsets-0 (epoch 0): 0 groups, 0 offsets in its log",
        "MEMBER (a) joins group shoppers",
        "group shoppers at broker 0: PreparingRebalance, generation 0: MEMBER joins",
        "group shoppers at broker 0: CompletingRebalance, generation 1",
        "group shoppers, generation 1: 1 member, MEMBER leads, protocol range",
        "group shoppers at broker 0: Stable, generation 1",
        "group shoppers commits t-0 at 5",
        "MEMBER (a) of group shoppers has left",
        "group shoppers at broker 0: PreparingRebalance, generation 1: MEMBER is removed: left",
        "group shoppers at broker 0: Empty, generation 2",
        "group shoppers has no members in generation 2",
        "group shoppers at broker 0: Dead, generation 2",
        "group shoppers: offsets of t-0 removed (deleted), and the group",
        "broker 0 no longer coordinates the groups of __consumer_offsets-0: 0 groups, 0 offsets",
    ]
