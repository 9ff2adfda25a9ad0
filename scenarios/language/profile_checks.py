"""What only some profiles know: a scenario that asks others for it is refused, not run without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.errors import BadInput
from scenarios.language.kinds import at
from scenarios.language.profile_names import PROFILES, Profile
from scenarios.language.strategies import SHAPES
from scenarios.language.strategies.throttle import THROTTLE

if TYPE_CHECKING:
    from scenarios.language.scenario import Scenario
    from scenarios.language.workloads import WorkloadSpec

NOT_EVERYWHERE = {"replica.lag.max.messages": "it went with 0.9 (KAFKA-1546)"}
"""The settings that only the profiles know which say so (``Profile.also_knows``), and why."""


def check_profile_knows(scenario: Scenario) -> None:
    """Refuse, with `BadInput`, a setting, a number of acks or a throttle that the scenario's profile does not have."""
    profile = PROFILES[scenario.profile]
    for name in scenario.cluster.config:
        if name in NOT_EVERYWHERE and name not in profile.also_knows:
            having = ", ".join(other.name for other in PROFILES.values() if name in other.also_knows)
            why = NOT_EVERYWHERE[name]
            raise BadInput(
                f"profile {profile.name!r} has no such setting, {why}; profiles that have it: {having}",
                where=f"cluster.config.{name}",
            )
    for index, load in enumerate(scenario.workloads):
        at(f"workloads[{index}].acks", lambda load: _check_acks(profile, load), load)
    _check_throttle(scenario)


def _check_throttle(scenario: Scenario) -> None:
    throttle, strategy = scenario.strategy.limit, scenario.strategy.parsed
    told = SHAPES[strategy.shape].api or PROFILES[scenario.profile].tells_moves
    if throttle is not None and throttle.only_reassigned and not told:
        telling = ", ".join(shape.name for shape in SHAPES.values() if shape.api)
        raise BadInput(
            f"{throttle.name} binds nobody under {strategy.shape!r}, whose brokers are not told which replicas a move "
            f"adds; write {THROTTLE}RATE, or a shape that tells them: {telling}",
            where="strategy.name",
        )


def _check_acks(profile: Profile, load: WorkloadSpec) -> None:
    if load.required_acks > 1 and not profile.counts_acks:
        raise BadInput(
            f"{load.acks} is a number of replicas, which went with 0.9 (KAFKA-1697), and the profile is "
            f'{profile.name!r}; write "0", "1" or "all"'
        )
