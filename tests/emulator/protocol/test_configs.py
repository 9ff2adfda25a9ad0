"""Settings declared at the fields that hold them."""

import pytest
from attrs import frozen

from emulator.protocol.configs import LONG_MAX, as_text, config, config_keys, with_settings


@frozen
class Holder:
    pause_us: int = config("some.pause.ms", 5, "a pause", at_least=0)
    sample_us: int = config("some.sample.size.seconds", 2, "the length of a sample")
    limit_us: int = config("some.limit.ms", LONG_MAX, "a limit")
    count: int = config("some.count", 3, "a number")
    enabled: bool = config("some.enable", True, "a switch")
    other: str = "no setting"


def test_durations_are_declared_in_kafkas_unit_and_held_in_microseconds() -> None:
    assert (Holder().pause_us, Holder().sample_us, Holder().count, Holder().enabled) == (5_000, 2_000_000, 3, True)


def test_no_limit_stays_no_limit() -> None:
    assert Holder().limit_us == LONG_MAX
    assert with_settings(Holder(), {"some.limit.ms": -1}).limit_us == -1


def test_the_settings_that_are_stated_replace_the_others_stay() -> None:
    changed = with_settings(Holder(count=7, other="kept"), {"some.pause.ms": 9, "some.enable": False, "foreign": 1})
    assert changed == Holder(pause_us=9_000, count=7, enabled=False, other="kept")


def test_a_class_names_the_settings_it_declares() -> None:
    names = [key.name for key in config_keys(Holder).values()]
    assert names == ["some.pause.ms", "some.sample.size.seconds", "some.limit.ms", "some.count", "some.enable"]


DOUBLES = """
    0.0 0.001 1.5 9999999.0 1.0E-4 -1.0E-4 1.25E-7 3.3333333333333333E-6 1.0E7 1.23456785E7 1.0E22
    1.7976931348623157E308
"""


@pytest.mark.parametrize("text", DOUBLES.split())
def test_a_double_is_shown_as_java_shows_it(text: str) -> None:
    """``text`` is what Double.toString gives."""
    assert as_text(float(text)) == text
