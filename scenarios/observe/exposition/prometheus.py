"""Prometheus' text exposition format, version 0.0.4, with the names and labels that jmx_exporter's well-known
``kafka-2_0_0.yml`` gives: ``kafka_<domain>_<type>_<name>`` in lower case, the tags as labels as Kafka writes them.
docs/use/metrics.md lists what is not in that file.

A scrape of a real cluster comes from one broker; here the label ``node`` names it.

``series`` gives the same samples at many instants, with timestamps, as OpenMetrics 1.0: ``promtool tsdb
create-blocks-from openmetrics`` makes blocks of it that Prometheus serves to Grafana.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from scenarios.observe.exposition.rates import mean_rate, one_minute_rate, quantile
from scenarios.observe.exposition.shown import IMPLIED_METER, ShownMetric, ShownMetrics

QUANTILES = ("0.50", "0.75", "0.95", "0.98", "0.99", "0.999")
_SAMPLE = tuple[str, dict[str, str], float]
_FORBIDDEN = re.compile(r"[^a-zA-Z0-9_]")


def text(shown: ShownMetrics, at_us: int, node: int | None = None) -> Iterator[str]:
    """The lines, sorted by metric; of one node or of all."""
    families: dict[str, tuple[str, str, list[str]]] = {}
    for (family, form, help), name, labels, value in _samples(shown, at_us, node):
        families.setdefault(family, (form, help, []))[2].append(f"{name}{_inside(labels)} {_number(value)}")
    for family, (form, help, samples) in sorted(families.items()):
        yield f"# HELP {family} {help}"
        yield f"# TYPE {family} {form}"
        yield from samples


def series(
    shown: ShownMetrics, events: Sequence[Any], every_us: int, epoch_s: int, node: int | None = None
) -> Iterator[str]:
    """The lines of an OpenMetrics text: the samples of one node or of all, each ``every_us`` of virtual time.

    Args:
        shown: before the first event.
        epoch_s: the Unix time (s) of the run's beginning.
    """
    families: dict[str, tuple[str, str, dict[str, list[str]]]] = {}
    position = 0
    for at_us in range(0, events[-1].t_us + every_us, every_us):
        upto = bisect_right(events, at_us, lo=position, key=attrgetter("t_us"))
        shown.see(events[position:upto])
        position = upto
        time = f"{epoch_s + at_us // 1_000_000}.{at_us % 1_000_000:06}"
        for (family, form, help), name, labels, value in _samples(shown, at_us, node):
            if "quantile" in labels:
                labels["quantile"] = str(float(labels["quantile"]))
            # The samples of one time series follow each other, in the order of time; those of a summary count as one.
            group = _inside({label: text for label, text in labels.items() if label != "quantile"})
            stem = family.removesuffix("_total") if form == "counter" else family
            points = families.setdefault(stem, (form, help, {}))[2].setdefault(group, [])
            points.append(f"{name}{_inside(labels)} {_number(value)} {time}")
    for stem, (form, help, groups) in sorted(families.items()):
        yield f"# HELP {stem} {help}"
        yield f"# TYPE {stem} {form}"
        for points in groups.values():
            yield from points
    yield "# EOF"


def _samples(
    shown: ShownMetrics, at_us: int, node: int | None
) -> Iterator[tuple[tuple[str, str, str], str, dict[str, str], float]]:
    """The samples: name, form and help of the family, own name, labels, and value of each."""
    for each in shown.nodes if node is None else [node]:
        for metric_name, metric in shown.metrics(each, at_us):
            for family, form, help, samples in _families(metric_name, metric, at_us):
                for name, labels, value in samples:
                    yield (family, form, help), name, {"node": str(each), **labels}, value


def _inside(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items()) + "}"


_Family = tuple[str, str, str, list[_SAMPLE]]


def _families(mbean: str, metric: ShownMetric, at_us: int) -> Iterable[_Family]:
    domain, properties, *attribute = mbean.split(":")
    parts = dict(part.split("=", 1) for part in properties.split(","))
    type_, name = parts.pop("type"), parts.pop("name", *attribute)
    labels = _labels(parts)
    stem = _FORBIDDEN.sub("_", f"{domain}_{type_}_{name.removesuffix('PerSec')}").lower()
    help = mbean.removesuffix("".join(f",{key}={value}" for key, value in parts.items()))
    if metric.kind in ("meter", IMPLIED_METER):
        yield f"{stem}_total", "counter", help, [(f"{stem}_total", labels, metric.value)]
        mean = mean_rate(int(metric.value), metric.registered_us, at_us)
        yield f"{stem}_meanrate", "gauge", f"{help} MeanRate", [(f"{stem}_meanrate", labels, mean)]
        recent = one_minute_rate(metric.spans, metric.registered_us, at_us)
        yield f"{stem}_oneminuterate", "gauge", f"{help} OneMinuteRate", [(f"{stem}_oneminuterate", labels, recent)]
    elif metric.kind == "timer":
        yield stem, "summary", f"{help}, milliseconds", _summary(stem, labels, metric)
    else:
        yield stem, "gauge", help, [(stem, labels, metric.value)]


def _labels(tags: dict[str, str]) -> dict[str, str]:
    """The tags as labels; host and port of a fetcher's leader become one label."""
    if "brokerHost" in tags:
        tags = {"clientId": tags["clientId"], "broker": f"{tags['brokerHost']}:{tags['brokerPort']}"}
    return {_FORBIDDEN.sub("_", key): value for key, value in tags.items()}


def _summary(stem: str, labels: dict[str, str], metric: ShownMetric) -> list[_SAMPLE]:
    durations_ms = sorted(duration / 1000 for duration in metric.durations_us)
    quantiles = [(stem, {**labels, "quantile": q}, quantile(durations_ms, float(q))) for q in QUANTILES]
    return [
        *quantiles,
        (f"{stem}_sum", labels, sum(metric.durations_us) / 1000),
        (f"{stem}_count", labels, len(durations_ms)),
    ]


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(round(value, 6))
