"""What brokers and clients ask of the controller: each request becomes an event, which answers it.

A request arrives at a broker process whether or not its controller is active; the event knows by then.
"""

from typing import TYPE_CHECKING

from controller.requests import controlled_shutdown, elect_leaders

if TYPE_CHECKING:
    from controller.controller import Controller


def register(c: "Controller") -> None:
    """Have the process's listener give ``c`` every request that is for controllers."""
    controlled_shutdown.register(c)
    elect_leaders.register(c)
