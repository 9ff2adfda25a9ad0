"""The client of the cases that ask for data sees what brokers answer, and the comparison sees what it was answered."""

from typing import Any

from attrs import evolve

from benchmarks.calibration.client import Ask, Client, rounds
from benchmarks.calibration.emulated import RecordedStage
from benchmarks.calibration.facts import Answer, from_json, to_json
from benchmarks.calibration.normal import Stream, differences, normal
from benchmarks.calibration.recording import load_case, read, recordings

CASE = "clients-leader-dies"


def asked(**policies: Any) -> list[Answer]:
    """The answers that the emulated cluster gives, with other policies of its brokers."""
    stage = RecordedStage(load_case(CASE).for_run(profile="kafka-3.9"))
    setup = stage.cluster.setup
    broker = evolve(setup.broker, policies=evolve(setup.broker.policies, **policies))
    stage.cluster.setup = evolve(setup, broker=broker)
    stage.play()
    return list(stage.answers)


def test_a_client_of_another_broker_is_distinguished() -> None:
    """Where followers answer no consumers, every answer to a fetch from one differs."""
    [path] = recordings(CASE, "3.9.1")
    kafka = normal(fact for fact in read(path).facts if isinstance(fact, Answer))
    found = differences(kafka, normal(asked(followers_serve_consumers=False)))
    assert {each.stream for each in found} == {Stream("orders", f"answers of {broker}") for broker in range(3)}
    assert all(": fetch " in line for each in found for line in each.kafka)


def test_a_round_asks_every_broker_and_goes_on_without_an_answer() -> None:
    scenario = load_case(CASE)
    client = Client(scenario, lambda: 0)
    wishes = []
    talk = client.talk()
    wish = next(talk, None)
    while wish is not None:
        wishes.append(wish)
        try:
            wish = talk.send(None)
        except StopIteration:
            break
    seconds = [wish for wish in wishes if not isinstance(wish, Ask)]
    assert seconds[::2] == rounds(scenario)
    brokers = {wish.broker for wish in wishes if isinstance(wish, Ask)}
    assert brokers == set(range(scenario.cluster.brokers))
    assert {answer.text.rpartition(": ")[2] for answer in client.answers} == {"no answer"}


def test_an_answer_is_a_line_of_a_recording() -> None:
    answer = Answer(1, "orders", "2 s: acks=1: NONE, offset 4, start 0")
    assert from_json(to_json(answer)) == answer
