"""A counterexample that is run in the emulator: the same comes about, or not, by what the run leaves behind."""

from attrs import evolve

from benchmarks.specification.agreement import AT_END, Left, agreement
from benchmarks.specification.questions import CONFIGURATIONS

BY_NAME = {one.name: one for one in CONFIGURATIONS}
STEPS = (
    "ToolAsksForMove", "PartitionReassignment", "Kafka6794Steps1To5", "Kafka6794Step6", "Kafka6794Steps7And8",
    "Kafka6794Step9", "Kafka6794Steps1To5",
)  # fmt: skip


def printed(*actions: str) -> str:
    """The counterexample as TLC prints it."""
    states = [f"State {number}: <{action} line 1>\n" for number, action in enumerate(("Initial", *actions), 1)]
    return "".join(f"{state}/\\ alive = <<TRUE, TRUE, TRUE>>\n" for state in states)


def test_the_controller_that_dies_in_the_last_hop_leaves_a_replica() -> None:
    stray = BY_NAME["kafka-6794-stray"]
    assert agreement(stray, printed(*STEPS, "ControllerDies")) == "the same: replicas on 1, 2, list 2, leader 1"
    assert agreement(stray, printed(*STEPS)) == "not so: replicas on 2, list 2, leader 2"


def test_the_old_list_is_looked_for_in_each_write_of_the_topic() -> None:
    assert agreement(BY_NAME["kafka-6794-oar"], printed(*STEPS[:3])).startswith("the same: [")
    assert agreement(evolve(BY_NAME["kafka-6794-oar"], protocol="wiki"), printed(*STEPS[:1])) == "not so"


def test_what_cannot_be_written_or_seen_is_said() -> None:
    assert agreement(BY_NAME["kafka-2.4.1-kip-570"], printed("SendsAgain")) == (
        "not written: SendsAgain has no action in a scenario file"
    )
    assert agreement(BY_NAME["kafka-2.3.1-isr-unknown"], "").startswith("not looked for")


def test_each_property_of_the_end_can_hold_and_can_be_broken() -> None:
    after = frozenset({2, 3})
    moved = Left(after, after, 2, after, moving=False)
    assert not any(broken(moved, after) for broken in AT_END.values())
    assert AT_END["NoneLostOrStray"](moved._replace(disks=frozenset({1, 2, 3})), after)
    assert AT_END["NoneLost"](moved._replace(disks=frozenset({2})), after)
    assert AT_END["LeaderAndIsrAssigned"](moved._replace(leader=1), after)
    assert AT_END["MoveNotLost"](moved._replace(listed=frozenset({1, 2}), disks=frozenset({1, 2})), after)
