"""The events that a run records, one file per theme.

Every event begins with ``t_us, seq, cause`` (``emulator.trace``). ``node`` is a broker id (clients are negative). A
``detail`` is text for people; whatever a fold needs has a field of its own. Names, fields and their order go into the
digest of a run.
"""

from emulator.protocol.events.brokers import *
from emulator.protocol.events.clients import *
from emulator.protocol.events.controller import *
from emulator.protocol.events.fetchers import *
from emulator.protocol.events.groups import *
from emulator.protocol.events.isr import *
from emulator.protocol.events.log_dir_copies import *
from emulator.protocol.events.logs import *
from emulator.protocol.events.moves import *
from emulator.protocol.events.partition_gauges import *
from emulator.protocol.events.replicas import *
from emulator.protocol.events.run import *
from emulator.protocol.events.transactions import *
