"""Every transition and every operation of the controller page: exactly these writes to ZooKeeper and these requests to
each broker, in this order, as Kafka 2.3 does it and as the page has it (readings §4)."""

import pytest
from attrs import evolve

from controller.policies import ControllerPolicies
from controller.states import ReplicaState
from scenarios.profiles import PROFILES
from tests.controller.lab import Lab, run
from tests.controller.notes import GOLDEN, Notes, check_golden, numbers
from tests.controller.page import BROKERS, CONTROLLER, OPERATIONS, PARTITION_TRANSITIONS, REPLICA_TRANSITIONS, TP, Item

COMPARED = ("kafka-2.3", "wiki-text")
ITEMS = {item.name: item for item in (*PARTITION_TRANSITIONS, *REPLICA_TRANSITIONS, *OPERATIONS)}


def policies(profile: str) -> ControllerPolicies:
    found = PROFILES[profile].policies
    return evolve(found.controller, reassignment=found.wiki, pinned=CONTROLLER)


def golden(item: Item, profile: str) -> str:
    return f"page/{item.name}" + (f".{profile}" if item.differs else "")


def memory(lab: Lab) -> str:
    """The controller's memory at the end."""
    context = lab.active.context
    lines = ["== controller"]
    for tp in {**dict.fromkeys(context.partitions()), **dict.fromkeys([TP])}:
        states = {broker: context.replica_state(tp, broker) for broker in range(BROKERS)}
        on = [f"{broker} {state.name}" for broker, state in states.items() if state is not ReplicaState.NON_EXISTENT]
        assigned = numbers(context.replicas(tp))
        lines.append(f"   {tp} {context.partition_state(tp).name} AR {{{assigned}}}: {', '.join(on)}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("profile", COMPARED)
@pytest.mark.parametrize("name", ITEMS)
def test_page(name: str, profile: str) -> None:
    item = ITEMS[name]

    async def test(lab: Lab) -> None:
        await item.set_up(lab)
        notes = Notes(lab)
        await item.do(lab)
        check_golden(golden(item, profile), notes.text() + memory(lab))

    run(test, brokers=BROKERS, policies=policies(profile), joins="on-partition" in name or "with-a-move" in name)


@pytest.mark.parametrize("item", [item for item in ITEMS.values() if item.differs], ids=lambda item: item.name)
def test_where_the_code_is_said_to_differ_it_does(item: Item) -> None:
    """Otherwise one golden file is enough."""
    code, page = ((GOLDEN / f"{golden(item, profile)}.txt").read_text() for profile in COMPARED)
    assert code != page


def test_no_golden_file_is_left_over() -> None:
    files = {f"page/{path.stem}" for path in (GOLDEN / "page").glob("*.txt")}
    assert files == {golden(item, profile) for item in ITEMS.values() for profile in COMPARED}
