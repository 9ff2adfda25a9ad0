"""contributing.md: each recipe is followed in a copy of the program, with the code of the page, up to the command
that shows what was added."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest
from attrs import frozen

from tests.docs.pages import DOCS, ROOT, text_of
from tests.scenarios.language.builders import small_and, small_with

PAGE = "contributing.md"
FLOORS = ("emulator", "fetchers", "brokers", "controller", "scenarios")
NO_RECIPE = ("A line in the changelog", "House rules")
"""Sections of the page that add nothing."""
_SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"^```(?:python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FOLLOWED: list[str] = []

RENDERED = dict(re.findall(r"^python -m (\S+) (docs/\S+\.md)", text_of(PAGE), re.MULTILINE))
"""The module that renders a page to that page, as the page of recipes has the command."""
SECTIONS = dict(_SECTION.findall(text_of(PAGE)))


def follows(recipe: str) -> Callable[[Callable[[Copy], None]], Callable[[Copy], None]]:
    """Say which section of the page a test follows."""
    _FOLLOWED.append(recipe)
    return lambda test: test


def code_of(recipe: str) -> list[str]:
    """The blocks of code of a section."""
    return _CODE.findall(SECTIONS[recipe])


@frozen
class Copy:
    """A copy of the program and of its pages, to which recipes add things."""

    root: Path

    def write(self, path: str, text: str) -> None:
        """Add a file. Raises: FileExistsError."""
        with open(self.root / path, "x", encoding="utf-8") as file:
            file.write(text)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that is there once."""
        before = (self.root / path).read_text(encoding="utf-8")
        assert before.count(old) == 1, f"{path} has {old!r} {before.count(old)} times"
        (self.root / path).write_text(before.replace(old, new), encoding="utf-8")

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def render(self, module: str) -> str:
        """The text of a page after it was rendered."""
        self.python("-m", module, RENDERED[module])
        return self.read(RENDERED[module])

    def python(self, *arguments: str, exits: int = 0) -> str:
        """The output of the copy, started by ``python ARGUMENTS``."""
        face = os.pathsep.join((str(self.root), str(self.root / "scenarios" / "package")))
        environment = {**os.environ, "PYTHONPATH": face, "PYTHONSAFEPATH": "1"}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == exits, done.stdout + done.stderr
        return done.stdout + done.stderr

    def understudy(self, *lines: str, exits: int = 0) -> str:
        """The output of command lines of the copy, run in turn in one process. ``exits``: the highest code."""
        return self.python("-c", COMMANDS, *lines, exits=exits)


