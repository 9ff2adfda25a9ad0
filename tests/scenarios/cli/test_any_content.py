"""Every file that a command reads may hold anything: a refusal is a line, and costs no more than some seconds and
200 MB. ``READERS`` names the module that reads it, and tests/house holds that to the modules that read."""

from __future__ import annotations

import os
import random
import shutil
import socket
import zlib
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from attrs import frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios.reading import MOST_TOML_LETTERS
from scenarios.wire.recording.log import MAGIC
from tests.limited import call, calls, in_limits, refused
from tests.scenarios.cli.conftest import FAILING
from tests.scenarios.language.builders import SMALL
from tests.scenarios.wire.recording.written import write_recording

TRACE = "trace"
PIECE = "recording/log-00001.gz"
SAFE = '[plan]\nfile = "plan.json"\n'
PLAN = '{"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [3, 4, 5]}]}'
CHAOS = """\
schema = "scenario/1"
title = "storms"
horizon = "20s"

[cluster]
brokers = 3

[[topics]]
name = "orders"
assignment = [[0, 1, 2]]

[[chaos]]
kind = "attrition"
"""
DESCRIBED = "Topic: orders\tPartition: 0\tLeader: 0\tReplicas: 0,1\tIsr: 0,1\n"
CHECKER = "from understudy.plugins import *\n"


@frozen
class Reader:
    """A file that a command reads.

    Attributes:
        module: which reads it.
        file: its path in the folder of a case; a pattern for one whose name is not known.
        words: the command line; ``HERE`` stands for the folder.
        refuses: anything that is not of the form; otherwise some of it can be used, as an empty log can.
        packed: whether the content is compressed by gzip.
    """

    module: str
    file: str
    words: str
    refuses: bool = True
    packed: bool = False

    def content(self, file: Path) -> bytes:
        return zlib.decompressobj(31).decompress(file.read_bytes()) if self.packed else file.read_bytes()

    def write(self, content: bytes, file: Path) -> None:
        packing = zlib.compressobj(1, wbits=31)  # without an end, as of a run that was killed
        file.write_bytes(packing.compress(content) + packing.flush(zlib.Z_SYNC_FLUSH) if self.packed else content)


