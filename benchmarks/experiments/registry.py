"""All experiments: every module here whose name is that of one (e4, e16) holds an ``EXPERIMENT``."""

import pkgutil
import re
from importlib import import_module

import benchmarks.experiments as room
from benchmarks.experiments.experiment import Experiment


def experiments() -> dict[str, Experiment]:
    """The experiments by name, in the order of their numbers."""
    names = [module.name for module in pkgutil.iter_modules(room.__path__) if re.fullmatch(r"e\d+\w*", module.name)]
    found: dict[str, Experiment] = {}
    for name in sorted(names, key=lambda name: (int(re.findall(r"\d+", name)[0]), name)):
        found[name] = import_module(f"{room.__name__}.{name}").EXPERIMENT
        assert found[name].name == name, f"{name}.py calls itself {found[name].name}"
    return found
