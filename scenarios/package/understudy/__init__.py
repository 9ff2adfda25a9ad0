"""An emulated Kafka cluster in virtual time: script failures, replay them bit for bit, compare strategies.

This module is what other projects import. A scenario file and its parts, and running one::

    from understudy import Scenario

    run = Scenario.load("mine.toml").run(seed=7)
    run.assert_expectations()

``understudy.testing``: a cluster in a test. ``understudy.events``: what a trace holds. ``understudy.spark``: sweeps and
comparisons, which need Java.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.public import *
else:
    # The command line is started through this package too, and has no use for all of these names.
    def __getattr__(name: str) -> Any:
        """Import the names of ``understudy.public`` when one of them is wanted."""
        return getattr(import_module(f"{__name__}.public"), name)
