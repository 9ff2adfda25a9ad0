"""Parked work is roused before anything that it relies on changes."""

from emulator.kernel.parking import Parkable, Parking


class Sleeper:
    def __init__(self, parking: Parking) -> None:
        self.parking = parking
        self.awake = 0
        parking.add(self)

    def rouse(self) -> None:
        self.parking.remove(self)
        self.awake += 1


def test_the_thing_is_had_only_by_rousing_what_relies_on_it() -> None:
    parking = Parking()
    sleepers = [Sleeper(parking), Sleeper(parking)]
    thing: dict[str, int] = {}
    parkable = Parkable(thing, parking)
    assert [sleeper.awake for sleeper in sleepers] == [0, 0]
    assert parkable.roused() is thing
    assert [sleeper.awake for sleeper in sleepers] == [1, 1]
    assert parkable.roused() is thing
    assert [sleeper.awake for sleeper in sleepers] == [1, 1]


def test_no_attribute_leads_to_the_thing_past_the_rousing() -> None:
    thing = object()
    parkable = Parkable(thing, Parking())
    assert (Parkable.__slots__, hasattr(parkable, "__dict__")) == (("roused",), False)
