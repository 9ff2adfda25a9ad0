// The figures of a data set's report. Statistics come with the data; here they are drawn.
"use strict";

(() => {
  const { Plot } = libraries;
  const { data, element, number, look, choice } = report;
  const MINUS = "\u2212";
  const FOUND = new Set(["better", "worse", "lower", "higher"]);
  const MOST_TOLD = 12;
  const MOST_SHARE = 2;  // the forest plot's edge; what lies beyond it has its share written there
  const levels = data.levels.map(({ name }) => name);
  const baseline = levels[0];
  const againstOf = new Map(data.levels.map(({ name, against }) => [name, against ?? baseline]));
  const rows = new Map(data.rows.map((row) => [row.metric, row]));
  const runs = data.runs.seed.map((seed, place) => {
    const arm = data.arms[data.runs.arm[place]];
    return { seed, place, arm, level: arm.level, completed: data.runs.completed[place] };
  });
  const value = (run, metric) => data.runs.values[metric]?.[run.place] ?? null;
  const unit = (metric) => rows.get(metric).unit;
  const style = (theme) => ({ fontSize: "12px", color: theme.ink, background: "none", overflow: "visible" });
  const share = (part, options = { signDisplay: "exceptZero" }) => new Intl.NumberFormat("en", { style: "percent", maximumSignificantDigits: 2, ...options })
    .format(part).replace("-", MINUS);
  const tip = (theme, rest) => ({ fill: theme.card, stroke: theme.line, fontSize: 12, lineHeight: 1.25, textPadding: 8, ...rest });

  /** A text of at most `most` letters. */
  const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);

  /** The legend of the levels from the first-th on. */
  const levelLegend = (first, parts) => (theme) => levels.slice(first).map((label, place) => {
    const { colour, symbol, dash } = look(place + first, theme);
    return { label, colour, ...(parts.symbol && { symbol }), ...(parts.dash && { dash }), ...(parts.band && { band: true }) };
  });

  // -- forest --------------------------------------------------------------------------------------------------------

  /** The rows of the plot: metrics, each with the differences of the levels that are shown. */
  function forestRows() {
    const wanted = choice("forest-rows"), only = choice("forest-level");
    const shown = only ? [only] : levels.slice(1);
    const told = data.told.filter(([metric, level]) => shown.includes(level) && rows.get(metric).differences[level].relative !== null).slice(0, MOST_TOLD);
    const telling = wanted === "told" && told.length > 0;
    const order = telling ? [...new Set(told.map(([metric]) => metric))] : data.rows.map((row) => row.metric);
    const wants = (metric, level, one) => one.relative !== null && (telling
      ? told.some(([m, l]) => m === metric && l === level)
      : wanted !== "found" || FOUND.has(one.verdict));
    return order.map((metric) => {
      const row = rows.get(metric);
      return { row, own: shown.map((level) => ({ level, ...row.differences[level] })).filter((one) => wants(metric, one.level, one)) };
    }).filter(({ own }) => own.some((one) => one.relative || one.relative_interval?.some(Boolean)));
  }

  /** A figure of a paper: groups of rows, intervals, and the numbers beside them where there is room. */
  function forest({ width, theme, still }) {
    const groups = forestRows();
    if (!groups.length) return "Nothing to draw: no figure has a difference that is a share of its mean.";
    const numbers = width >= 860, narrow = width < 560;
    const lines = [];
    let y = 0;
    for (const { row, own } of groups) {
      const first = y;
      for (const one of own) lines.push({ ...one, row, y: y++, key: `${row.metric}` });
      lines.at(-1).last = true;
      lines[lines.length - own.length].label = { y: first };
      y += 0.55;
    }
    const ends = lines.flatMap((one) => [one.relative, ...(one.relative_interval ?? [])]).filter((x) => x !== null);
    const edge = (side) => Math.min(MOST_SHARE, Math.max(0.01, ...ends.map((x) => side * x)) * 1.06);
    const domain = [-edge(-1), edge(1)];
    const clamp = (x, open) => Math.max(domain[0], Math.min(domain[1], x ?? open));
    const from = (one) => (one.relative_interval ? clamp(one.relative_interval[0], -Infinity) : clamp(one.relative));
    const to = (one) => (one.relative_interval ? clamp(one.relative_interval[1], Infinity) : clamp(one.relative));
    const beyond = (one) => one.relative < domain[0] || one.relative > domain[1];
    const colour = (one) => look(levels.indexOf(one.level), theme).colour;
    const signed = (x) => number(x, "", { signed: true });
    const columns = [
      { at: 34, anchor: "start", head: "unit", text: (one) => (one.label ? one.row.unit : "") },
      { at: 204, head: "compared with", text: (one) => number(one.row.samples[againstOf.get(one.level)].mean) },
      { at: 284, head: "difference", text: (one) => signed(one.mean) },
      { at: 438, head: "95% interval", text: (one) => (one.interval ? `${signed(one.interval[0])} to ${signed(one.interval[1])}` : "none") },
    ];
    const labelWidth = narrow ? Math.floor(width * 0.44) : 215;
    const step = levels.length > 2 && !choice("forest-level") ? 17 : 24;
    const label = lines.filter((one) => one.label);
    const ticks = Math.max(2, Math.min(8, Math.floor((width - labelWidth - (numbers ? 440 : 18)) / 78)));
    const cell = ({ at, text, anchor = "end" }) => Plot.text(lines, { frameAnchor: "right", dx: at, y: "y", text, textAnchor: anchor, fill: theme.ink });
    return Plot.plot({
      width, height: (y + 0.2) * step + 64, marginLeft: labelWidth, marginRight: numbers ? 440 : 18, marginTop: 48, marginBottom: 10, style: style(theme),
      x: { axis: null, domain },
      y: { axis: null, domain: [y - 0.3, -0.75] },
      marks: [
        Plot.gridX({ stroke: theme.grid, strokeOpacity: 1, ticks }),
        Plot.axisX({ anchor: "top", ticks, tickFormat: (x) => share(x), tickSize: 0, label: null, color: theme.quiet }),
        Plot.text([narrow ? "difference" : "difference to the arm that it is compared with, as a share of its mean"], { frameAnchor: "top", dy: -40, text: (x) => x, fill: theme.quiet }),
        Plot.rect(lines.filter((one) => one.minimum_relative), { x1: (one) => clamp(-one.minimum_relative), x2: (one) => clamp(one.minimum_relative), y1: (one) => one.y - 0.5, y2: (one) => one.y + 0.5, fill: theme.quiet, fillOpacity: 0.2 }),
        Plot.ruleX([0], { stroke: theme.quiet }),
        Plot.link(lines, { x1: from, x2: to, y1: "y", y2: "y", stroke: colour, strokeWidth: 2 }),
        ...levels.slice(1).map((level, place) => Plot.dot(lines.filter((one) => one.level === level), {
          x: (one) => clamp(one.relative), y: "y", r: 4.5, symbol: look(place + 1, theme).symbol, stroke: colour, strokeWidth: 1.5, fill: (one) => (FOUND.has(one.verdict) ? colour(one) : theme.card),
        })),
        ...[1, -1].map((side) => Plot.text(lines.filter((one) => beyond(one) && Math.sign(one.relative) === side), {
          x: side > 0 ? from : to, y: "y", dx: -9 * side, textAnchor: side > 0 ? "end" : "start", fill: colour, text: (one) => (side > 0 ? `${share(one.relative)} \u2192` : `\u2190 ${share(one.relative)}`) })),
        Plot.text(label, { frameAnchor: "left", dx: -10, y: (one) => one.label.y, textAnchor: "end", text: (one) => short(one.row.metric, Math.floor((labelWidth - 14) / 6.6)), fill: theme.ink }),
        ...(numbers ? [
          ...columns.map(cell),
          ...columns.map(({ at, head, anchor = "end" }) => Plot.text([head], { frameAnchor: "top-right", dx: at, dy: -17, textAnchor: anchor, text: (x) => x, fill: theme.quiet })),
        ] : []),
        still ? null : Plot.tip(lines, Plot.pointerY({ x: (one) => clamp(one.relative), y: "y", title: toldDifference, maxRadius: 60, ...tip(theme) })),
      ],
    });
  }

  function toldDifference(one) {
    const { row } = one;
    const p = one.p === null ? "" : `, p ${one.p < 0.001 ? "< 0.001" : `= ${one.p.toFixed(3)}`}`;
    return [
      `${row.metric}: ${short(row.text, 90)}`,
      `${short(one.level, 40)}: ${number(row.samples[one.level].mean, row.unit)}; ${short(againstOf.get(one.level), 40)}: ${number(row.samples[againstOf.get(one.level)].mean, row.unit)}`,
      `difference ${number(one.mean, row.unit, { signed: true })} (${share(one.relative)})`,
      one.interval ? `95% interval ${one.interval.map((x) => number(x, "", { signed: true })).join(" to ")}` : "",
      `higher on ${one.higher}, lower on ${one.lower} of ${one.pairs} seeds${p}`,
      one.verdict,
    ].filter(Boolean).join("\n");
  }

  const flat = () => data.rows.flatMap((row) => levels.slice(1).map((level) => {
    const { interval, relative_interval, ...rest } = row.differences[level];
    return { metric: row.metric, unit: row.unit, arm: level, baseline: againstOf.get(level), baseline_mean: row.samples[againstOf.get(level)].mean, arm_mean: row.samples[level].mean,
      ...rest, low: interval?.[0] ?? null, high: interval?.[1] ?? null, relative_low: relative_interval?.[0] ?? null, relative_high: relative_interval?.[1] ?? null };
  }));
  const drawn = () => new Set(forestRows().flatMap(({ own }) => own.map((one) => one.level)));
  report.figure("forest", { legend: (theme) => levelLegend(1, { symbol: true })(theme).filter(({ label }) => drawn().has(label)), rows: flat, draw: forest });

  // -- completion ----------------------------------------------------------------------------------------------------

  function steps(name) {
    const { times_s: times, finished, low, high } = data.completions.levels[name];
    const points = times.map((time, place) => ({ name, time, finished: finished[place], low: low[place], high: high[place] }));
    const end = data.completions.horizon;
    if (points.length && points.at(-1).time < end) points.push({ ...points.at(-1), time: end, added: true });
    return points;
  }

  function completed({ width, theme, still }) {
    const curves = levels.filter((name) => data.completions.levels[name]?.finished.some((share) => share > 0)).map((name) => ({ name, points: steps(name) }));
    if (!curves.length) return "No run finished its moves.";
    const all = curves.flatMap(({ points }) => points);
    const first = Math.min(...all.map((point) => point.time)), last = Math.max(...all.map((point) => point.time));
    const left = first > 0.4 * last ? first - 0.06 * (last - first || first) : 0;
    const lead = (points) => [{ ...points[0], time: left, finished: 0, low: 0, high: 0 }, ...points];
    const colour = (name) => look(levels.indexOf(name), theme);
    return Plot.plot({
      width, height: Math.min(380, Math.max(250, width * 0.42)), marginLeft: 52, marginRight: 18, marginBottom: 42, style: style(theme),
      x: { domain: [left, last + 0.03 * (last - left || last)], label: "time from the first move's start (s)", labelAnchor: "center", labelArrow: "none", labelOffset: 36 },
      y: { domain: [0, 1], percent: false, tickFormat: (x) => share(x, {}), label: null, grid: true },
      marks: [
        Plot.gridY({ stroke: theme.grid, strokeOpacity: 1, ticks: 5 }),
        Plot.ruleY([0], { stroke: theme.line }),
        ...curves.map(({ name, points }) => Plot.areaY(lead(points), { x: "time", y1: "low", y2: "high", curve: "step-after", fill: colour(name).colour, fillOpacity: 0.14 })),
        ...curves.map(({ name, points }) => Plot.line(lead(points), { x: "time", y: "finished", curve: "step-after", stroke: colour(name).colour, strokeWidth: 2, strokeDasharray: colour(name).dash })),
        still ? null : Plot.tip(all.filter((point) => !point.added), Plot.pointer({ x: "time", y: "finished", maxRadius: 40, ...tip(theme),
          title: (point) => `${short(point.name, 50)}\n${share(point.finished, {})} finished by ${number(point.time, "s")}\n95% interval ${share(point.low, {})} to ${share(point.high, {})}` })),
      ],
    });
  }
  report.figure("completed", {
    legend: levelLegend(0, { dash: true, band: true }), draw: completed,
    rows: () => levels.flatMap((arm) => (data.completions.levels[arm] ? steps(arm).filter((point) => !point.added)
      .map(({ time, finished, low, high }) => ({ arm, time_s: time, finished, low, high })) : [])),
  });

  // -- over time -----------------------------------------------------------------------------------------------------

  const series = () => data.series[Number(choice("time-series"))];

  function timePoints(name) {
    const curve = series().levels[name];
    return (curve?.times_s ?? []).map((time, place) => ({ name, time, runs: curve.runs[place], low: curve.low[place], middle: curve.middle[place], high: curve.high[place] }));
  }

  function overTime({ width, theme, still }) {
    const curves = levels.map((name) => ({ name, points: timePoints(name) })).filter(({ points }) => points.length);
    const all = curves.flatMap(({ points }) => points);
    if (!all.some((point) => point.high > 0)) return `No ${series().name} at any time.`;
    const colour = (name) => look(levels.indexOf(name), theme);
    const line = { curve: "step-after" };  // a value holds until the next instant
    return Plot.plot({
      width, height: Math.min(400, Math.max(250, width * 0.42)), marginLeft: 64, marginRight: 18, marginBottom: 46, marginTop: 26, style: style(theme),
      x: { label: "virtual time (s)", labelAnchor: "center", labelArrow: "none", labelOffset: 36 },
      y: { type: choice("time-scale") ?? "linear", label: series().unit, labelArrow: "none", tickFormat: (x) => number(x), ticks: 5, nice: true, zero: true },
      marks: [
        Plot.gridY({ stroke: theme.grid, strokeOpacity: 1, ticks: 5 }),
        Plot.ruleY([0], { stroke: theme.line }),
        ...curves.map(({ name, points }) => Plot.areaY(points, { x: "time", y1: "low", y2: "high", fill: colour(name).colour, fillOpacity: 0.16, ...line })),
        ...curves.map(({ name, points }) => Plot.line(points, { x: "time", y: "middle", stroke: colour(name).colour, strokeWidth: 2, strokeDasharray: colour(name).dash, ...line })),
        still ? null : Plot.tip(all, Plot.pointer({ x: "time", y: "middle", maxRadius: 40, ...tip(theme),
          title: (point) => `${short(point.name, 50)} at ${number(point.time, "s")}\nmedian ${number(point.middle, series().unit)}\n10th to 90th percentile: ${number(point.low)} to ${number(point.high)}\n${point.runs} runs lasted so long` })),
      ],
    });
  }
  report.figure("over-time", {
    legend: levelLegend(0, { dash: true, band: true }), draw: overTime,
    rows: () => levels.flatMap((arm) => timePoints(arm).map(({ time, runs: lasted, low, middle, high }) => ({ series: series().name, unit: series().unit, arm, time_s: time, runs: lasted, p10: low, median: middle, p90: high }))),
  });

  // -- grid ----------------------------------------------------------------------------------------------------------

  /** Means of the levels that share a value on both axes. */
  function cells() {
    const metric = choice("heat-metric"), across = choice("heat-x"), down = choice("heat-y");
    const found = new Map();
    for (const { name, values } of data.levels) {
      const x = values[across], y = values[down], mean = rows.get(metric)?.samples[name].mean;
      if (x === undefined || y === undefined || mean === null || mean === undefined) continue;
      const key = JSON.stringify([x, y]);
      found.set(key, { x, y, means: [...(found.get(key)?.means ?? []), mean] });
    }
    return [...found.values()].map(({ x, y, means }) => ({ x, y, mean: means.reduce((sum, each) => sum + each, 0) / means.length }));
  }

  function heat({ width, theme, still }) {
    const metric = choice("heat-metric"), across = choice("heat-x"), down = choice("heat-y");
    if (!metric) return "No figure differs between runs.";
    if (across === down) return "Choose two different axes.";
    const found = cells();
    if (!found.length) return "No arm has this figure.";
    const axis = (key) => [...new Set(found.map((cell) => cell[key]))];
    const [low, high] = libraries.extent(found, (cell) => cell.mean);
    const middle = (low + high) / 2;
    const longest = Math.max(...axis("y").map((text) => text.length));
    return Plot.plot({
      width, height: axis("y").length * 46 + 92, marginLeft: Math.min(width * 0.4, 30 + 6.8 * longest), marginBottom: 46, marginTop: 34, style: style(theme),
      x: { type: "band", domain: axis("x"), label: across, labelArrow: "none", labelAnchor: "center", labelOffset: 36, padding: 0.03, tickSize: 0 },
      y: { type: "band", domain: axis("y"), label: down, labelArrow: "none", padding: 0.05, tickSize: 0 },
      color: { type: "linear", domain: low === high ? [low - 1, high + 1] : [low, high], range: theme.scheme === "dark" ? ["#12324f", "#f5e3a1"] : ["#eef4fb", "#0b4a7d"], interpolate: "lab" },
      marks: [
        Plot.cell(found, { x: "x", y: "y", fill: "mean", rx: 4 }),
        Plot.text(found, { x: "x", y: "y", text: (cell) => number(cell.mean), fontSize: 13, fill: (cell) => (theme.scheme === "dark" ? (cell.mean > middle ? "#10151c" : "#f2f5f9") : (cell.mean > middle ? "#ffffff" : "#10151c")) }),
        still ? null : Plot.tip(found, Plot.pointer({ x: "x", y: "y", title: (cell) => `${across} ${cell.x}\n${down} ${cell.y}\n${metric}: ${number(cell.mean, unit(metric))}`, ...tip(theme) })),
      ],
    });
  }
  report.figure("heat", {
    draw: heat,
    legend: () => (choice("heat-metric") ? [{ label: `${choice("heat-metric")}, in ${unit(choice("heat-metric"))}: ${rows.get(choice("heat-metric")).text}` }] : []),
    rows: () => cells().map(({ x, y, mean }) => ({ [choice("heat-x")]: x, [choice("heat-y")]: y, [choice("heat-metric")]: mean })),
  });

  // -- trade-offs ----------------------------------------------------------------------------------------------------

  /** The means of the levels in two metrics, and which no other level beats in one without losing in the other. */
  function front() {
    const across = choice("pareto-x"), up = choice("pareto-y");
    const points = levels.map((name, place) => ({ name, place, x: rows.get(across)?.samples[name].mean ?? null, y: rows.get(up)?.samples[name].mean ?? null }))
      .filter(({ x, y }) => x !== null && y !== null);
    const sign = (metric) => (rows.get(metric).better === "higher" ? -1 : 1);
    const [sx, sy] = [across, up].map((metric) => (metric ? sign(metric) : 1));
    for (const point of points) {
      point.best = !points.some((other) => sx * other.x <= sx * point.x && sy * other.y <= sy * point.y && (other.x !== point.x || other.y !== point.y));
    }
    return points;
  }

  function pareto({ width, theme, still }) {
    const across = choice("pareto-x"), up = choice("pareto-y");
    const points = across && up ? front() : [];
    if (!points.length) return "No two figures that can be better or worse differ between runs.";
    const seeds = runs.map((run) => ({ run, x: value(run, across), y: value(run, up) })).filter(({ x, y }) => x !== null && y !== null);
    const arrow = (metric) => (rows.get(metric).better === "higher" ? "higher is better" : "lower is better");
    const axis = (metric, room, labelOffset) => ({ label: `${short(`${metric} (${unit(metric)})`, Math.floor(room / 6.5) - 20)}, ${arrow(metric)}`, labelAnchor: "center", labelArrow: "none", labelOffset, tickFormat: (x) => number(x), ticks: 5, nice: true, inset: 10 });
    const height = Math.min(430, Math.max(300, width * 0.66));
    return Plot.plot({
      width, height, marginLeft: 82, marginRight: 22, marginBottom: 46, marginTop: 16, style: style(theme),
      x: axis(across, width - 90, 36), y: axis(up, height - 60, 72),
      marks: [
        Plot.gridX({ stroke: theme.grid, strokeOpacity: 1, ticks: 5 }), Plot.gridY({ stroke: theme.grid, strokeOpacity: 1, ticks: 5 }),
        Plot.line(points.filter((point) => point.best).sort((a, b) => a.x - b.x), { x: "x", y: "y", stroke: theme.quiet, strokeDasharray: "4 3" }),
        ...levels.map((name, place) => Plot.dot(seeds.filter(({ run }) => run.level === place), { x: "x", y: "y", r: 2.4, symbol: look(place, theme).symbol, fill: look(place, theme).colour, fillOpacity: 0.35 })),
        Plot.dot(points.filter((point) => point.best), { x: "x", y: "y", r: 11, stroke: theme.ink, strokeWidth: 1.3 }),
        ...points.map((point) => Plot.dot([point], { x: "x", y: "y", r: 6.5, symbol: look(point.place, theme).symbol, fill: look(point.place, theme).colour, stroke: theme.card, strokeWidth: 1 })),
        still ? null : Plot.tip(points, Plot.pointer({ x: "x", y: "y", ...tip(theme),
          title: (point) => `${short(point.name, 50)}\n${across}: ${number(point.x, unit(across))}\n${up}: ${number(point.y, unit(up))}${point.best ? "\non the Pareto front" : ""}` })),
      ],
    });
  }
  report.figure("pareto", {
    legend: levelLegend(0, { symbol: true }), draw: pareto,
    rows: () => front().map(({ name, x, y, best }) => ({ arm: name, [choice("pareto-x")]: x, [choice("pareto-y")]: y, pareto_front: best })),
  });

  // -- seed by seed --------------------------------------------------------------------------------------------------

  const MOST_JOINED = 8, MOST_JOINED_RUNS = 250;

  function spread({ width, theme, still }) {
    const metric = choice("spread-metric");
    if (!metric) return "No figure differs between runs.";
    const shown = runs.map((run) => ({ ...run, x: value(run, metric) })).filter(({ x }) => x !== null);
    const paired = new Map();
    for (const run of shown) {
      const key = `${run.seed} ${run.arm.at}`;
      paired.set(key, [...(paired.get(key) ?? []), run]);
    }
    const pairs = levels.length <= MOST_JOINED && paired.size <= MOST_JOINED_RUNS
      ? [...paired.values()].flatMap((own) => own.sort((a, b) => a.level - b.level).slice(1).map((run, place) => ({ from: own[place], to: run }))) : [];
    const means = levels.map((name, level) => ({ level, x: rows.get(metric).samples[name].mean })).filter(({ x }) => x !== null);
    const longest = Math.max(...levels.map((name) => name.length));
    const above = 24 + 6.8 * longest > width * 0.4;  // the name is above the marks
    const room = above ? 14 : 24 + 6.8 * longest;
    return Plot.plot({
      width, height: Math.max(150, Math.min(levels.length * (above ? 52 : levels.length > 12 ? 26 : 58) + 60, 1400)), marginLeft: room, marginRight: 20, marginBottom: 46, marginTop: 8, style: style(theme),
      x: { label: `${metric} (${unit(metric)})`, labelAnchor: "center", labelArrow: "none", labelOffset: 36, tickFormat: (x) => number(x), ticks: Math.max(3, Math.floor((width - room) / 110)), nice: true, inset: 8 },
      y: { domain: [levels.length - 0.5, -0.5], axis: null },
      marks: [
        Plot.gridX({ stroke: theme.grid, strokeOpacity: 1, ticks: Math.max(3, Math.floor((width - room) / 110)) }),
        Plot.text(levels, { frameAnchor: "left", y: (_, place) => place, text: (name) => name, fill: theme.ink,
          ...(above ? { dx: -6, dy: -17, textAnchor: "start" } : { dx: -12, textAnchor: "end" }) }),
        Plot.link(pairs, { x1: (pair) => pair.from.x, x2: (pair) => pair.to.x, y1: (pair) => pair.from.level, y2: (pair) => pair.to.level, stroke: theme.quiet, strokeOpacity: 0.3 }),
        ...levels.map((_, place) => Plot.dot(shown.filter(({ level }) => level === place), { x: "x", y: "level", r: 3.2, symbol: look(place, theme).symbol, fill: look(place, theme).colour, fillOpacity: 0.65 })),
        Plot.link(means, { x1: "x", x2: "x", y1: (mean) => mean.level - 0.2, y2: (mean) => mean.level + 0.2, stroke: theme.ink, strokeWidth: 2.4 }),
        still ? null : Plot.tip(shown, Plot.pointer({ x: "x", y: "level", ...tip(theme),
          title: (run) => `${short(run.arm.name, 50)}, seed ${run.seed}\n${number(run.x, unit(metric))}${run.completed === false ? "\nits moves did not finish" : ""}` })),
      ],
    });
  }
  report.figure("spread", {
    draw: spread,
    rows: () => runs.map((run) => ({ arm: run.arm.name, seed: run.seed, [choice("spread-metric")]: value(run, choice("spread-metric")) })),
  });

  // -- tables --------------------------------------------------------------------------------------------------------

  /** Of several tables with the same columns one is shown; print shows them all. */
  const tables = [...document.querySelectorAll(".level")];
  const pick = document.querySelector('[data-choice="table-level"]');
  const turn = () => { for (const one of tables) one.classList.toggle("unchosen", Boolean(pick) && one.dataset.level !== pick.value); };
  pick?.addEventListener("change", turn);
  turn();

  const EACH = 6;  // with more arms the page lists the extreme runs of all arms together
  const TOGETHER = 3;

  /** The lowest and the highest runs, each with its command. */
  function extremes() {
    const metric = choice("extreme-metric"), place = document.getElementById("extremes");
    if (!metric) return place.replaceChildren(element("p", { class: "empty" }, "No figure differs between runs."));
    const sorted = runs.filter((run) => value(run, metric) !== null).sort((a, b) => value(a, metric) - value(b, metric));
    const ends = (own, count) => [...own.slice(0, count).map((run) => ["lowest", run]), ...own.slice(Math.max(count, own.length - count)).map((run) => ["highest", run])];
    const listed = levels.length > EACH ? ends(sorted, TOGETHER) : levels.flatMap((_, level) => ends(sorted.filter((run) => run.level === level), 1));
    const body = listed.map(([which, run]) => {
      const { name, replay } = run.arm;
      const line = `${replay} --seed ${run.seed}`;
      const again = replay && element("div", { class: "command" },
        element("button", { type: "button", class: "button", "data-copy": line, "aria-label": `Copy the command of ${name}, seed ${run.seed}` }, "Copy"), element("code", {}, line));
      return element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, which), element("td", { class: "number" }, number(value(run, metric), unit(metric))),
        element("td", { class: "number" }, String(run.seed)), element("td", {}, again || "none"));
    });
    const heads = ["Arm", "Run", metric, "Seed", "Command"].map((head, column) => element("th", { scope: "col", class: column === 2 || column === 3 ? "number" : null }, head));
    const caption = `${metric}: ${rows.get(metric).text}`;
    place.replaceChildren(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      element("table", {}, element("caption", {}, element("span", {}, caption)), element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body))));
  }
  document.querySelector('[data-choice="extreme-metric"]')?.addEventListener("change", extremes);
  extremes();
})();
