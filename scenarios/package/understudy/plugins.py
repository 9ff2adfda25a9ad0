"""The parts of plug-ins: checkers, fault actions, profiles, bugs, reassignment shapes, parts of strategies, figures
(docs/extend/plugins.md)."""

from controller.move import Move
from controller.reassignment.protocol import RequestedByZnode
from controller.reassignment.steps_work import StepsWork
from controller.shapes import Shape
from controller.shapes import register as register_shape
from controller.steps import Procedure, phases
from emulator.protocol.assignments import without
from emulator.streams import Stream
from scenarios.cluster.clients.admin import KafkaError
from scenarios.errors import BadInput
from scenarios.faults import ActionContext, PerformedAction
from scenarios.language.actions import action
from scenarios.language.clients import Behaviour, Client, behaviour
from scenarios.language.known_names import KnownNames
from scenarios.language.schema.kinds import Boolean, Choice, Integer, ListOf, Text
from scenarios.language.schema.table_reader import key
from scenarios.language.strategies.strategy_parts import Look, PlannedMove, PlanProgress, admission, order, rate
from scenarios.museum import register_ticket
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.checkers.checkers import register as checker
from scenarios.observe.measures.figure import Better, Figure, Limit
from scenarios.observe.measures.figures import register as register_figures
from scenarios.observe.measures.fold import Fold, RunParts
from scenarios.profiles import PROFILES, Difference, Profile
from scenarios.profiles import register as register_profile
from scenarios.profiles.ticket import Ticket

__all__ = [
    "PROFILES",
    "ActionContext",
    "BadInput",
    "Behaviour",
    "Better",
    "Boolean",
    "Checker",
    "Choice",
    "Client",
    "Difference",
    "Figure",
    "Fold",
    "Integer",
    "KafkaError",
    "KnownNames",
    "Limit",
    "ListOf",
    "Look",
    "Moment",
    "Move",
    "PerformedAction",
    "PlanProgress",
    "PlannedMove",
    "Procedure",
    "Profile",
    "RequestedByZnode",
    "RunParts",
    "Shape",
    "StepsWork",
    "Stream",
    "Text",
    "Ticket",
    "action",
    "admission",
    "behaviour",
    "checker",
    "key",
    "order",
    "phases",
    "rate",
    "register_figures",
    "register_profile",
    "register_shape",
    "register_ticket",
    "without",
]
