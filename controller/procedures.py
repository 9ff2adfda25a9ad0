"""The procedures whose steps a scenario file can name: each is declared where it is carried out."""

from controller.controller import FAILOVER
from controller.operations.brokers import BROKER_FAILURE, BROKER_STARTUP
from controller.operations.preferred import PREFERRED
from controller.operations.shutdown import SHUTDOWN
from controller.operations.topics import NEW_PARTITION
from controller.reassignment.kafka_42 import KAFKA_42
from controller.reassignment.kafka_6794 import KAFKA_6794
from controller.reassignment.kip_455 import KIP_455
from controller.reassignment.wiki import WIKI
from controller.steps import PHASES, Procedure
from controller.topic_deletion import DELETE

PROCEDURES: dict[str, Procedure] = {}
"""Name to procedure."""
STEPS: dict[str, Procedure] = {}
"""Step to the procedure that it belongs to."""
ALIASES: dict[str, str] = {}
"""Another name of a step to its own name."""


def register(*procedures: Procedure) -> None:
    """Make steps known to scenario files; a procedure that is registered already stays as it is.

    Raises: ValueError for another procedure of the same name, a step without that name as its prefix, and a
        reassignment protocol whose phases are not those of ``PHASES``.
    """
    for procedure in procedures:
        if PROCEDURES.get(procedure.name, procedure) is not procedure:
            raise ValueError(f"there is a procedure {procedure.name!r} already")
        if any(step.partition(".")[0] != procedure.name for step in procedure.steps):
            raise ValueError(f"a step of {procedure.name!r} is not called {procedure.name}.SOMETHING")
        if procedure.phases and procedure.phases.keys() != PHASES.keys():
            raise ValueError(f"{procedure.name!r} does not say where the phases are: {', '.join(PHASES)}")
        PROCEDURES[procedure.name] = procedure
        STEPS.update(dict.fromkeys(procedure.steps, procedure))
        ALIASES.update(procedure.aliases)


register(
    WIKI, KAFKA_6794, FAILOVER, NEW_PARTITION, BROKER_FAILURE, BROKER_STARTUP, DELETE, KAFKA_42, KIP_455, SHUTDOWN,
    PREFERRED,
)  # fmt: skip
