"""``serve [FILE]``: the emulated cluster on sockets of this machine, for real clients, until Ctrl-C."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.cli import exits, options, output
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from scenarios.language import Scenario
    from scenarios.wire.security.listener_options import SecurityOptions
    from scenarios.wire.serving import LiveRun

LOOPBACK = "127.0.0.1"
LOCALHOST = "localhost"
NUM_PARTITIONS = "cluster.config.num.partitions"
BROKER_IDS = "--broker-ids"
ALLOCATIONS_BETWEEN_COLLECTIONS = 50_000
ALLOCATIONS_AT_START = 5_000
"""The allocations between two collections at the start. Each class that attrs makes with slots leaves another one
behind. If they are collected soon, their memory is used again, and a cluster takes two megabytes less. A short run does
not need that."""


def add(program: Program) -> None:
    parser = program.command(
        "serve",
        serve,
        "serve an emulated cluster to real Kafka clients, until Ctrl-C",
        epilog="Without FILE: three brokers of Kafka 2.7 and no topics; those that clients ask for get three replicas.",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="a scenario file, or the name of a library scenario")
    parser.add_argument(
        "--port",
        metavar="N",
        type=ports,
        help="the port of the first broker, after which the others have theirs; or one for each: N,N,N (default: any "
        "free ports)",
    )
    parser.add_argument(
        BROKER_IDS,
        metavar="ID,ID,ID",
        type=broker_ids,
        help="the ids of the brokers, ascending, such as 1,2,3 (default: the file's, or 0,1,2)",
    )
    parser.add_argument(
        "--zookeeper-port",
        metavar="N",
        type=options.whole("--zookeeper-port", 1, 65535),
        help="the port of ZooKeeper, for tools that take zookeeper.connect (default: any free port)",
    )
    parser.add_argument(
        "--host", metavar="ADDRESS", default=LOOPBACK, help=f"the address to listen at (default: {LOOPBACK})"
    )
    parser.add_argument(
        "--advertised-host",
        metavar="NAME",
        help="the host that brokers give to clients, where it is not that of --host, as in a container",
    )
    parser.add_argument(
        "--advertised",
        metavar="HOST:PORT,...",
        type=advertised,
        help="the address that each broker gives to clients, where its port is another one too, as behind a proxy",
    )
    parser.add_argument(
        "--listener",
        metavar="PROTOCOL[:PORT]",
        action="append",
        default=[],
        help="a listener of each broker beside PLAINTEXT: SSL, SASL_PLAINTEXT or SASL_SSL, with a port as for --port; "
        "repeatable",
    )
    parser.add_argument(
        "--tls",
        metavar="DIR",
        help="the folder of the certificates, which are made there if it is new or empty (default: a folder that is "
        "removed at the end)",
    )
    parser.add_argument(
        "--tls-client-auth",
        metavar="A",
        help="whether clients show a certificate: none, requested or required (ssl.client.auth; default: none)",
    )
    parser.add_argument(
        "--users",
        metavar="FILE",
        help='who may log in with SASL: a TOML file with lines such as alice = "secret", or any',
    )
    parser.add_argument(
        "--rate", metavar="X", type=rate, default=1.0, help="virtual seconds for each second (default: 1.0)"
    )
    parser.add_argument(
        "--api-versions",
        metavar="V",
        type=api_versions,
        help="the release whose API versions the brokers announce, such as 3.0 (default: the profile's)",
    )
    parser.add_argument(
        "--partitions",
        metavar="N",
        type=options.whole("--partitions", 1),
        help="partitions of topics that clients create without a number of them, as by producing to one "
        "(num.partitions; default: 1)",
    )
    parser.add_argument(
        "--control-port",
        metavar="N",
        type=options.whole("--control-port", 0, 65535),
        help="take operations over HTTP at this port of 127.0.0.1, for tests in any language; 0: any free one "
        "(default: only understudy ctl can act)",
    )
    parser.add_argument("--seed", metavar="N", type=options.whole("--seed", 0), help="the seed of all random draws")
    parser.add_argument(
        "--ready-file",
        metavar="FILE",
        help="write this file once clients can connect: JSON with bootstrap_servers, zookeeper_connect and more",
    )
    parser.add_argument("--record", metavar="DIR", help="write everything that comes in to this new folder, for replay")
    options.add_profile(parser)
    options.add_bugs(parser)
    options.add_changes(parser)
    options.add_format(parser)


def api_versions(text: str) -> str:
    from scenarios.wire.released_versions import RELEASES, is_release

    if not is_release(text):
        raise BadInput(f"unknown value {text!r}; {did_you_mean(text, RELEASES)}", where="--api-versions")
    return text


def ports(text: str) -> int | tuple[int, ...]:
    from scenarios.wire.listener_addresses import read_ports

    return read_ports(text)


def broker_ids(text: str) -> list[int]:
    try:
        return [int(each) for each in text.split(",")]
    except ValueError:
        raise BadInput(f"{text!r} are no ids; write numbers with commas, such as 1,2,3", where=BROKER_IDS) from None


def advertised(text: str) -> tuple[tuple[str, int], ...]:
    from scenarios.wire.listener_addresses import read_advertised

    return read_advertised(text)


def rate(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.001 <= number <= 1000:
        raise BadInput(f"{text!r} is no rate; write a number from 0.001 to 1000, such as 2.0", where="--rate")
    return number


def serve(arguments: Namespace) -> int:
    """Serve, and judge the run when it is stopped."""
    import gc
    import json

    gc.set_threshold(ALLOCATIONS_AT_START)

    from scenarios.cli.report import report, verdict
    from scenarios.language.checks import refuse_sampled
    from scenarios.wire.serving import LiveRun, ServeOptions

    changes = options.changes(arguments)
    if arguments.partitions is not None:
        changes.append((NUM_PARTITIONS, str(arguments.partitions)))
    scenario = _scenario(arguments, changes).for_run(seed=arguments.seed, profile=arguments.profile)
    refuse_sampled(scenario, "serve")
    advertised_host = _advertised_host(arguments)
    if not _is_loopback(arguments.host):
        output.note(
            f"warning: {arguments.host} is no loopback address; every host that reaches it can use this cluster"
        )
    serving = ServeOptions(
        host=LOOPBACK if arguments.host == LOCALHOST else arguments.host,
        advertised_host=advertised_host,
        advertised=arguments.advertised or (),
        port=arguments.port,
        zookeeper_port=arguments.zookeeper_port,
        rate=arguments.rate,
        api_versions=arguments.api_versions,
        control_port=arguments.control_port,
        ready_file=Path(arguments.ready_file) if arguments.ready_file else None,
        record=Path(arguments.record) if arguments.record else None,
        security=_security(arguments),
    )
    finished = LiveRun(scenario, serving, output.note, _announce, changes).play()
    if arguments.format == "json":
        say(json.dumps(finished.to_json()))
    elif arguments.quiet:
        say(verdict(finished))
    else:
        for line in report(finished):
            say(line)
    return exits.of(finished)


def _security(arguments: Namespace) -> SecurityOptions | None:
    """The listeners beside PLAINTEXT; None: there are none."""
    if not any((arguments.listener, arguments.users, arguments.tls, arguments.tls_client_auth)):
        return None
    from scenarios.wire.security.listener_options import options_of

    return options_of(arguments.listener, arguments.users, arguments.tls, arguments.tls_client_auth)


def _is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address. Raises: BadInput where it is not an address."""
    from ipaddress import ip_address

    try:
        return host == LOCALHOST or ip_address(host).is_loopback
    except ValueError:
        raise BadInput(f"{host!r} is no address; write one such as 192.168.1.5 or 0.0.0.0", where="--host") from None


