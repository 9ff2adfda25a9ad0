"""The procedures whose steps a scenario file can name. Each is declared where it is carried out; the failover is
declared here, as its steps run through the whole controller, which reading a scenario does not need."""

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

FAILOVER = Procedure(
    "failover",
    {
        "failover.F1": "register the ZooKeeper handlers",
        "failover.F2": "delete old ISR-change and log-dir notifications",
        "failover.F3": "load brokers, topics, assignments and leaders",
        "failover.F4": "find the topics to delete",
        "failover.F5": "send UpdateMetadata with the live brokers",
        "failover.F6": "start the replica state machine",
        "failover.F7": "start the partition state machine, electing leaders",
        "failover.F8": "resume reassignments",
        "failover.F9": "resume topic deletions and preferred elections",
    },
    aliases={
        "failover.1.1": "failover.F6",
        "failover.1.2": "failover.F6",
        "failover.2.1": "failover.F7",
        "failover.2.2": "failover.F7",
        "failover.3": "failover.F8",
        "failover.4": "failover.F9",
    },
)
"""The failover, in the order of Kafka's onControllerFailover. The aliases are the controller page's numbers for the
same work."""

PROCEDURES: dict[str, Procedure] = {}
"""The procedures by name."""
STEPS: dict[str, Procedure] = {}
"""The procedure of each step."""
ALIASES: dict[str, str] = {}
"""The step that another name means."""


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
            raise ValueError(f"{procedure.name!r} has to name a step for each of the phases {', '.join(PHASES)}")
        PROCEDURES[procedure.name] = procedure
        STEPS.update(dict.fromkeys(procedure.steps, procedure))
        ALIASES.update(procedure.aliases)


register(
    WIKI, KAFKA_6794, FAILOVER, NEW_PARTITION, BROKER_FAILURE, BROKER_STARTUP, DELETE, KAFKA_42, KIP_455, SHUTDOWN,
    PREFERRED,
)  # fmt: skip


def still_to_come(step: str, phase: str) -> str:
    """The last step of a protocol's phase, where that comes after ``step``; "": it does not, or there is no such
    phase."""
    procedure = STEPS[step]
    span, names = procedure.phases.get(phase), list(procedure.steps)
    return span.last if span is not None and names.index(step) < names.index(span.last) else ""


STOPS_LATER = {"kip-455.U1": "kip-455.U3"}
"""The steps outside the phase of recording that write an assignment before the replicas which leave it are stopped,
each with the step that has stopped them when it ends."""


def stopped_after(step: str) -> str:
    """The step that has stopped, when it ends, the replicas that leave the assignment in ``step``; "": they were
    stopped before."""
    record = STEPS[step].phases.get("move.record")
    records = record is not None and step == record.first
    return still_to_come(step, "move.stop") if records else STOPS_LATER.get(step, "")
