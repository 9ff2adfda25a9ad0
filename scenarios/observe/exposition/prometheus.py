"""Prometheus' text exposition format, version 0.0.4, with the names and labels that jmx_exporter's well-known
``kafka-2_0_0.yml`` gives: ``kafka_<domain>_<type>_<name>`` in lower case, the tags as labels as Kafka writes them.
docs/metrics.md lists what is not in that file.

A scrape of a real cluster comes from one broker; here the label ``node`` names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from scenarios.observe.exposition.rates import mean_rate, one_minute_rate, quantile
from scenarios.observe.exposition.shown import Metric, Shown

QUANTILES = ("0.50", "0.75", "0.95", "0.98", "0.99", "0.999")
_SAMPLE = tuple[str, dict[str, str], float]
_FORBIDDEN = re.compile(r"[^a-zA-Z0-9_]")


def text(shown: Shown, at_us: int, node: int | None = None) -> Iterator[str]:
    """The lines, sorted by metric; of one node or of all."""
    families: dict[str, tuple[str, str, list[_SAMPLE]]] = {}
    for each in shown.nodes if node is None else [node]:
        for name, metric in shown.metrics(each, at_us):
            for family, form, help, samples in _families(name, metric, at_us):
                known = families.setdefault(family, (form, help, []))
                known[2].extend((sample, {"node": str(each), **labels}, value) for sample, labels, value in samples)
    for family, (form, help, samples) in sorted(families.items()):
        yield f"# HELP {family} {help}"
        yield f"# TYPE {family} {form}"
        for sample, labels, value in samples:
            inside = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
            yield f"{sample}{{{inside}}} {_number(value)}"


_Family = tuple[str, str, str, list[_SAMPLE]]


def _families(mbean: str, metric: Metric, at_us: int) -> Iterable[_Family]:
    domain, properties, *attribute = mbean.split(":")
    parts = dict(part.split("=", 1) for part in properties.split(","))
    type_, name = parts.pop("type"), parts.pop("name", *attribute)
    labels = _labels(parts)
    stem = _FORBIDDEN.sub("_", f"{domain}_{type_}_{name.removesuffix('PerSec')}").lower()
    help = mbean.removesuffix("".join(f",{key}={value}" for key, value in parts.items()))
    if metric.kind == "meter":
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


def _summary(stem: str, labels: dict[str, str], metric: Metric) -> list[_SAMPLE]:
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
