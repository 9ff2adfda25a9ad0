"""The actions of a method, one file for each theme. A new file here is all that a new action takes.

A scenario imports the files of the actions that it names: ``find`` imports one, ``find_all`` imports all.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from scenarios.language.actions import ACTIONS

FILES = {
    "broker": "brokers", "controller": "brokers", "zk": "brokers", "fetcher": "brokers", "disk": "disks",
    "log_dir": "disks", "election": "elections", "gate": "holds", "message": "intercepted", "link": "links",
    "host": "links", "network": "networks", "heal": "healing", "reassign": "reassignments", "config": "config_actions",
    "reassign.mistake": "mistakes", "topic": "topic_actions", "records": "records_deleted", "client": "programs",
    "request": "requests",
    "zookeeper": "zookeeper", "broker.clock": "machines", "broker.clock_sync": "machines", "broker.slow": "machines",
    "broker.fast": "machines", "controller.resign": "zookeeper", "zk.delete": "zookeeper",
}  # fmt: skip
"""Where to look first, so that a run imports only what it uses: the first word of an action's name, or a whole name,
and the file. An action that is not in that file is found by importing all files."""


def find(name: str) -> None:
    """Import the file that declares the action of this name, if there is one."""
    file = FILES.get(name) or FILES.get(name.partition(".")[0])
    if file is not None:
        import_module(f"{__name__}.{file}")
    if name not in ACTIONS:
        find_all()


@cache
def find_all() -> tuple[str, ...]:
    """Import all files. Returns the names of their modules, in order."""
    modules = tuple(f"{__name__}.{name}" for name in sorted(module.name for module in iter_modules(__path__)))
    for module in modules:
        import_module(module)
    return modules