READERS = {
    "scenario": Reader("language/scenario.py", "small.toml", "validate HERE/small.toml"),
    "scenario in JSON": Reader("language/schema/toml_text.py", "small.json", "validate HERE/small.json"),
    "plan": Reader("language/plan.py", "plan.json", "validate HERE/planned.toml"),
    "frames": Reader("language/recorded_frames.py", "clients.frames", "run HERE/framed.toml --quiet", refuses=False),
    "value": Reader("language/schema/overrides.py", "small.toml", "validate HERE/small.toml --set draws=1"),
    "plug-in": Reader("plugins.py", "plug.py", "list plugins --plugin HERE/plug.py", refuses=False),
    "plan of ctl": Reader("cli/control_words.py", "plan.json", "ctl reassign HERE/plan.json --control nowhere"),
    "plan of a forecast": Reader(
        "forecasting/variants.py", "plan.json", "forecast HERE/small.toml --plan HERE/plan.json"
    ),
    "run.toml": Reader("wire/recording/folder.py", "recording/run.toml", "replay HERE/recording"),
    "piece": Reader("wire/recording/pieces.py", PIECE, "replay HERE/recording --quiet", refuses=False),
    "log": Reader("wire/recording/pieces.py", PIECE, "replay HERE/recording --quiet", refuses=False, packed=True),
    "operations": Reader(
        "wire/operations/performing.py", PIECE, "timeline HERE/recording", refuses=False, packed=True
    ),
    "manifest": Reader("runs/dataset/manifest.py", "trace/manifest.json", "timeline HERE/trace"),
    "runs": Reader("runs/dataset/reader.py", "trace/runs/*/*/*.parquet", "compare HERE/trace"),
    "events": Reader("runs/dataset/reader.py", "trace/events/*/*/*.parquet", "timeline HERE/trace"),
    "figures": Reader("runs/dataset/reader.py", "trace/figures/*/*/*.parquet", "report HERE/trace -o HERE/page.html"),
    "likely": Reader(
        "studies/likely/kept_likelihood.py", "trace/likely.json", "report HERE/trace -o HERE/page.html", refuses=False
    ),
    "atlas": Reader("runs/dataset/manifest.py", "atlas/atlas.json", "atlas HERE/small.toml --out HERE/atlas --resume"),
    "campaign": Reader(
        "studies/chaos/campaign_results.py", "campaign/results.jsonl",
        "chaos HERE/chaos.toml --seeds 0:1 --out HERE/campaign",
        refuses=False,
    ),
    "seed of a campaign": Reader(
        "studies/chaos/seed_run.py", "campaign/results.jsonl", "chaos HERE/chaos.toml --seeds 0:1 --out HERE/campaign",
        refuses=False,
    ),
    "shrinking": Reader(
        "studies/shrink/shrinking_state.py", "failing.shrunk.toml.shrinking",
        "shrink HERE/failing.toml --runs 1 --quiet",
        refuses=False,
    ),
    "cells": Reader("runs/dataset/cell_files.py", "atlas/cells/part-0.parquet",
    "atlas HERE/small.toml --out HERE/atlas"),
    "topics of a cluster": Reader(
        "importing/tool_texts.py", "described.txt", "import --topics HERE/described.txt -o HERE/out.toml"
    ),
    "settings of a cluster": Reader(
        "importing/tool_texts.py", "settings.txt",
        "import --topics HERE/described.txt --configs HERE/settings.txt -o HERE/out.toml",
    ),
    "rates": Reader(
        "importing/rate_sources.py", "rates.csv",
        "import --topics HERE/described.txt --rates HERE/rates.csv -o HERE/out.toml",
    ),
    "disks of a cluster": Reader(
        "importing/json_texts.py", "disks.json",
        "import --topics HERE/described.txt --log-dirs HERE/disks.json -o HERE/out.toml",
    ),
    "rates in JSON": Reader(
        "importing/json_texts.py", "rates.json",
        "import --topics HERE/described.txt --rates HERE/rates.json -o HERE/out.toml",
    ),
    "answer": Reader("wire/asking.py", "plan.json", "ctl state --control HERE/plan.json"),
    "users": Reader(
        "wire/security/listener_options.py",
        "users.toml",
        "serve --listener SASL_PLAINTEXT --users HERE/users.toml --record HERE",
    ),
}  # fmt: skip

MANY = 200_000
CONTENTS: dict[str, bytes] = {
    "nothing": b"",
    "NUL": bytes(1000),
    "no text": bytes(range(128, 256)) * 20,
    "a byte order mark": b"\xff\xfe\x00",
    "a list": b"[]",
    "null": b"null",
    "deep lists": b"a = " + b"[" * 100_000,
    "deep lists in JSON": b"[" * 100_000,
    "deep tables": b'{"a":' * 100_000,
    "deep names": b"a." * 100_000 + b"a = 1",
    "many deep names": b"\n".join(b"a%d." % number + b"a." * 14 + b"a = 1" for number in range(8000)),
    "digits": b"seed = " + b"1" * 5000,
    "digits in JSON": b'{"seed": ' + b"1" * 5000 + b"}",
    "hex digits": b"seed = 0x" + b"f" * 5000,
    "unknown keys": b"".join(b"k%d = 1\n" % number for number in range(MANY)),
    "unknown keys in JSON": b"{" + b",".join(b'"k%d": 1' % number for number in range(MANY)) + b"}",
    "a long list": b'title = "a"\nbugs = [' + b"1," * 300_000 + b"]",
    "many tables": b"[[topics]]\n" * 130_000,
    "a long text": b'title = "' + b"x" * 30_000_000 + b'"',
    "a long text that is read": b'title = "' + b"x" * (MOST_TOML_LETTERS - 10) + b'"',
    "a long text of DEL": b'{"title": "' + b"\x7f" * 30_000_000 + b'"}',
    "half a character": rb'{"title": "\ud800"}',
    "escapes": b'"\\u001b[31m\\u009b" = 1\n',
    "a Parquet file": b"PAR1" + bytes(100) + b"\x60\x00\x00\x00PAR1",
    "a log": MAGIC + b"\xff" * 100,
}
LARGE = [what for what, content in CONTENTS.items() if len(content) > 50_000]
ALWAYS = {"scenario", "scenario in JSON"}
"""Readers that get all that is large; each other one gets every sixth of it, the next one the next sixth."""


