"""Bad input: one line on standard error that says where, what and what would be right; exit code 2; nothing on
standard output, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.cli.conftest import Call
from tests.scenarios.language.builders import SMALL, small_and, small_with
from tests.scenarios.runs.dataset.runs import write

COMMAND_LINES: dict[str, tuple[str, ...]] = {
    "": ("no command is given", "understudy demo"),
    "help run": ("there is no command 'help'", "understudy COMMAND --help"),
    "rum FILE": ("unknown command 'rum'", "did you mean 'run'?"),
    "run": ("required: FILE", "understudy run --help"),
    "run FILE more": ("'more' is one argument too many", "--help"),
    "run FILE --sede 3": ("unknown option '--sede'", "did you mean '--seed'?"),
    "--quiet run FILE": ("--quiet stands before the command", "write understudy run --quiet"),
    "run FILE --see 3": ("unknown option '--see'", "did you mean '--seed'?"),
    "run FILE --seed": ("--seed: needs a value", "--help"),
    "run FILE --seed x": ("--seed: 'x'", "whole number"),
    "run FILE --seed -1": ("--seed: '-1'", "from 0"),
    "run FILE --seed 99999999999999999999": ("--seed: '99999999999999999999'", "write one"),
    "run FILE --seeds 1-3": ("--seeds: '1-3' names no seeds", "0:20"),
    "run FILE --seeds 4:4": ("--seeds: '4:4' is empty", "4:5"),
    "run FILE --seeds 0:999999999": ("--seeds", "at most 100,000"),
    "run FILE --seeds 0:2 --seed 1": ("--seed: cannot be combined with --seeds", "leave one out"),
    "run FILE --jobs 2": ("--jobs", "--seeds"),
    "run FILE --jobs 0 --seeds 0:2": ("--jobs: '0'", "from 1"),
    "run FILE --check --trace OUT": ("--check", "leave out --trace"),
    "run FILE --format yaml": ("--format: unknown value 'yaml'", "text, json"),
    "run FILE --log inf": ("--log: unknown value 'inf'", "did you mean 'info'?"),
    "run FILE --strategy wikki": ("--strategy: unknown strategy 'wikki'", "did you mean 'wiki'?"),
    "run FILE --strategy width-K": ("--strategy: 'width-K' stands for a number", "width-2"),
    "run FILE --profile kafka-2.33": ("--profile: unknown profile", "'kafka-2.3'?"),
    "run FILE --set horizon": ("--set: 'horizon' sets nothing", "key=value"),
    "run FILE --set horizn=5m": ("--set horizn: unknown key 'horizn'", "did you mean 'horizon'?"),
    "run FILE --set seed=99999999999999999999": ("--set seed: the number is too large", "at most"),
    "run FILE --set cluster.brokers=many": ("--set cluster.brokers", "an integer"),
    "run FILE --trace BELOW": ("cannot be written (Not a directory)", "write permission"),
    "run missing.toml": ("missing.toml: there is no such scenario file", "the library has broker-loses-its-network"),
    "run quick-mov": ("quick-mov: there is no such scenario file", "did you mean 'quick-move'?"),
    "run smal.toml": ("smal.toml: there is no such scenario file", "did you mean 'small.toml'?"),
    "run FOLDER": ("cannot be read (Is a directory)", "name a scenario file"),
    "sweep FILE --out OUT": ("--seeds: no seeds are named", 'seeds = "0:20" under [study]'),
    "sweep FILE --seeds 0:2 --out OUT --strategy one-by-one": ("--strategy", "write 'kafka-6794'"),
    "sweep FILE --seeds 0:2 --out OUT --strategy wiki --strategy wiki": ("--strategy: names wiki twice", "once"),
    "sweep FILE --seeds 0:2 --out OUT --profile kafka-2.3 --profile kafka-2.3": ("--profile: names kafka-2.3", "once"),
    "sweep FILE --seeds 0:2 --out OUT --grid horizon": ("--grid: 'horizon' names no key", "write key=a,b"),
    "sweep FILE --seeds 0:2 --out OUT --grid horizn=5m": ("--grid horizn=5m: unknown key", "did you mean 'horizon'?"),
    "sweep FILE --seeds 0:2 --out OUT --grid horizon=5m,5": ("--grid horizon=5: the number 5", "write"),
    "sweep FILE --seeds 0:2 --out OUT --grid strategy.name=wiki": ("--grid strategy.name", "write --strategy once"),
    "sweep FILE --seeds 0:2 --out OUT --grid horizon=5m --grid horizon=6m": ("--grid horizon: the grid has", "at once"),
    "sweep FILE --seeds 0:2 --out BELOW": ("cannot be written (Not a directory)", "write permission"),
    "sweep wiki-steps.toml --seeds 0:2 --out OUT --strategy kafka-6794": ("no step 'wiki.3'", "write a phase"),
    "compare missing": ("missing: there is no such folder", "--out folder of a sweep"),
    "compare FOLDER": ("is no data set", "manifest.json is missing"),
    "report missing": ("missing: there is no such folder", "--out folder of a sweep"),
    "report FOLDER -o FOLDER": ("is a folder", "name a file, as report.html"),
    "report FOLDER -o missing/report.html": ("there is no folder missing", "make it, or name another"),
    "compare FOLDER --minimum lots": ("--minimum: 'lots' is not understood", "such as 1%"),
    "compare FOLDER --where wiki": ("--where: 'wiki' names no arms", "strategy=wiki"),
    "timeline missing": ("missing: there is no such folder", "--trace folder of a run"),
    "timeline FOLDER --from soon": ("--from: 'soon' is not understood", '"5s"'),
    "timeline FOLDER --fault 0": ("--fault: '0'", "from 1"),
    "chaos --for 0s": ("--for: nothing can be done in '0s'", "such as 10s or 10m"),
    "chaos --for": ("--for: needs a value, as in --for VALUE",),
    "chaos --for -5s": ("--for: '-5s' is not understood", "such as"),
    "chaos --seeds -3:4": ("--seeds: '-3:4' names no seeds", "write A:B such as 0:20"),
    "chaos NAMELESS": ("FILE: the path is empty; write one",),
    "chaos --seeds 0:1 --out NAMELESS": ("--out: the path is empty; write one",),
    "run FILE --trace NAMELESS": ("--trace: the path is empty; write one",),
    "timeline NAMELESS": ("TRACE: the path is empty; write one",),
    "run FILE --set cluster.profile=kafka-2.4": ("--set cluster.profile: unknown key 'profile'", "the top of the file"),
    "diff small.toml folder": ("small.toml: is no folder", "--trace folder of a run"),
    "chaos --seeds 0:99999999999999999999": ("are too large; the largest seed is 9223372036854775807",),
    "chaos --seeds 0:200000": ("are too many seeds; at most 100,000 at once",),
    "shrink FILE --out folder": ("folder: is a folder", "name a file"),
    "shrink FILE --out missing/x.toml": ("there is no folder missing", "make it"),
    "museum 9539": ("BUG: unknown bug '9539'", "did you mean 'KAFKA-9539'?"),
    "museum joins_caught": ("BUG: unknown bug 'joins_caught'", "did you mean 'joins_caught_up'?"),
    "list step": ("unknown value 'step'", "did you mean 'steps'?"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of a test, with a good scenario, one that only one strategy can run, and an empty folder."""
    (tmp_path / "small.toml").write_text(SMALL)
    step = small_and("[[method]]", 'when = { step = "wiki.3" }', 'action = "controller.crash"')
    (tmp_path / "wiki-steps.toml").write_text(step)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


