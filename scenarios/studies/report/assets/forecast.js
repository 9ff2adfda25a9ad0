// The figures of a forecast's page.
"use strict";

(() => {
  const { Plot } = libraries;
  const { data, look, number } = report;
  const { outlooks, peaks } = data;
  const LEFT = (width) => Math.min(width * 0.4, 14 + 7.2 * Math.max(0, ...outlooks.map(({ name }) => name.length)));
  const common = (width, theme) => ({ width, marginLeft: LEFT(width), style: { fontSize: "12px", color: theme.ink, background: "none" } });
  const byte = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

  report.figure("times", {
    draw({ width, theme }) {
      if (!outlooks.length) return "Nothing ends.";
      const run = outlooks.filter(({ mean_s }) => mean_s !== null);
      return Plot.plot({
        ...common(width, theme),
        height: 60 + 26 * outlooks.length,
        x: { label: "virtual time (s) \u2192", type: "log", grid: true },
        y: { label: null, domain: outlooks.map(({ name }) => name) },
        marks: [
          Plot.ruleY(outlooks, { y: "name", x1: "at_least_s", x2: "estimate_s", stroke: theme.quiet, strokeWidth: 2 }),
          Plot.tickX(outlooks, { y: "name", x: "at_least_s", stroke: theme.quiet, strokeWidth: 2 }),
          Plot.dot(outlooks, { y: "name", x: "estimate_s", r: 5, fill: look(0, theme).colour, title: ({ name, estimate_s }) => `${name}: ${number(estimate_s, "s")}` }),
          Plot.ruleY(run.filter(({ low_s }) => low_s !== null), { y: "name", x1: "low_s", x2: "high_s", stroke: look(1, theme).colour, strokeWidth: 3 }),
          Plot.dot(run, { y: "name", x: "mean_s", r: 5, symbol: "square", fill: look(1, theme).colour, title: ({ name, mean_s }) => `${name}: ${number(mean_s, "s")}` }),
        ],
      });
    },
    rows: () => outlooks,
    legend: (theme) => [
      { label: "estimate", colour: look(0, theme).colour, symbol: "circle" },
      { label: "at least", colour: theme.quiet, width: 2 },
      { label: "runs: mean and interval", colour: look(1, theme).colour, symbol: "square" },
    ],
  });

  report.figure("peaks", {
    draw({ width, theme }) {
      if (!peaks.length) return "The brokers of this release do not measure their traffic.";
      const names = [...new Set(peaks.map(({ name }) => name))];
      return Plot.plot({
        ...common(width, theme),
        marginLeft: 64,
        marginRight: LEFT(width),  // the names of the panels stand there
        height: 60 + names.length * 110,
        x: { label: "broker", type: "band" },
        y: { label: "\u2191 bytes in a second", grid: true, tickFormat: byte.format },
        fy: { label: null, domain: names },
        color: { domain: ["out", "in"], range: [look(0, theme).colour, look(1, theme).colour] },
        marks: [
          Plot.ruleY([0], { stroke: theme.line }),
          Plot.barY(peaks.filter(({ side }) => side === "out"), { x: "broker", fy: "name", y: "rate", fill: "side", insetRight: 14 }),
          Plot.barY(peaks.filter(({ side }) => side === "in"), { x: "broker", fy: "name", y: "rate", fill: "side", insetLeft: 14 }),
        ],
      });
    },
    rows: () => peaks,
    legend: (theme) => [
      { label: "sent", colour: look(0, theme).colour, fill: true },
      { label: "received", colour: look(1, theme).colour, fill: true },
    ],
  });
})();
