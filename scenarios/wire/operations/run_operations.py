"""Operations on the run itself."""

from scenarios.wire.live_stage import LiveStage
from scenarios.wire.operations.performing import NoKeys, Reply, operation

STOP = "stop"


@operation(STOP)
def stop(stage: LiveStage, asked: NoKeys, reply: Reply) -> None:
    """End the run, and judge it."""
    reply({"ok": True})
    stage.stop()