@pytest.mark.parametrize("words", COMMAND_LINES)
def test_a_command_line_that_cannot_be_used(words: str, call: Call, place: Path) -> None:
    names = {"FILE": "small.toml", "OUT": "out", "BELOW": "small.toml/out", "FOLDER": "folder", "NAMELESS": ""}
    before = contents(place)
    called = call(*(names.get(word, word) for word in words.split()))
    assert (called.code, called.out) == (2, ""), called
    assert called.line.startswith("understudy: ")
    for piece in COMMAND_LINES[words]:
        assert piece in called.line
    assert contents(place) == before


FILES: dict[str, tuple[str, str, str]] = {
    "broken TOML": (SMALL + "x = = 1", "broken TOML", "correct the syntax"),
    "unknown key": (small_with("horizon", "horizn"), "horizn: unknown key", "did you mean 'horizon'?"),
    "key of the whole file": (
        small_with("[strategy]", '[strategy]\nhorizon = "5m"'),
        "strategy.horizon: unknown key 'horizon'",
        "('horizon' belongs to the top of the file, above all tables)",
    ),
    "unknown step": (
        small_and("[[method]]", 'when = { step = "move.strat" }', 'action = "controller.crash"'),
        "method[1].when.step: unknown step",
        "'move.start'?",
    ),
    "unknown broker": (small_with("[3, 4, 5]", "[3, 4, 50]"), "broker 50", "0 to 6"),
    "unknown partition": (small_with("partition = 0", "partition = 2"), "plan.partitions[0].partition", "0 to 1"),
    "duplicate replicas": (small_with("[3, 4, 5]", "[3, 4, 3]"), "plan.partitions[0].replicas[2]", "twice"),
    "empty replica list": (small_with("[3, 4, 5]", "[]"), "the list is empty", "at least one"),
    "strategy that does not exist": (small_with('"wiki"', '"wikki"'), "unknown strategy 'wikki'", "'wiki'?"),
}


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("command", ["validate", "run", "sweep"])
def test_a_scenario_file_that_cannot_be_used(command: str, case: str, call: Call, tmp_path: Path) -> None:
    text, where, helps = FILES[case]
    file = tmp_path / "bad.toml"
    file.write_text(text)
    rest = ["--seeds", "0:2", "--out", tmp_path / "out"] if command == "sweep" else []
    called = call(command, file, *rest)
    assert (called.code, called.out) == (2, "")
    assert called.line.startswith(f"understudy: {file}")
    assert where in called.line
    assert helps in called.line
    assert contents(tmp_path) == [file]


