"""From the controller to the brokers: batches of requests, and one sender for each broker."""

from controller.channels.batch import RequestBatch
from controller.channels.sender import Channels, Sender

__all__ = ["Channels", "RequestBatch", "Sender"]