COMMANDS = """
import shlex, sys
from scenarios.cli import main
sys.exit(max(main(shlex.split(line)) for line in sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """One for all recipes: they do not disturb each other."""
    root = tmp_path_factory.mktemp("copy")
    for floor in FLOORS:
        copytree(ROOT / floor, root / floor, ignore=ignore_patterns("node_modules"))
    copytree(DOCS, root / "docs", ignore=ignore_patterns("pictures", "notebooks", "examples"))
    return Copy(root)


@follows("A fault action")
def test_a_fault_action(copy: Copy) -> None:
    """Other actions of the same first word are in other files."""
    [code] = code_of("A fault action")
    copy.write("scenarios/faults/actions/restarts.py", code)
    use = small_and("[[method]]", 'at = "3s"', 'action = "broker.restart"', "target = 1", "times = 2")
    copy.write("restarted.toml", use)
    shown = copy.understudy(
        "validate restarted.toml", "list actions", "run restarted.toml --trace restarted", "timeline restarted"
    )
    assert "restarted.toml: ok" in shown
    assert "kill the broker and start it again at once [target, times]" in shown
    assert re.search(r"broker\.restart 1 \(2 times\)", shown)


def test_an_action_that_no_file_has_is_unknown(copy: Copy) -> None:
    copy.write("unknown.toml", small_and("[[method]]", 'at = "3s"', 'action = "broker.flap"', "target = 1"))
    assert "unknown action 'broker.flap'; did you mean" in copy.understudy("validate unknown.toml", exits=2)


@follows("A release")
def test_a_release(copy: Copy) -> None:
    [code] = code_of("A release")
    copy.write("scenarios/profiles/releases/kafka_3_1.py", code)
    [marks] = re.findall(r"`(<!--[^`]+-->)` and `(<!--[^`]+-->)`", SECTIONS["A release"])
    renders = "scenarios.profiles.profiles_reference"
    with open(copy.root / RENDERED[renders], "a", encoding="utf-8") as page:
        page.write("\n## `kafka-3.1`\n\n{}\n{}\n".format(*marks))
    assert "3.1: kafka-3.0 with KAFKA-13091." in copy.render(renders)
    assert "3.1: kafka-3.0 with KAFKA-13091" in copy.understudy("list profiles", "run quick-move --profile kafka-3.1")


@pytest.mark.slow
@follows("A behaviour that releases do differently")
def test_a_behaviour(copy: Copy) -> None:
    copy.edit(
        "brokers/broker_policies.py",
        "\n    @property\n    def all_min",
        "    refuses_acks_1: bool = False\n\n    @property\n    def all_min",
    )
    words = '"""Whether a produce request may have these ``acks``."""\n'
    copy.edit(
        "brokers/broker_policies.py",
        words,
        f"{words}        if acks == 1 and self.refuses_acks_1:\n            return False\n",
    )
    difference = (
        'Difference(\n title="acks=1", before="is accepted", here="is refused", source="none, 2.7",\n'
        ' policies={"brokers.refuses_acks_1": True},\n    ),\n'
    )
    copy.edit(
        "scenarios/profiles/releases/kafka_2_7.py", '    name="kafka-2.7",', f'    {difference}    name="kafka-2.7",'
    )
    copy.write("acks_1.toml", small_with("producerRate = 100", 'producerRate = 100\nacks = "1"'))
    before, after = (copy.understudy(f"run acks_1.toml --profile {name}") for name in ("kafka-2.6", "kafka-2.7"))
    assert "failed_batches    0" in before
    assert "failed_batches    0" not in after


@follows("A reassignment protocol")
def test_a_reassignment_protocol(copy: Copy) -> None:
    """The example, whose last statement goes into the list of the shapes."""
    example = (ROOT / "tests/controller/plugins/drop_first.py").read_text(encoding="utf-8")
    protocol, _, shape = example.replace("from controller.shapes import Shape\n", "").partition("SHAPE = ")
    copy.write("controller/reassignment/drop_first.py", protocol)
    copy.edit(
        "controller/shapes.py",
        "from controller.reassignment.kafka_42 import",
        "from controller.reassignment.drop_first import DROP_FIRST, DropFirst\n"
        "from controller.reassignment.kafka_42 import",
    )
    with open(copy.root / "controller/shapes.py", "a", encoding="utf-8") as shapes:
        shapes.write(f"\n\nregister({shape.strip()})\n")
    copy.write("moved.toml", small_with('name = "wiki"', 'name = "drop-first"').replace("[3, 4, 5]", "[0, 4, 5]"))
    shown = copy.understudy("list strategies", "list steps", "run moved.toml")
    assert "old replicas are deleted before new ones start" in shown
    assert "drop-first.3" in shown


@follows("A part of a strategy")
def test_a_part_of_a_strategy(copy: Copy) -> None:
    slow_start, *_ = re.findall(r"^```python\n(.*?)^```$", text_of("strategies.md"), re.DOTALL | re.MULTILINE)
    copy.write("scenarios/language/strategies/parts/slow_start.py", slow_start)
    shown = copy.understudy("list strategies", "run quick-move --strategy wiki+slow-start-2")
    assert "+slow-start-N" in shown
    assert "wiki+slow-start-2" in shown


@follows("A figure")
def test_a_figure(copy: Copy) -> None:
    fold, query = code_of("A figure")
    copy.write("scenarios/observe/measures/fetcher_starts.py", fold)
    figures = "scenarios/observe/measures/figures.py"
    copy.edit(
        figures,
        "from scenarios.observe.measures.fold import Fold\n",
        "from scenarios.observe.measures.fold import Fold\n"
        "from scenarios.observe.measures.fetcher_starts import FetcherStarts\n",
    )
    copy.edit(figures, "FOLDS: list[type[Fold]] = [\n", "FOLDS: list[type[Fold]] = [\n    FetcherStarts,\n")
    aggregations = "scenarios/studies/spark/aggregations"
    copy.write(f"{aggregations}/fetcher_starts.py", query)
    copy.edit(f"{aggregations}/__init__.py", "import (\n    burrow,", "import (\n    fetcher_starts, burrow,")
    assert '"fetcher_starts": ' in copy.understudy("run quick-move --format json")
    computed = copy.python(
        "-c",
        "from scenarios.studies.spark.aggregations import queries\n"
        "from scenarios.observe.measures.figures import declared\n"
        "print(sorted(set(declared()) - {name for query in queries() for name in query.figures}))",
    )
    assert computed == "[]\n"


@follows("A checker")
def test_a_checker(copy: Copy) -> None:
    [code] = code_of("A checker")
    copy.write("scenarios/observe/checkers/few_in_sync.py", code)
    copy.write("scenarios/museum/guards/elections.py", GUARD)
    copy.write("scenarios/museum/cases/few_in_sync.toml", ELECTION)
    page = copy.render("scenarios.observe.checkers_page")
    assert "| S90 | `few_in_sync` | safety | two replicas are in sync at most |" in page
    shown = copy.understudy("list invariants", "museum few_in_sync --format json")
    assert re.search("few_in_sync +two replicas are in sync at most", shown)
    assert re.search(r'"caught": true,\s+"clean": true', shown)


ELECTION = """
schema = "scenario/1"
title = "an election takes brokers that are not assigned into the ISR"
horizon = "1m"

