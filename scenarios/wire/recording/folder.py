"""The folder of a recorded live run: the scenario, how it was served, and the log of its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.recorded_frames import LATEST_US
from scenarios.language.schema.toml_text import write_toml
from scenarios.reading import parse_toml, read_text
from scenarios.runs.dataset.identity import code_digest, command_line
from scenarios.wire.apis.base import Address
from scenarios.wire.gateway.outlet import Outlets
from scenarios.wire.inputs import Input
from scenarios.wire.recording.answers import CountedAnswers
from scenarios.wire.recording.log import Ended, InputLog, RecordedInputs, read_log
from scenarios.wire.recording.pieces import PieceWriter
from scenarios.wire.released_versions import is_release

if TYPE_CHECKING:
    from scenarios.wire.security.secured_as import SecuredAs

VERSION = 2
RUN, SCENARIO = "run.toml", "scenario.toml"


@frozen(kw_only=True)
class ServedAs:
    """The way a cluster was served: contents of responses that the scenario does not say.

    Attributes:
        addresses: the address of each broker, as its responses name it.
        api_versions: the release whose versions of APIs its brokers announced.
        listens: the address at which each broker listened, and ZooKeeper.
        clock_us: the time of day at which the clocks of its machines began, in microseconds since 1970.
        secured: the listeners beside PLAINTEXT; None: there were none.
        code: the digest of the program (``code_digest``).
    """

    addresses: Mapping[int, Address]
    api_versions: str
    listens: Mapping[int, Address] = field(factory=dict)
    clock_us: int = 0
    secured: SecuredAs | None = None
    code: str = field(factory=code_digest)

    def to_table(self) -> dict[str, Any]:
        """The table for run.toml."""
        brokers = [{"id": broker, "host": host, "port": port} for broker, (host, port) in self.addresses.items()]
        listens = [{"id": each, "host": host, "port": port} for each, (host, port) in self.listens.items()]
        said = {"version": VERSION, "code": self.code, "api_versions": self.api_versions, "clock_us": self.clock_us}
        secured = {} if self.secured is None else {"secured": self.secured.to_table()}
        return {**said, "brokers": brokers, "listens": listens, **secured}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> ServedAs:
        """The value of such a table. Raises: BadInput where it is of another version; KeyError, TypeError where
        something is missing."""
        if table["version"] != VERSION:
            raise BadInput(f"is of version {table['version']}, and this program reads version {VERSION}")
        addresses = {broker["id"]: (broker["host"], broker["port"]) for broker in table["brokers"]}
        listens = {each["id"]: (each["host"], each["port"]) for each in table.get("listens", ())}
        if not is_release(table["api_versions"]):
            raise ValueError(f"no release with versions of APIs is called {table['api_versions']!r}")
        for broker, (host, port) in (*addresses.items(), *listens.items()):
            if not (type(broker) is int and isinstance(host, str) and type(port) is int and 0 < port < 1 << 16):
                raise TypeError("a broker has a number, a host and a port")
        clock_us = table.get("clock_us", 0)
        if type(clock_us) is not int or not 0 <= clock_us <= LATEST_US:
            raise TypeError("clock_us is the microseconds since 1970")
        versions = table["api_versions"]
        secured = None
        if "secured" in table:
            from scenarios.wire.security.secured_as import SecuredAs

            secured = SecuredAs.from_table(table["secured"])
        return cls(
            addresses=addresses, api_versions=versions, listens=listens, clock_us=clock_us, secured=secured,
            code=table["code"],
        )  # fmt: skip


@define(eq=False)
class LiveRecording:
    """Writes a live run into a new folder while it runs.

    Raises: BadInput where the disk refuses, in every method. What was flushed before can be replayed.
    """

    folder: Path
    _pieces: PieceWriter | None = None
    _log: InputLog | None = None
    _answers: CountedAnswers = field(factory=CountedAnswers)
    _last_us: int = 0
    _flushed_us: int = 0

    def __attrs_post_init__(self) -> None:
        """Make the folder. Raises: BadInput where it cannot be made, or is not empty."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if any(self.folder.iterdir()):
                raise BadInput("is not empty; name a new folder", where="--record", source=str(self.folder))
        except OSError as error:
            raise BadInput(
                f"cannot be made ({error.strerror}); name a folder that can be written",
                where="--record",
                source=str(self.folder),
            ) from error

    def begin(self, scenario: Scenario, served: ServedAs, outlets: Outlets) -> Outlets:
        """Begin the recording. Returns ``outlets``, extended so that the responses to clients are counted.

        Args:
            scenario: the scenario as it is run, with what its seed has drawn.
        """
        self._answers.onwards = outlets
        try:
            (self.folder / SCENARIO).write_text(scenario.to_toml(), encoding="utf-8")
            (self.folder / RUN).write_text(write_toml(served.to_table()), encoding="utf-8")
            self._pieces = PieceWriter(self.folder)
            self._log = InputLog(self._pieces)
        except OSError as error:
            raise self._refused(error) from error
        return self._answers

    def observe(self, t_us: int, given: Input) -> None:
        """Record an input, which is handled at ``t_us``."""
        self._write(t_us, given)
        self._last_us = t_us

    def flush(self) -> None:
        """Make the recorded inputs survive the end of this process."""
        if self._log is not None:
            try:
                self._log.flush()
            except OSError as error:
                raise self._refused(error) from error
            self._flushed_us = self._last_us

    def end(self, t_us: int, digest: str) -> None:
        """Record the end of a run that was not killed. ``digest``: the digest of its trace."""
        assert self._pieces is not None
        self._write(t_us, Ended(digest, self._answers.checksum))
        try:
            self._pieces.finish()
        except OSError as error:
            raise self._refused(error) from error

    @property
    def replay(self) -> str:
        return replay_command(self.folder)

    def close(self) -> None:
        if self._log is not None:
            log, self._log = self._log, None
            with suppress(OSError):
                log.close()

    def _write(self, t_us: int, what: Input | Ended) -> None:
        assert self._log is not None
        try:
            self._log.write(t_us, what)
        except OSError as error:
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> BadInput:
        safe_s = self._flushed_us / 1e6
        return BadInput(
            f"cannot be written ({error.strerror}); what came in by about {safe_s:.3f} s can be replayed",
            source=str(self.folder),
        )


@frozen
class RecordedLiveRun:
    """A folder that was read."""

    folder: Path
    scenario: Scenario
    served: ServedAs
    inputs: RecordedInputs

    @property
    def replay(self) -> str:
        return replay_command(self.folder)


def replay_command(folder: Path) -> str:
    """The command that replays the recording in a folder."""
    return command_line("replay", str(folder))


def is_live_run(folder: Path) -> bool:
    return (folder / RUN).is_file()


def read_live_run(folder: Path) -> RecordedLiveRun:
    """Read the recording in a folder. Raises: BadInput."""
    if not is_live_run(folder):
        raise BadInput("holds no live run; serve --record DIR writes one", source=str(folder))
    path = folder / RUN
    try:
        served = ServedAs.from_table(parse_toml(read_text(path, "the run.toml of a recording")))
    except BadInput as error:
        raise BadInput(error.what, source=str(path)) from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadInput(
            f"cannot be read ({type(error).__name__}: {error}); record the run again",
            source=str(path),
        ) from error
    return RecordedLiveRun(folder, Scenario.load(folder / SCENARIO), served, read_log(folder))
