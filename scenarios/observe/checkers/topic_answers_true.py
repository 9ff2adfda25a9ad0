"""M13: a controller says that topics are created or deleted once they are."""

from __future__ import annotations

from emulator.protocol.control_requests import TopicsAnswered
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.metadata_facts import AnsweredTooEarly


class TopicAnswersTrue(Checker):
    """A controller answers a CreateTopics, CreatePartitions or DeleteTopics without an error once its metadata has a
    leader for each new partition, or no partition of a deleted topic (DelayedCreatePartitions, DelayedDeleteTopics,
    0.10.1 to 3.9).

    Verified: each such answer against the metadata of its broker at that moment.

    Not verified: errors; what other brokers know by then.
    """

    ids = ("M13",)
    statement = "answered(t) ⇒ led(t) in cache, or t ∉ cache: topics are there, or gone, once a controller says so"
    fails_when = "a controller does not wait until topics are there, or gone"

    def on_answered(self, event: TopicsAnswered) -> None:
        for topic, asked in event.partitions.items():
            known = event.known[topic]
            wrong = known if event.asked == "delete" else tuple(number for number in asked if number not in known)
            if wrong:
                self.violated(event, AnsweredTooEarly(event.node, event.asked, topic, wrong), brokers=(event.node,))
