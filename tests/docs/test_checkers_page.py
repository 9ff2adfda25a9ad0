"""docs/checkers.md: it names every checker, and the checker that it teaches works as it stands there."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from attrs import evolve

from controller.election import Election
from scenarios.checkers import REGISTRY, Checker, Violation
from scenarios.checkers import registry as registry_module
from scenarios.cli.files import load
from scenarios.runner import Run
from tests.docs.pages import fenced, text_of

NAME = "one_controller_per_epoch"
