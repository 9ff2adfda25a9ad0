"""Who reads a topic: consumers that are assigned its partitions, without a group."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.language.client_configs import CONSUMER_CONFIG, CONSUMER_SETTINGS
from scenarios.language.configs import ConfigValue
from scenarios.language.kinds import DURATION, SOME_TIME, Choice, Integer, ListOf, as_tuple
from scenarios.language.names import TOPIC_NAME
from scenarios.language.reader import key

_RESETS = ("latest", "earliest", "none")


@frozen(kw_only=True)
class ConsumerSpec:
    """A consumer of one topic, and how it reads."""

    topic: str = field(metadata=key(TOPIC_NAME, "the topic read"))
    partitions: tuple[int, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(Integer(0), unique=True), "its partitions; absent = all that the topic has at first"),
    )
    offset_reset: str = field(
        default="latest",
        metadata=key(Choice(_RESETS, "policy"), "auto.offset.reset: where it begins, and begins anew when it is lost"),
    )
    poll_us: int = field(
        default=0, metadata=key(DURATION, "what the application needs for the messages of one poll", name="poll")
    )
    start_us: int = field(default=0, metadata=key(DURATION, "when it begins", name="start"))
    stop_us: int | None = field(
        default=None, metadata=key(SOME_TIME, "when it is closed; absent = with the run", name="stop")
    )
    config: Mapping[str, ConfigValue] = field(
        factory=dict, metadata=key(CONSUMER_CONFIG, "consumer settings under Kafka's names")
    )

    def __attrs_post_init__(self) -> None:
        if self.stop_us is not None and self.stop_us <= self.start_us:
            raise BadInput("the consumer stops before it starts; write a later stop", where="stop")

    def setting(self, name: str) -> int:
        """A consumer setting: the one stated, else Kafka's default."""
        return int(self.config.get(name, CONSUMER_SETTINGS[name].default))