[cluster]
brokers = 3
controller = 2

[[topics]]
name = "orders"
assignment = [[0, 1]]

[[method]]
at = "1s"
action = "broker.crash"
target = 0
duration = "20s"
"""
GUARD = '''
"""A guard of elections."""

from attrs import evolve

from controller.state_machines.leader_elections import LeaderElections
from scenarios.museum.guards.guard import Guard, TakenOut


def _with_others(successor):
    return lambda self, state, **changes: evolve(successor(self, state, **changes), isr=(0, 1, 2))


GUARDS = (
    Guard(
        name="few_in_sync",
        title="an election takes brokers that are not assigned into the ISR",
        here="A controller writes an ISR of three brokers.",
        taken_out=(TakenOut(owner=LeaderElections, function="successor", instead=_with_others),),
    ),
)
'''


@pytest.mark.slow
@follows("An API")
def test_an_api(copy: Copy) -> None:
    declared, handler = code_of("An API")
    copy.write("emulator/protocol/describe_x.py", declared)
    copy.write("brokers/requests/describe_x.py", handler)
    router = "            router.add(handler)\n        return router\n"
    copy.edit(
        "brokers/broker.py",
        router,
        f"{router[:-22]}        router.add(DescribeXHandler(manager))\n        return router\n",
    )
    copy.edit(
        "brokers/broker.py",
        "from brokers.requests.router import",
        "from brokers.requests.describe_x import DescribeXHandler\nfrom brokers.requests.router import",
    )
    copy.edit("scenarios/language/known_names.py", "_SENT_BY_ITSELF = (", '_SENT_BY_ITSELF = ("DescribeX", ')
    trigger = 'when = { message = "DescribeX", edge = "delivered" }'
    copy.write("asked.toml", small_and("[[method]]", trigger, 'action = "zk.expire"', "target = 2"))
    assert "how many partitions a broker has" in copy.understudy("list messages", "validate asked.toml")
    assert copy.python("-c", ASK) == "[2] broker 2\n"


ASK = """
from pathlib import Path
from brokers.broker import LISTENER
from emulator.network import Client
from emulator.protocol.describe_x import DescribeXRequest
from emulator.protocol.events import Fault
from scenarios.language import Scenario
from scenarios.runs.runner import Stage, prepare

stage, answers, faults = Stage(prepare(Scenario.loads(Path("asked.toml").read_text()))), [], []
cluster = stage.cluster
cluster.trace.fold(Fault, faults.append)

def begin(_):
    process = cluster.nodes[1].process
    process.spawn(ask, process)

async def ask(process):
    answers.append(await Client(cluster.network, process, 3, LISTENER, 30_000_000).call(DescribeXRequest(), 12))

cluster.world.call_later(2_000_000, begin, None, True)
stage.play()
print([answer.partitions for answer in answers], "broker", faults[-1].target)
"""


@pytest.mark.slow
@follows("A ticket, or a known finding")
def test_a_ticket(copy: Copy) -> None:
    """It is a switch that scenario files have, and what a campaign names where it explains a finding."""
    ticket, reason = code_of("A ticket, or a known finding")
    copy.edit("scenarios/profiles/tickets/isr.py", "TICKETS = (\n", f"TICKETS = (\n{ticket}")
    joins = "scenarios/runs/known/joins.py"
    copy.edit(joins, "JOINS: tuple[Reason, ...] = (\n", f"JOINS: tuple[Reason, ...] = (\n{reason}")
    copy.edit(joins, "    Reason,\n", "    Reason,\n    always,\n")
    assert "a follower joins the ISR before it has caught up" in copy.understudy("list bugs")
    assert "'KAFKA-1234'" in copy.python("-c", EXPLAINED)


EXPLAINED = """
from scenarios.chaos.draw import concrete, default_swarm
from scenarios.runs.known_findings import explained_findings
from scenarios.runs.record import run_scenario

