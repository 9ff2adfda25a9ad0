"""The errors that an event may end with. An error that is neither here nor one of ZooKeeper's is a bug of this
emulation and ends the run."""


class ControllerError(Exception):
    """An event failed: as in Kafka it is logged, its remaining work is lost, and the next event follows."""


class ControllerMoved(ControllerError):
    """A fenced write failed its check of /controller_epoch: another controller has been elected (KAFKA-6082)."""


class StateChangeFailed(ControllerError):
    """A change cannot be made, such as a write to a topic that does not exist."""


class IllegalState(ControllerError):
    """The controller's own state is inconsistent, such as a batch of requests that the last event left unsent."""
