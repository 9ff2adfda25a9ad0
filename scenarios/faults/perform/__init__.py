"""What each action does: ``PERFORM[name](actions, entry, brokers)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from scenarios.faults.perform import brokers, disks, gates, links, messages, operator

if TYPE_CHECKING:
    from scenarios.faults.actions import Actions
    from scenarios.language import MethodEntry

Perform = Callable[["Actions", "MethodEntry", tuple[int, ...]], None]

PERFORM: Mapping[str, Perform] = {
    "broker.crash": brokers.crash,
    "broker.stop": brokers.stop,
    "broker.controlled_shutdown": brokers.shut_down,
    "broker.start": brokers.start,
    "broker.pause": brokers.pause,
    "broker.resume": brokers.resume,
    "broker.fail_start_replica": brokers.fail_start_replica,
    "broker.ignore_become_leader": brokers.ignore_become_leader,
    "controller.crash": brokers.crash,
    "zk.expire": brokers.expire_session,
    "fetcher.fail_partition": brokers.fail_partition,
    "disk.fail": disks.fail,
    "disk.slow": disks.slow,
    "disk.full": disks.fill,
    "disk.heal": disks.heal,
    "disk.corrupt": disks.corrupt,
    "log_dir.offline": disks.take_offline,
    "link.cut": links.cut,
    "link.heal": links.heal,
    "link.delay": links.delay,
    "reassign.execute": operator.execute_plan,
    "reassign.cancel": operator.cancel_moves,
    "reassign.list": operator.list_moves,
    "reassign.verify": operator.verify_moves,
    "topic.create": operator.create_topic,
    "topic.delete": operator.delete_topic,
    "topic.expand": operator.expand_topic,
    "election.preferred": operator.elect_preferred,
    "config.set": operator.set_config,
    "gate.hold": gates.hold,
    "gate.release": gates.release,
    "message.cut": messages.cut,
    "message.delay": messages.delay,
    "message.hold": messages.hold,
    "message.release": messages.release,
}

__all__ = ["PERFORM"]
