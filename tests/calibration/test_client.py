"""The clients of the cases that have some see what brokers answer, and the comparison sees what they were answered."""

from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve

from benchmarks.calibration import emulated
from benchmarks.calibration.clients import SCRIPTS, clients
from benchmarks.calibration.clients.base import Ask, Client, Scripted
from benchmarks.calibration.clients.partition import PartitionClient, rounds
from benchmarks.calibration.emulated import RecordedStage
from benchmarks.calibration.facts import Answer, Count, from_json, to_json
from benchmarks.calibration.normal import Stream, differences, normal
from benchmarks.calibration.recording import case_names, load_case, read, recordings

CASE = "clients-leader-dies"


def asked(**policies: Any) -> list[Answer]:
    """The answers that the emulated cluster gives, with other policies of its brokers."""
    stage = RecordedStage(load_case(CASE).for_run(profile="kafka-3.9"))
    setup = stage.cluster.setup
    broker = evolve(setup.broker, policies=evolve(setup.broker.policies, **policies))
    stage.cluster.setup = evolve(setup, broker=broker)
    stage.play()
    return [answer for client in stage.clients for answer in client.answers]


def test_a_client_of_another_broker_is_distinguished() -> None:
    """Where followers answer no consumers, every answer to a fetch from one differs."""
    [path] = recordings(CASE, "3.9.1")
    kafka = normal(fact for fact in read(path).facts if isinstance(fact, Answer))
    found = differences(kafka, normal(asked(followers_serve_consumers=False)))
    assert {each.stream for each in found} == {Stream("orders", f"answers of {broker}") for broker in range(3)}
    assert all(": fetch " in line for each in found for line in each.kafka)


def unanswered(client: Client) -> Iterator[Ask | float]:
    """The wishes of a client that no broker answers."""
    talk = client.talk()
    wish = next(talk, None)
    while wish is not None:
        yield wish
        try:
            wish = talk.send(None)
        except StopIteration:
            return


def test_a_round_asks_every_broker_and_goes_on_without_an_answer() -> None:
    scenario = load_case(CASE)
    client = PartitionClient(scenario, lambda: 0, "3.9.1")
    wishes = list(unanswered(client))
    seconds = [wish for wish in wishes if not isinstance(wish, Ask)]
    assert seconds[::2] == rounds(scenario)
    brokers = {wish.broker for wish in wishes if isinstance(wish, Ask)}
    assert brokers == set(range(scenario.cluster.brokers))
    assert {answer.text.rpartition(": ")[2] for answer in client.answers} == {"no answer"}


@pytest.mark.parametrize("tag", SCRIPTS)
def test_each_script_belongs_to_a_case_and_goes_on_without_an_answer(tag: str) -> None:
    [scenario] = [found for case in case_names() if tag in (found := load_case(case)).tags]
    asking = clients(scenario, lambda: 0, "3.9.1")
    assert len(asking) == len(SCRIPTS[tag][1])
    for client in asking:
        assert isinstance(client, Scripted)
        asked = [wish.broker for wish in unanswered(client) if isinstance(wish, Ask)]
        assert asked == [broker for _, broker, _ in client.steps]
        assert {answer.text.rpartition(": ")[2] for answer in client.answers} == {"no answer"}
        assert len(client.answers) == len(client.steps)
        assert [at_s for at_s, _, _ in client.steps] == sorted(at_s for at_s, _, _ in client.steps)


def test_several_clients_ask_beside_each_other() -> None:
    """A member's answer waits for the other members, which ask meanwhile."""
    stage = RecordedStage(load_case("clients-group").for_run(profile="kafka-2.4"))
    stage.play()
    joined = [answer.text for client in stage.clients for answer in client.answers if "generation 1" in answer.text]
    assert joined == [
        "1 s, broker 0: join: NONE, generation 1, a leads a, b",
        "2 s, broker 0: join: NONE, generation 1, a leads ",
    ]


def test_the_counts_of_metrics_are_compared() -> None:
    """Were a batch that is too large counted elsewhere, the comparison would say so."""
    case = "clients-counts"
    played = emulated.played(load_case(case), "kafka-2.4").facts
    counts = [fact for fact in played if isinstance(fact, Count)]
    assert [from_json(to_json(fact)) for fact in counts] == counts
    other = [evolve(fact, value=fact.value + 1) if "BytesRejected" in fact.metric else fact for fact in counts]
    found = differences(normal(counts), normal(other))
    assert [each.stream for each in found] == [
        Stream("-", "counts of 0"), Stream("-", "counts of 1"), Stream("orders", "counts of 0"),
    ]  # fmt: skip


def test_an_answer_is_a_line_of_a_recording() -> None:
    answer = Answer(1, "orders", "2 s: acks=1: NONE, offset 4, start 0")
    assert from_json(to_json(answer)) == answer