def _advertised_host(arguments: Namespace) -> str | None:
    if arguments.advertised is not None and arguments.advertised_host is not None:
        raise BadInput("--advertised has the hosts too; keep one of both", where="--advertised-host")
    nobody = arguments.advertised is None and arguments.advertised_host is None
    if nobody and arguments.host in ("0.0.0.0", "::"):
        raise BadInput(
            "clients cannot connect to that address; add --advertised-host with the name by which they reach this "
            "machine",
            where="--host",
        )
    found: str | None = arguments.advertised_host
    return found


def _scenario(arguments: Namespace, changes: list[tuple[str, str]]) -> Scenario:
    from scenarios.wire.served import PROFILE

    ids: list[int] | None = arguments.broker_ids
    if arguments.file is not None:
        from scenarios.language.files import load

        if ids is not None:
            changes.append(("cluster.broker_ids", str(ids)))
        return load(arguments.file, changes, arguments.profile or PROFILE)
    from scenarios.language import Scenario

    size = {"brokers": 3} if ids is None else {"broker_ids": ids}
    replicas = {"default.replication.factor": 3 if ids is None else min(3, len(ids))}
    cluster = {**size, "config": replicas}
    scenario = Scenario.from_table({"title": "three brokers", "profile": PROFILE, "cluster": cluster})
    return scenario.with_overrides(dict(changes)) if changes else scenario


def _announce(run: LiveRun) -> None:
    import gc

    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS)
    say(f"bootstrap.servers={run.bootstrap_servers}")
    say(f"zookeeper.connect={run.zookeeper_connect}")
    for protocol, servers in run.secured_servers.items():
        say(f"{protocol}: bootstrap.servers={servers}")
    if run.certificates is not None:
        say(f"ssl.ca.location={run.certificates / 'ca.pem'}")
    output.show()
    output.told(f"operations: {run.control}")
    if run.http is not None:
        output.told(f"operations over HTTP: {run.http.url} token {run.http.token}")
    output.told("Ctrl-C ends the run")
