"""``ctl ACTION [TARGET] [KEY=VALUE …]``: act on a cluster that ``serve`` runs in another terminal."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from scenarios.cli import exits, options
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

EXAMPLES = """examples:
  understudy ctl crash "leader(orders-0)"
  understudy ctl broker.pause 3 duration=30s
  understudy ctl link.cut 1 peer=2 way=out
  understudy ctl reassign plan.json
  understudy ctl state orders-0
  understudy ctl request.fail api=Produce error=NOT_ENOUGH_REPLICAS count=3 fault=short
  understudy ctl requests
  understudy ctl wait 'when={ fault = "short", occurrence = 3 }' within=1m
  understudy ctl wait settled
  understudy ctl heal
  understudy ctl stop

The first word is an action of the scenario files (understudy list actions) or the last part of its name where that is
clear, or state, requests, wait or stop."""


def add(program: Program) -> None:
    from scenarios.wire.asking import PATIENCE_S

    parser = program.command(
        "ctl",
        run,
        "act on the cluster of serve from another terminal: crash, cut, reassign, ask for its state",
        epilog=EXAMPLES,
    )
    parser.add_argument("words", nargs="+", metavar="WORD", help="the action, its target, its keys as KEY=VALUE")
    parser.add_argument(
        "--control", metavar="PATH", help="the socket that serve names (default: the one of the only cluster served)"
    )
    parser.add_argument(
        "--timeout",
        dest="patience_s",
        metavar="TIME",
        type=options.real_time("--timeout"),
        default=PATIENCE_S,
        help=f"how long to wait for the answer (default: {PATIENCE_S:g}s)",
    )
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from scenarios.cli.control_words import operation
    from scenarios.wire.asking import ask, find

    asked = operation(arguments.words, Path())
    path = arguments.control or find()
    answer = ask(path, asked, patience_s=arguments.patience_s)
    if "error" in answer:
        raise BadInput(str(answer["error"]))
    if arguments.format == "json":
        say(json.dumps(answer))
    else:
        for line in _lines(asked, answer):
            say(line)
    return exits.PASSED


def _lines(asked: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    from scenarios.observe.timeline.words import seconds

    if "partitions" in answer:
        return _state(answer)
    if "requests" in answer:
        return _requests(answer)
    if "at_us" not in answer:
        return [f"{asked['action']}: done"]
    moment = seconds(answer["at_us"])
    if answer.get("armed"):
        return [f"{moment}  {asked['action']} waits for its trigger"]
    done = answer.get("done") or [{"action": asked["action"], "target": "", "detail": ""}]
    return [
        "  ".join(filter(None, (moment, one["action"], one["target"] and f"on {one['target']}", one["detail"])))
        for one in done
    ]


def _state(answer: dict[str, Any]) -> list[str]:
    from scenarios.cli.output import table
    from scenarios.observe.timeline.words import seconds

    controller = "none" if answer["controller"] is None else f"broker {answer['controller']}"
    brokers = ", ".join(f"{one['broker']} {one['state']}" for one in answer["brokers"])
    lines = [f"at {seconds(answer['at_us'])}: controller {controller}; brokers {brokers}"]
    rows = [("partition", "leader", "epoch", "isr", "replicas", "broker:log end offset/high watermark")]
    for one in answer["partitions"]:
        leader = one.get("leader", -1)
        moving = [f"{kind} {_ids(one[kind])}" for kind in ("adding", "removing") if one.get(kind)]
        logs = " ".join(f"{log['broker']}:{log['log_end_offset']}/{log['high_watermark']}" for log in one["logs"])
        rows.append(
            (
                one["partition"], "none" if leader < 0 else str(leader), str(one.get("leader_epoch", "")),
                _ids(one.get("isr", ())), " ".join([_ids(one["replicas"]), *moving]), logs,
            )
        )  # fmt: skip
    return lines + table(rows)


def _requests(answer: dict[str, Any]) -> list[str]:
    from scenarios.cli.output import table

    rows = [("fault", "requests", "are", "came", "hit")]
    for one in answer["requests"]:
        over = " (over)" if one["over"] else ""
        rows.append((one["fault"], one["api"], one["does"], str(one["seen"]), f"{one['fired']}{over}"))
    return table(rows) if answer["requests"] else ["no fault is on any request"]


def _ids(brokers: Any) -> str:
    return ",".join(map(str, brokers)) or "none"