def test_validate_looks_at_every_file(call: Call, place: Path) -> None:
    (place / "bad.toml").write_text(small_with("horizon", "horizn"))
    called = call("validate", "bad.toml", "small.toml", "wiki-steps.toml")
    assert called.code == 2
    assert "bad.toml:3:1 horizn" in called.line
    assert called.out.splitlines() == [
        "small.toml: ok: small (runs under wiki, kafka-6794, kafka-42, kip-455, grow-then-shrink, width-2)",
        "wiki-steps.toml: ok: small (runs under wiki)",
    ]


def test_a_min_isr_that_the_replicas_cannot_reach_is_a_hint(call: Call, tmp_path: Path) -> None:
    """Kafka accepts it without a word."""
    file = tmp_path / "small.toml"
    changes = """
[[method]]
at = "1s"
action = "topic.create"
topic = { name = "more", replication_factor = 1 }

[[method]]
at = "2s"
action = "config.set"
topic = "orders"
config = { "min.insync.replicas" = 4 }
"""
    file.write_text(SMALL + changes)
    set_2 = ("--set", 'cluster.config."min.insync.replicas"=2')
    hint = "min.insync.replicas is {}, and a partition has {}: no write with acks=all can succeed"
    assert call("validate", file, *set_2).out.splitlines()[1:] == [
        "  method[1] topic.create: " + hint.format(2, "1 replica"),
        "  method[2] config.set: " + hint.format(4, "3 replicas"),
    ]
    file.write_text(SMALL)
    set_4 = ("--set", 'topics[0].config."min.insync.replicas"=4')
    said = "topics[0] orders: " + hint.format(4, "3 replicas")
    assert f"  {said}" in call("validate", file, *set_4).out.splitlines()
    assert f"warning: {said}" in call("run", file, *set_4).out.splitlines()


@pytest.mark.parametrize("command", ["sweep", "compare", "demo"])
def test_java_missing(command: str, call: Call, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(place / "folder"))
    monkeypatch.setattr("scenarios.studies.java._bundled_runtime", lambda: None)
    write(place / "set", 0)
    words = {
        "sweep": ["sweep", "small.toml", "--seeds", "0:2", "--out", "out"],
        "compare": ["compare", "set", "--recount"],
        "demo": ["demo", "--out", "out"],
    }
    before = contents(place)
    called = call(*words[command])
    assert (called.code, called.out) == (2, "")
    assert "Spark needs Java 17 or newer and none was found" in called.line
    assert contents(place) == before


def test_a_master_where_spark_computes_nothing(call: Call, place: Path) -> None:
    write(place / "set", 0)
    called = call("compare", "set", "--master", "spark://nowhere:7077")
    assert (called.code, called.out) == (2, "")
    assert "--master: is for --recount, without which Spark computes nothing; add that" in called.line
    assert call("compare", "set").code == 0


@pytest.mark.parametrize("command", ["compare", "timeline"])
def test_a_corrupt_data_set(command: str, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "trace"
    assert call("run", "quick-move", "--trace", out).code == 0
    (part,) = (out / "isr_events").rglob("*.parquet")
    part.write_bytes(part.read_bytes()[:-20])
    called = call(command, out)
    assert (called.code, called.out) == (2, "")
    assert called.line == f"understudy: {part}: is corrupt or cut short; delete it and run the sweep again"


def test_a_file_with_a_byte_order_mark_is_read(call: Call, tmp_path: Path) -> None:
    """As editors on Windows write it."""
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8-sig")
    assert call("validate", tmp_path / "small.toml").code == 0


def test_a_campaign_does_not_write_into_a_data_set(call: Call, tmp_path: Path) -> None:
    write(tmp_path, 1)
    before = contents(tmp_path)
    called = call("chaos", "--seeds", "0:1", "--out", tmp_path)
    assert called.code == 2
    assert f"{tmp_path}: holds a data set; name another folder" in called.err
    assert contents(tmp_path) == before


def test_one_is_no_plural(call: Call, place: Path) -> None:
    assert ", 1 seed; lost: records" in call("run", "small.toml", "--seeds", "3").out
