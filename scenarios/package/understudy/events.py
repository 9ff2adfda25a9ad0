"""The events of a trace: each a ``NamedTuple`` that begins with virtual time, sequence and cause."""

from emulator.protocol.events import *