def default_contents(name: str) -> list[str]:
    """The contents that a reader gets unless slow tests run."""
    turn = list(READERS).index(name)
    mine = LARGE if name in ALWAYS else [what for place, what in enumerate(LARGE) if (place + turn) % 6 == 0]
    return [what for what in CONTENTS if what not in LARGE or what in mine]


def many_brokers() -> str:
    """A list in which each one has to be compared with all others."""
    return SMALL.replace("[[0, 1, 2], [1, 2, 3]]", f"[{list(range(100_000))}]")


def bomb() -> str:
    """A file of two megabytes that holds more than the memory that a refusal may take."""
    frames = b64encode(zlib.compress(MAGIC + bytes(3 * 10**8), 1)).decode()
    return f'{SMALL}\n[frames]\ndata = "{frames}"\n'


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which all readers find what they can use."""
    folder = tmp_path_factory.mktemp("whole")
    for name, text in {
        "small.toml": SMALL,
        "failing.toml": FAILING,
        "chaos.toml": CHAOS,
        "planned.toml": SMALL[: SMALL.index("[plan]")] + SAFE,
        "plan.json": PLAN,
        "framed.toml": f'{SMALL}\n[frames]\nfile = "clients.frames"\n',
        "plug.py": CHECKER,
        "failing.shrunk.toml.shrinking": "{}",
        "described.txt": DESCRIBED,
        "settings.txt": "Configs for topic 'orders' are retention.ms=1000\n",
        "disks.json": '{"brokers": []}',
        "rates.json": '{"status": "success", "data": {"result": [{"metric": {"topic": "orders"}, "value": [1, "1"]}]}}',
        "rates.csv": "topic,bytes_per_s\norders,1000\n",
        "users.toml": 'alice = "secret"\n',
    }.items():
        (folder / name).write_text(text)
    (folder / "clients.frames").write_bytes(MAGIC)
    (folder / "atlas").mkdir()
    (folder / "atlas" / "atlas.json").write_text("{}")
    (folder / "atlas" / "cells").mkdir()
    (folder / "atlas" / "cells" / "part-0.parquet").write_bytes(b"")
    write_recording(folder / "recording")
    made = calls(
        ["run", "small.toml", "--trace", TRACE, "--quiet"],
        ["chaos", "chaos.toml", "--seeds", "0:1", "--out", "campaign", "--quiet"],
        ["replay", "recording", "--quiet"],
        ["run", "framed.toml", "--quiet"],
        cwd=folder,
    )
    assert [one.code for one in made] == [0, 0, 0, 0], made
    (folder / "small.json").write_text('{"title": "a", "cluster": {"brokers": 1}}')
    (folder / "trace/likely.json").write_text('{"seed": 1}')
    return folder


def case(whole: Path, folder: Path, reader: Reader, put: Callable[[Path], object]) -> list[str]:
    """A copy of all files, with another content of one. Returns the command line that reads it."""
    shutil.copytree(whole, folder, copy_function=os.link)
    (file,) = folder.glob(reader.file)
    file.unlink()
    put(file)
    return reader.words.replace("HERE", str(folder)).split()


@pytest.mark.parametrize("name", READERS)
def test_any_content_is_refused(name: str, whole: Path, tmp_path: Path) -> None:
    check_contents(READERS[name], default_contents(name), whole, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_all_large_content_is_refused(name: str, whole: Path, tmp_path: Path) -> None:
    check_contents(READERS[name], LARGE, whole, tmp_path)


def test_all_large_content_is_among_that_of_some_readers() -> None:
    of_others = {what for name in READERS if name not in ALWAYS for what in default_contents(name)}
    assert of_others == set(CONTENTS)


def check_contents(reader: Reader, contents: list[str], whole: Path, tmp_path: Path) -> None:
    lines = [
        case(whole, tmp_path / str(number), reader, partial(reader.write, CONTENTS[what]))
        for number, what in enumerate(contents)
    ]
    for what, called in zip(contents, calls(*lines, cwd=tmp_path), strict=True):
        (refused if reader.refuses else in_limits)(called, what)
        assert "the tool failed" not in called.err, (what, called)


def huge(file: Path) -> None:
    file.touch()
    os.truncate(file, 20 * 10**9)


def listening(file: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(file))


KINDS: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a link to itself": lambda file: file.symlink_to(file.name),
    "a link to nothing": lambda file: file.symlink_to("nothing"),
    "an endless device": lambda file: file.symlink_to("/dev/zero"),
    "20 GB": huge,
    "a socket": listening,
}


@pytest.mark.parametrize("name", READERS)
def test_any_kind_of_file_is_refused(name: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reader = READERS[name]
    lines = [case(whole, tmp_path / str(number), reader, put) for number, put in enumerate(KINDS.values())]
    for what, called in zip(KINDS, calls(*lines, cwd=tmp_path), strict=True):
        (refused if reader.refuses else in_limits)(called, what)


@st.composite
def damage(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """Bytes that are changed, left out, written twice, or all others."""
    seed, kind = draw(st.integers(0, 2**32)), draw(st.sampled_from(["change", "cut", "leave out", "twice", "other"]))
    other = draw(st.binary(max_size=200))

    def damaged(content: bytes) -> bytes:
        drawn = random.Random(seed)
        first, last = sorted(drawn.randrange(len(content) + 1) for _ in range(2))
        match kind:
            case "change":
                changed = bytearray(content)
                for _ in range(drawn.randrange(1, 8)):
                    if changed:
                        changed[drawn.randrange(len(changed))] = drawn.randrange(256)
                return bytes(changed)
            case "cut":
                return content[:first]
            case "leave out":
                return content[:first] + content[last:]
            case "twice":
                return content[:last] + content[first:]
        return other

    return damaged


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(damage(), min_size=2, max_size=5))
def test_damaged_content_is_no_defect_of_the_program(
    name: str, whole: Path, tmp_path_factory: pytest.TempPathFactory, damages: list[Callable[[bytes], bytes]]
) -> None:
    reader, place = READERS[name], tmp_path_factory.mktemp("damaged")
    (file,) = whole.glob(reader.file)
    lines = [
        case(whole, place / str(number), reader, partial(reader.write, one(reader.content(file))))
        for number, one in enumerate(damages)
    ]
    for called in calls(*lines, cwd=place):
        in_limits(called, name)


@pytest.mark.parametrize("make", [many_brokers, bomb])
def test_a_scenario_that_is_large_inside(make: Callable[[], str], tmp_path: Path) -> None:
    (tmp_path / "large.toml").write_text(make())
    refused(call("run", "large.toml", cwd=tmp_path), make.__name__)


@pytest.mark.parametrize("block", ["plan", "frames"])
@pytest.mark.parametrize("name", ["/etc/passwd", "../outside", "link", "inside/../../outside"])
def test_a_file_outside_of_the_scenario_s_folder_is_not_read(block: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text(PLAN)
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    (tmp_path / "folder" / "link").symlink_to("../outside")
    text = SMALL[: SMALL.index("[plan]")] + f'[{block}]\nfile = "{name}"\n'
    (tmp_path / "folder" / "small.toml").write_text(text)
    called = call("run", "folder/small.toml", cwd=tmp_path)
    refused(called, name)
    assert f"{name!r} is outside of the scenario's folder; copy it there" in called.err


def test_a_full_disk_is_said(whole: Path, tmp_path: Path) -> None:
    lines = {
        "chaos": ["chaos", whole / "chaos.toml", "--seeds", "0:1", "--out", "campaign", "--quiet"],
        "run": ["run", whole / "small.toml", "--trace", "trace", "--quiet"],
        "report": ["report", whole / TRACE, "-o", "page.html"],
    }
    called = calls(*([str(word) for word in words] for words in lines.values()), cwd=tmp_path, file_bytes=400)
    for what, one in zip(lines, called, strict=True):
        in_limits(one, what)
        assert (one.code, len(one.err.splitlines())) == (2, 1), (what, one)
        assert "cannot be written (File too large)" in one.err