later = ("cut-off-halfway", "requests-meet", "setting-layers", "several-topics", "spoilt-logs", "waits-for-brokers")
drawn = concrete(default_swarm().for_run(profile="kafka-1.1"), 29, dict.fromkeys(later, 0.0))
run = run_scenario(drawn, figures=False)
print([reason.ticket for reason, _ in explained_findings(run).known])
"""


@follows("A version of an API on the wire")
def test_a_version_of_an_api_on_the_wire(copy: Copy) -> None:
    [new_field] = code_of("A version of an API on the wire")
    messages = "scenarios/wire/codec/messages/first_requests.py"
    copy.edit(messages, '60, "DescribeCluster", "0-1"', '60, "DescribeCluster", "0-2"')
    last = 'Field("endpoint_type", "int8", "1+", default=1)'
    copy.edit(messages, f"{last}],", f"{last}, {new_field}],")
    copy.edit("scenarios/wire/apis/base.py", "60: (0, 1)", "60: (0, 2)")
    assert copy.python("-c", WIRE) == "(0, 1) True True\n"
    copy.render("scenarios.wire.versions_page")


WIRE = """
from scenarios.wire.apis.base import wire_apis
from scenarios.wire.codec.frames import decode_request, encode_request
from scenarios.wire.versions import announced

body = {"include_cluster_authorized_operations": False, "endpoint_type": 1, "include_fenced_brokers": True}
found = decode_request(encode_request(60, 2, 1, "client", body)).body
print(announced("3.9", "3.9.1")[60], wire_apis()[60].translates(2), found["include_fenced_brokers"])
"""


@pytest.mark.slow
@follows("A Kafka setting")
def test_a_kafka_setting(copy: Copy) -> None:
    [code] = code_of("A Kafka setting")
    declared = code.replace("backoff", "linger").strip()
    copy.edit("fetchers/policies.py", "    assignment: Assignment = ", f"    {declared}\n    assignment: Assignment = ")
    copy.write("lingers.toml", small_with("[cluster]", '[cluster]\nconfig = { "replica.fetch.linger.ms" = 7 }'))
    page = copy.render("scenarios.language.scenario_reference")
    assert "| `replica.fetch.linger.ms` | " in page
    copy.understudy("validate lingers.toml")
    low = """validate lingers.toml --set 'cluster.config."replica.fetch.linger.ms"=-1'"""
    assert "replica.fetch.linger.ms: the number -1 does not fit" in copy.understudy(low, exits=2)


RACKS = '''"""Racks of brokers, as CSV."""

from pathlib import Path

from scenarios.importing.found import Found
from scenarios.importing.tool_texts import lines_of


def read_racks(path: Path, found: Found) -> None:
    """Take in a rack in each line."""
    for _, line in lines_of(path, "racks as CSV"):
        if line:
            broker, rack = line.split(",")
            found.add_rack(int(broker), rack, str(path))
'''


@follows("A source of `import`")
def test_a_source_of_import(copy: Copy) -> None:
    command = "scenarios/cli/commands/import_command.py"
    copy.write("scenarios/importing/racks_of_csv.py", RACKS)
    copy.edit(command, '"rates")', '"rates", "racks")')
    copy.edit(command, '        "load": "Cruise', '        "racks": "CSV (broker, rack)",\n        "load": "Cruise')
    copy.edit(command, "import cruise_control, rate_sources,", "import cruise_control, racks_of_csv, rate_sources,")
    copy.edit(command, '        "load": cruise', '        "racks": racks_of_csv.read_racks,\n        "load": cruise')
    copy.write("topics.txt", "Topic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n")
    copy.write("racks.csv", "1,east\n2,west\n")
    copy.understudy("import --topics topics.txt --racks racks.csv -o imported.toml")
    assert 'rack_names = ["east", "west"]' in copy.read("imported.toml")


@pytest.mark.slow
@follows("The data plane")
def test_the_data_plane(copy: Copy) -> None:
    tests = copy.root / "tests" / "scenarios" / "runs"
    copytree(ROOT / "tests" / "scenarios" / "runs" / "leaping", tests / "leaping")
    for folder in (tests, tests.parent, tests.parent.parent):
        (folder / "__init__.py").touch()
    says = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/scenarios/runs/leaping/test_treatment.py")
    copy.edit("brokers/log/log.py", '"_file", "_hooks",', '"_file", "_hooks", "_touched",')
    assert "test_every_attribute_is_declared[brokers.log.log.Log]" in copy.python(*says, exits=1)
    copy.edit("tests/scenarios/runs/leaping/treatment.py", '"_hooks": KEPT', '"_hooks": KEPT, "_touched": KEPT')
    copy.python(*says)


def test_each_recipe_is_followed() -> None:
    """A new section of the page needs a test here."""
    assert sorted(SECTIONS) == sorted((*_FOLLOWED, *NO_RECIPE))
