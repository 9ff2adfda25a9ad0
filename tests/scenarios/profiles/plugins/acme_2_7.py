"""A vendor's build of 2.7, as a user would add it: with a fix of 3.0 and a shorter lag time."""

from scenarios.profiles import PROFILES, Difference

PROFILE = PROFILES["kafka-2.7"].with_differences(
    Difference(
        title="a member of the ISR that is not assigned",
        here="leaves it like one that does not fetch, as in 3.0",
        source="KAFKA-9672, 3.0",
        policies={"brokers.unassigned_leave_isr": True},
    ),
    Difference(
        title="a control request that failed is sent again",
        before="after 100 ms",
        here="after 50 ms",
        source="ACME-1",
        policies={"controller.retry_pause_us": 50_000},
    ),
    name="acme-2.7",
    help="Acme's build of 2.7: kafka-2.7 with KAFKA-9672",
    defaults={"replica.lag.time.max.ms": 5_000},
    leaves_out=("Acme's own log format",),
)
