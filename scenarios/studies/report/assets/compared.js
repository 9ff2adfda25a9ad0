// The figures of a data set's report. Statistics come with the data; here they are drawn.
"use strict";

(() => {
  const { Plot } = libraries;
  const { data, element, number, look, choice } = report;
  const MINUS = "\u2212";
  const FOUND = new Set(["better", "worse", "lower", "higher"]);
  const MOST_TOLD = 12;
  const NUMBERS = 476;  // px for the columns of numbers beside the forest plot
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

  // -- arms ----------------------------------------------------------------------------------------------------------

  // The first axis is the colour, with a filled or a hollow mark; the second the shape and the dash; the others are
  // panels. An axis alone, or one with too many values, has colour, shape and dash together.
  const { axes } = data;
  const MOST_COLOURS = 8, MOST_SHAPES = 4, MOST_BANDS = 4;
  const shaped = axes.length > 1 && axes[0].values.length <= MOST_COLOURS && axes[1].values.length <= MOST_SHAPES ? 1 : 0;
  const panelled = axes.map((_, axis) => axis).filter((axis) => axis > shaped);
  const labels = data.levels.map(({ label }) => label);
  const places = data.levels.map(({ at }) => at);
  const hidden = new Set();  // places on axes: "0 1" is the second value of the first axis

  const isShown = (level) => !places[level].some((value, axis) => hidden.has(`${axis} ${value}`));
  const shownLevels = () => levels.map((_, level) => level).filter(isShown);
  const ALL_HIDDEN = "The legend hides every arm.";

  /** How a level looks: colour, symbol, hollow, dash, width. */
  function pen(level, theme) {
    const [first] = places[level];
    if (!shaped) return { ...look(first, theme), hollow: false, width: 2 };
    const { symbol, dash } = look(places[level][1], theme);
    return { colour: look(first, theme).colour, symbol, dash, hollow: first % 2 === 1, width: first % 2 ? 1.4 : 2.4 };
  }

  /** The levels in panels, in the order of the panels' values; where no axis is left for panels, in one. */
  function panels(shown, width) {
    const texts = (level) => panelled.map((axis) => axes[axis].values[places[level][axis]]).join(" \u00b7 ");
    const names = [...new Set(levels.map((_, level) => level).map(texts))].filter((text) => shown.some((level) => texts(level) === text));
    const columns = width < 620 ? 1 : Math.min(names.length, Math.max(2, Math.floor(width / 330)));
    const place = (text) => { const at = names.indexOf(text); return { fx: at % columns, fy: Math.floor(at / columns) }; };
    const facet = names.length > 1 ? { fx: (one) => place(texts(one.level)).fx, fy: (one) => place(texts(one.level)).fy } : {};
    const heads = names.length > 1 ? names.map((text) => ({ ...place(text), text })) : [];
    const rows = Math.ceil(names.length / columns);
    return {
      names, rows, columns, facet,
      of: (level) => names.indexOf(texts(level)),
      scales: names.length > 1 ? { fx: { axis: null, padding: 0.1 }, fy: { axis: null, padding: 0.22 } } : {},
      title: (theme) => heads.length && Plot.text(heads, { fx: "fx", fy: "fy", text: "text", frameAnchor: "top-left", dy: -15, fontWeight: 600, fill: theme.ink }),
    };
  }

  /** Panels of which some are too many in one drawing for their bands: bands of the curves of the others. */
  const banded = (curves, on) => curves.filter(({ level }) => curves.filter((other) => on.of(other.level) === on.of(level)).length <= MOST_BANDS);

  /** A legend of the axes; an entry hides and shows its arms in all figures. */
  const levelLegend = (parts) => (theme) => axes.flatMap(({ name, values }, axis) => values.map((label, value) => {
    const key = `${axis} ${value}`;
    const { colour, symbol, dash } = look(value, theme);
    const turn = values.length < 2 ? null : () => { if (!hidden.delete(key)) hidden.add(key); report.redraw(); };
    const ink = shaped ? theme.quiet : colour;
    const first = axis === 0 && { colour, ...(shaped && (parts.symbol ? { symbol: "circle", hollow: parts.hollow && value % 2 === 1 } : { dash: null, width: value % 2 ? 1.4 : 2.4 })) };
    const second = axis === shaped && { colour: ink, ...(parts.symbol && { symbol }), ...(parts.dash && { dash }) };
    return { group: axes.length > 1 ? name : "", label, ...first, ...second, turn, off: hidden.has(key) };
  }));

  /** The runs of a level, at "x" and "y". */
  function marked(own, level, theme, options = {}) {
    const { symbol, colour, hollow } = pen(level, theme);
    return Plot.dot(own, { x: "x", y: "y", r: 3.2, symbol, fill: hollow ? theme.card : colour, stroke: colour, fillOpacity: hollow ? 1 : 0.65, ...options });
  }

  const toldRun = (run, metric, x) => `${labels[run.level]}, seed ${run.seed}\n${metric}: ${number(x, unit(metric))}${run.completed === false ? "\nits moves did not finish" : ""}`;

  // -- forest --------------------------------------------------------------------------------------------------------

  /** The rows of the plot: metrics, each with the differences of the levels that are shown. */
  function forestRows() {
    const wanted = choice("forest-rows"), only = choice("forest-level");
    const shown = levels.filter((name, level) => level > 0 && (only ? name === only : isShown(level)));
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
    const numbers = width >= 860;
    const many = groups.some(({ own }) => own.length > 1);  // a metric has a line of its own above those of its arms
    const textOf = (one) => (many ? labels[levels.indexOf(one.level)] : one.row.metric);
    const longest = Math.max(...groups.flatMap(({ row, own }) => own.map((one) => textOf({ ...one, row }).length))) * 6.6 + 16;
    const above = longest > width * 0.44;  // the name of a line is above its mark
    const lines = [], heads = [];
    let y = 0;
    for (const { row, own } of groups) {
      if (many) heads.push({ y: y++, row });
      own.forEach((one, place) => lines.push({ ...one, row, y: y++, first: place === 0 }));
      y += 0.45;
    }
    const ends = lines.flatMap((one) => [one.relative, ...(one.relative_interval ?? [])]).filter((x) => x !== null);
    const edge = (side) => Math.min(MOST_SHARE, Math.max(0.01, ...ends.map((x) => side * x)) * 1.06);
    const domain = [-edge(-1), edge(1)];
    const clamp = (x, open) => Math.max(domain[0], Math.min(domain[1], x ?? open));
    const from = (one) => (one.relative_interval ? clamp(one.relative_interval[0], -Infinity) : clamp(one.relative));
    const to = (one) => (one.relative_interval ? clamp(one.relative_interval[1], Infinity) : clamp(one.relative));
    const beyond = (one) => one.relative < domain[0] || one.relative > domain[1];
    const colour = (one) => pen(levels.indexOf(one.level), theme).colour;
    const signed = (x) => number(x, "", { signed: true });
    const columns = [
      { at: 34, anchor: "start", head: "unit", text: (one) => (one.first ? one.row.unit : "") },
      { at: 210, head: "compared with", text: (one) => number(one.row.samples[againstOf.get(one.level)].mean) },
      { at: 292, head: "difference", text: (one) => signed(one.mean) },
      { at: 472, head: "95% interval", text: (one) => (one.interval ? `${signed(one.interval[0])} to ${signed(one.interval[1])}` : "none") },
    ];
    const labelWidth = above ? 22 : longest;
    const step = above ? 34 : many ? 19 : 24;
    const ticks = Math.max(2, Math.min(8, Math.floor((width - labelWidth - (numbers ? NUMBERS : 22)) / 78)));
    const cell = ({ at, text, anchor = "end" }) => Plot.text(lines, { frameAnchor: "right", dx: at, y: "y", text, textAnchor: anchor, fill: theme.ink });
    return Plot.plot({
      width, height: (y + 0.2) * step + 64, marginLeft: labelWidth, marginRight: numbers ? NUMBERS : 22, marginTop: 48, marginBottom: 10, style: style(theme),
      x: { axis: null, domain },
      y: { axis: null, domain: [y - 0.3, -0.75] },
      marks: [
        Plot.gridX({ stroke: theme.grid, strokeOpacity: 1, ticks }),
        Plot.axisX({ anchor: "top", ticks, tickFormat: (x) => share(x), tickSize: 0, label: null, color: theme.quiet }),
        Plot.text([above ? "difference" : "difference to the arm that it is compared with, as a share of its mean"], { frameAnchor: "top", dy: -40, text: (x) => x, fill: theme.quiet }),
        Plot.rect(lines.filter((one) => one.minimum_relative), { x1: (one) => clamp(-one.minimum_relative), x2: (one) => clamp(one.minimum_relative), y1: (one) => one.y - 0.5, y2: (one) => one.y + 0.5, fill: theme.quiet, fillOpacity: 0.2 }),
        Plot.ruleX([0], { stroke: theme.quiet }),
        Plot.link(lines, { x1: from, x2: to, y1: "y", y2: "y", stroke: colour, strokeWidth: 2 }),
        ...levels.slice(1).map((level, place) => Plot.dot(lines.filter((one) => one.level === level), {
          x: (one) => clamp(one.relative), y: "y", r: 4.5, symbol: pen(place + 1, theme).symbol, stroke: colour, strokeWidth: 1.5, fill: (one) => (FOUND.has(one.verdict) ? colour(one) : theme.card),
        })),
        ...[1, -1].map((side) => Plot.text(lines.filter((one) => beyond(one) && Math.sign(one.relative) === side), {
          x: side > 0 ? from : to, y: "y", dx: -9 * side, textAnchor: side > 0 ? "end" : "start", fill: colour, text: (one) => (side > 0 ? `${share(one.relative)} \u2192` : `\u2190 ${share(one.relative)}`) })),
        Plot.text(lines, { frameAnchor: "left", y: "y", text: textOf, fill: theme.ink, ...(above ? { dx: -20, dy: -15, textAnchor: "start" } : { dx: -10, textAnchor: "end" }) }),
        Plot.text(heads, { frameAnchor: "left", dx: above ? -20 : 4 - labelWidth, y: "y", textAnchor: "start", text: ({ row }) => row.metric, fontWeight: 600, fill: theme.ink }),
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
    return [
      `${row.metric}: ${short(row.text, 90)}`,
      `${labels[levels.indexOf(one.level)]}: ${number(row.samples[one.level].mean, row.unit)}`,
      `${labels[levels.indexOf(againstOf.get(one.level))]}: ${number(row.samples[againstOf.get(one.level)].mean, row.unit)}`,
      `difference ${number(one.mean, row.unit, { signed: true })} (${share(one.relative)})`,
      one.interval ? `95% interval ${one.interval.map((x) => number(x, "", { signed: true })).join(" to ")}` : "",
      `on ${one.sure}`,
      one.verdict,
    ].filter(Boolean).join("\n");
  }

  const flat = () => data.rows.flatMap((row) => levels.slice(1).map((level) => {
    const { interval, relative_interval, sure, ...rest } = row.differences[level];
    return { metric: row.metric, unit: row.unit, arm: level, baseline: againstOf.get(level), baseline_mean: row.samples[againstOf.get(level)].mean, arm_mean: row.samples[level].mean,
      ...rest, low: interval?.[0] ?? null, high: interval?.[1] ?? null, relative_low: relative_interval?.[0] ?? null, relative_high: relative_interval?.[1] ?? null };
  }));
  report.figure("forest", { legend: levelLegend({ symbol: true }), rows: flat, draw: forest });

  /** The height of a drawing of panels, and how many ticks there are room for below one. */
  const panelHeight = (on, width) => (on.names.length > 1 ? 40 + on.rows * Math.max(210, Math.min(300, (width / on.columns) * 0.6)) : Math.min(400, Math.max(250, width * 0.42)));
  const panelTicks = (on, width) => Math.max(2, Math.min(9, Math.floor((width - 70) / on.columns / 62)));
  const stroke = (level, theme) => { const { colour, dash, width } = pen(level, theme); return { stroke: colour, strokeWidth: width, strokeDasharray: dash }; };

  // -- completion ----------------------------------------------------------------------------------------------------

  function steps(name) {
    const { times_s: times, finished, low, high } = data.completions.levels[name];
    const level = levels.indexOf(name);
    const points = times.map((time, place) => ({ name, level, time, finished: finished[place], low: low[place], high: high[place] }));
    const end = data.completions.horizon;
    if (points.length && points.at(-1).time < end) points.push({ ...points.at(-1), time: end, added: true });
    return points;
  }

  function completed({ width, theme, still }) {
    const finishing = levels.filter((name) => data.completions.levels[name]?.finished.some((share) => share > 0));
    if (!finishing.length) return "No run finished its moves.";
    const curves = finishing.map((name) => ({ name, level: levels.indexOf(name), points: steps(name) })).filter(({ level }) => isShown(level));
    if (!curves.length) return shownLevels().length ? "No run of the arms that are shown finished its moves." : ALL_HIDDEN;
    const on = panels(curves.map(({ level }) => level), width);
    const all = curves.flatMap(({ points }) => points);
    const first = Math.min(...all.map((point) => point.time)), last = Math.max(...all.map((point) => point.time));
    const left = first > 0.4 * last ? first - 0.06 * (last - first || first) : 0;
    const lead = (points) => [{ ...points[0], time: left, finished: 0, low: 0, high: 0 }, ...points];
    return Plot.plot({
      width, height: panelHeight(on, width), marginLeft: 52, marginRight: 18, marginBottom: 42, marginTop: on.names.length > 1 ? 34 : 20, style: style(theme), ...on.scales,
      x: { domain: [left, last + 0.03 * (last - left || last)], label: "time from the first move's start (s)", labelAnchor: "center", labelArrow: "none", labelOffset: 36, ticks: panelTicks(on, width) },
      y: { domain: [0, 1], percent: false, tickFormat: (x) => share(x, {}), ticks: 5, label: null },
      marks: [
        Plot.gridY({ stroke: theme.grid, strokeOpacity: 1, ticks: 5 }),
        Plot.ruleY([0], { stroke: theme.line }),
        on.title(theme) || null,
        ...banded(curves, on).map(({ level, points }) => Plot.areaY(lead(points), { x: "time", y1: "low", y2: "high", curve: "step-after", fill: pen(level, theme).colour, fillOpacity: 0.14, ...on.facet })),
        ...curves.map(({ level, points }) => Plot.line(lead(points), { x: "time", y: "finished", curve: "step-after", ...stroke(level, theme), ...on.facet })),
        still ? null : Plot.tip(all.filter((point) => !point.added), Plot.pointer({ x: "time", y: "finished", maxRadius: 40, ...tip(theme), ...on.facet,
          title: (point) => `${labels[point.level]}\n${share(point.finished, {})} finished by ${number(point.time, "s")}\n95% interval ${share(point.low, {})} to ${share(point.high, {})}` })),
      ],
    });
  }
  report.figure("completed", {
    legend: levelLegend({ dash: true }), draw: completed,
    rows: () => levels.flatMap((arm) => (data.completions.levels[arm] ? steps(arm).filter((point) => !point.added)
      .map(({ time, finished, low, high }) => ({ arm, time_s: time, finished, low, high })) : [])),
  });

  // -- over time -----------------------------------------------------------------------------------------------------

  const series = () => data.series[Number(choice("time-series"))];

  function timePoints(name) {
    const curve = series().levels[name];
    const level = levels.indexOf(name);
    return (curve?.times_s ?? []).map((time, place) => ({ level, time, runs: curve.runs[place], low: curve.low[place], middle: curve.middle[place], high: curve.high[place] }));
  }

  function overTime({ width, theme, still }) {
    const curves = shownLevels().map((level) => ({ level, points: timePoints(levels[level]) })).filter(({ points }) => points.length);
    const all = curves.flatMap(({ points }) => points);
    if (!shownLevels().length) return ALL_HIDDEN;
    if (!all.some((point) => point.high > 0)) return `No ${series().name} at any time.`;
    const on = panels(curves.map(({ level }) => level), width);
    const line = { curve: "step-after", ...on.facet };  // a value holds until the next instant
    return Plot.plot({
      width, height: panelHeight(on, width), marginLeft: 64, marginRight: 18, marginBottom: 46, marginTop: on.names.length > 1 ? 44 : 26, style: style(theme), ...on.scales,
      x: { label: "virtual time (s)", labelAnchor: "center", labelArrow: "none", labelOffset: 36, ticks: panelTicks(on, width) },
      y: { type: choice("time-scale") ?? "linear", label: series().unit, labelArrow: "none", labelOffset: 60, tickFormat: (x) => number(x), ticks: 5, nice: true, zero: true },
      marks: [
        Plot.gridY({ stroke: theme.grid, strokeOpacity: 1, ticks: 5 }),
        Plot.ruleY([0], { stroke: theme.line }),
        on.title(theme) || null,
        ...banded(curves, on).map(({ level, points }) => Plot.areaY(points, { x: "time", y1: "low", y2: "high", fill: pen(level, theme).colour, fillOpacity: 0.16, ...line })),
        ...curves.map(({ level, points }) => Plot.line(points, { x: "time", y: "middle", ...stroke(level, theme), ...line })),
        still ? null : Plot.tip(all, Plot.pointer({ x: "time", y: "middle", maxRadius: 40, ...tip(theme), ...on.facet,
          title: (point) => `${labels[point.level]} at ${number(point.time, "s")}\nmedian ${number(point.middle, series().unit)}\n10th to 90th percentile: ${number(point.low)} to ${number(point.high)}\n${point.runs} runs lasted so long` })),
      ],
    });
  }
  report.figure("over-time", {
    legend: levelLegend({ dash: true }), draw: overTime,
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
    const points = levels.map((name, level) => ({ name, level, x: rows.get(across)?.samples[name].mean ?? null, y: rows.get(up)?.samples[name].mean ?? null }))
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
    const found = across && up ? front() : [];
    if (!found.length) return "No two figures that can be better or worse differ between runs.";
    const points = found.filter(({ level }) => isShown(level));
    if (!points.length) return ALL_HIDDEN;
    const on = panels(points.map(({ level }) => level), width);
    const seeds = runs.map((run) => ({ run, level: run.level, x: value(run, across), y: value(run, up) })).filter(({ x, y, level }) => x !== null && y !== null && isShown(level));
    const arrow = (metric) => (rows.get(metric).better === "higher" ? "higher is better" : "lower is better");
    const axis = (metric, room, labelOffset, ticks) => {
      const text = `${metric} (${unit(metric)}), ${arrow(metric)}`;
      return { label: text.length * 6.5 < room ? text : text.replace("), ", ")\n"), labelAnchor: "center", labelArrow: "none", labelOffset: labelOffset + (text.length * 6.5 < room ? 0 : 10), tickFormat: (x) => number(x), ticks, nice: true, inset: 10 };
    };
    const height = panelHeight(on, width) + 40;
    const dot = (level, options) => { const { symbol, colour, hollow } = pen(level, theme); return { x: "x", y: "y", symbol, fill: hollow ? theme.card : colour, stroke: colour, ...options, ...on.facet }; };
    return Plot.plot({
      width, height, marginLeft: 94, marginRight: 22, marginBottom: 60, marginTop: on.names.length > 1 ? 34 : 16, style: style(theme), ...on.scales,
      x: axis(across, width - 116, 36, panelTicks(on, width)), y: axis(up, height - 60, 72, 5),
      marks: [
        Plot.gridX({ stroke: theme.grid, strokeOpacity: 1, ticks: panelTicks(on, width) }), Plot.gridY({ stroke: theme.grid, strokeOpacity: 1, ticks: 5 }),
        on.title(theme) || null,
        on.names.length > 1 ? null : Plot.line(points.filter((point) => point.best).sort((a, b) => a.x - b.x), { x: "x", y: "y", stroke: theme.quiet, strokeDasharray: "4 3" }),
        ...shownLevels().map((level) => Plot.dot(seeds.filter((one) => one.level === level), dot(level, { r: 2.4, strokeOpacity: 0.5, fillOpacity: 0.35 }))),
        Plot.dot(points.filter((point) => point.best), { x: "x", y: "y", r: 11, stroke: theme.ink, strokeWidth: 1.3, ...on.facet }),
        ...points.map((point) => Plot.dot([point], dot(point.level, { r: 6, strokeWidth: 1.8 }))),
        still ? null : Plot.tip(points, Plot.pointer({ x: "x", y: "y", ...tip(theme), ...on.facet,
          title: (point) => `${labels[point.level]}\n${across}: ${number(point.x, unit(across))}\n${up}: ${number(point.y, unit(up))}${point.best ? "\non the Pareto front" : ""}` })),
      ],
    });
  }
  report.figure("pareto", {
    legend: levelLegend({ symbol: true, hollow: true }), draw: pareto,
    rows: () => front().map(({ name, x, y, best }) => ({ arm: name, [choice("pareto-x")]: x, [choice("pareto-y")]: y, pareto_front: best })),
  });

  // -- seed by seed --------------------------------------------------------------------------------------------------

  const MOST_JOINED = 8, MOST_JOINED_RUNS = 250;

  function spread({ width, theme, still }) {
    const metric = choice("spread-metric");
    if (!metric) return "No figure differs between runs.";
    const lines = shownLevels();
    if (!lines.length) return ALL_HIDDEN;
    const shown = runs.map((run) => ({ ...run, x: value(run, metric), y: lines.indexOf(run.level) })).filter(({ x, y }) => x !== null && y >= 0);
    const paired = new Map();
    for (const run of shown) {
      const key = `${run.seed} ${run.arm.at}`;
      paired.set(key, [...(paired.get(key) ?? []), run]);
    }
    const pairs = lines.length <= MOST_JOINED && paired.size <= MOST_JOINED_RUNS
      ? [...paired.values()].flatMap((own) => own.sort((a, b) => a.y - b.y).slice(1).map((run, place) => ({ from: own[place], to: run }))) : [];
    const means = lines.map((level, y) => ({ y, x: rows.get(metric).samples[levels[level]].mean })).filter(({ x }) => x !== null);
    const longest = Math.max(...lines.map((level) => labels[level].length));
    const above = 24 + 6.8 * longest > width * 0.4;  // the name is above the marks
    const room = above ? 14 : 24 + 6.8 * longest;
    return Plot.plot({
      width, height: Math.max(150, Math.min(lines.length * (above ? 52 : lines.length > 12 ? 26 : lines.length > 6 ? 34 : 58) + 60, 1400)), marginLeft: room, marginRight: 20, marginBottom: 46, marginTop: 8, style: style(theme),
      x: { label: `${metric} (${unit(metric)})`, labelAnchor: "center", labelArrow: "none", labelOffset: 36, tickFormat: (x) => number(x), ticks: Math.max(3, Math.floor((width - room) / 110)), nice: true, inset: 8 },
      y: { domain: [lines.length - 0.5, -0.5], axis: null },
      marks: [
        Plot.gridX({ stroke: theme.grid, strokeOpacity: 1, ticks: Math.max(3, Math.floor((width - room) / 110)) }),
        Plot.text(lines, { frameAnchor: "left", y: (_, place) => place, text: (level) => labels[level], fill: theme.ink,
          ...(above ? { dx: -6, dy: -17, textAnchor: "start" } : { dx: -12, textAnchor: "end" }) }),
        Plot.link(pairs, { x1: (pair) => pair.from.x, x2: (pair) => pair.to.x, y1: (pair) => pair.from.y, y2: (pair) => pair.to.y, stroke: theme.quiet, strokeOpacity: 0.3 }),
        ...lines.map((level) => marked(shown.filter((run) => run.level === level), level, theme)),
        Plot.link(means, { x1: "x", x2: "x", y1: (mean) => mean.y - 0.2, y2: (mean) => mean.y + 0.2, stroke: theme.ink, strokeWidth: 2.4 }),
        still ? null : Plot.tip(shown, Plot.pointer({ x: "x", y: "y", ...tip(theme), title: (run) => toldRun(run, metric, run.x) })),
      ],
    });
  }
  report.figure("spread", {
    draw: spread, legend: levels.length > 1 ? levelLegend({ symbol: true, hollow: true }) : undefined,
    rows: () => runs.map((run) => ({ arm: run.arm.name, seed: run.seed, [choice("spread-metric")]: value(run, choice("spread-metric")) })),
  });

  // -- the answer ----------------------------------------------------------------------------------------------------

  /** The lines of the picture: the levels in the order of panels, then of the second axis, so that values of the first
   * one are beside each other; a panel's name has a line of its own. */
  function answerLines(on) {
    const order = (level) => [on.of(level), ...(shaped ? [places[level][1]] : []), places[level][0]];
    const sorted = shownLevels().map((level) => ({ level, key: order(level) }))
      .sort((a, b) => a.key.reduce((found, part, place) => found || part - b.key[place], 0) || a.level - b.level).map(({ level }) => level);
    const lines = [], heads = [];
    let y = 0, panel = -1;
    for (const level of sorted) {
      if (on.names.length > 1 && on.of(level) !== panel) {
        panel = on.of(level);
        y += heads.length ? 0.4 : 0;
        heads.push({ y: y++, text: on.names[panel] });
      }
      lines.push({ level, y: y++, text: on.names.length > 1 ? axes.slice(0, shaped + 1).map(({ values }, axis) => values[places[level][axis]]).join(" \u00b7 ") : labels[level] });
    }
    return { lines, heads, height: y };
  }

  /** A figure's values on 0 to 1, as figures with different units are beside each other. */
  function scaled(metric, values) {
    const [low, high] = libraries.extent(values);
    const from = low > 0.5 * high ? low - 0.1 * (high - low || high) : Math.min(0, low);
    const to = high + 0.05 * (high - from || 1);
    return { metric, at: (x) => (x - from) / (to - from), ticks: (count) => libraries.ticks(from, to, count).map((x) => ({ metric, x: (x - from) / (to - from), text: number(x) })) };
  }

  function answer({ width, theme, still }) {
    if (!data.answer.length) return "No figure differs between runs.";
    if (!shownLevels().length) return ALL_HIDDEN;
    const { lines, heads, height } = answerLines(panels(shownLevels(), width));
    const longest = 20 + 6.6 * Math.max(...lines.map(({ text }) => text.length), ...heads.map(({ text }) => text.length));
    const stacked = width < longest + data.answer.length * 170;
    const above = stacked && longest > width * 0.4;
    const room = above ? 12 : longest;
    const half = above ? 0.2 : 0.36;  // of a line: a median's bar
    const step = above ? 32 : lines.length > 6 ? 19 : 26;
    const facet = stacked ? "fy" : "fx";
    const scales = data.answer.map((metric) => scaled(metric, runs.filter((run) => isShown(run.level)).map((run) => value(run, metric)).filter((x) => x !== null)));
    const points = scales.flatMap(({ metric, at }) => lines.flatMap(({ level, y }) => runs.filter((run) => run.level === level && value(run, metric) !== null)
      .map((run) => ({ ...run, metric, y, x: at(value(run, metric)) }))));
    const medians = scales.flatMap(({ metric, at }) => lines.map(({ level, y }) => ({ metric, y, x: rows.get(metric).samples[levels[level]].median })).filter(({ x }) => x !== null).map((one) => ({ ...one, x: at(one.x) })));
    const named = stacked ? data.answer : data.answer.slice(0, 1);
    const texts = named.flatMap((metric) => lines.map((line) => ({ ...line, metric }))), titles = named.flatMap((metric) => heads.map((head) => ({ ...head, metric })));
    const each = stacked ? width - room : (width - room) / data.answer.length;
    const ticks = scales.flatMap((scale) => scale.ticks(Math.max(2, Math.floor(each / 75))));
    const better = ({ better: which }) => (which === "neither" ? "" : `, ${which} is better`);
    const on = (metric) => `${metric}\n${unit(metric)}${better(rows.get(metric))}`;
    return Plot.plot({
      width, height: (height * step + 76) * (stacked ? data.answer.length : 1), marginLeft: room, marginRight: 20, marginTop: 60, marginBottom: 12, style: style(theme),
      x: { axis: null, domain: [0, 1] }, y: { axis: null, domain: [height - 0.4, -0.6] },
      [facet]: { axis: null, domain: data.answer, padding: stacked ? 0.14 : 0.08 },
      marks: [
        Plot.ruleX(ticks, { x: "x", [facet]: "metric", stroke: theme.grid }),
        Plot.text(ticks, { x: "x", [facet]: "metric", text: "text", frameAnchor: "top", dy: -10, fill: theme.quiet }),
        Plot.text(data.answer, { [facet]: (metric) => metric, text: on, frameAnchor: "top-left", lineAnchor: "top", dy: -58, dx: above ? -10 : 0, textAnchor: "start", fontWeight: 600, lineHeight: 1.25, fill: theme.ink }),
        Plot.text(titles, { [facet]: "metric", y: "y", text: "text", frameAnchor: "left", dx: above ? -10 : 6 - room, textAnchor: "start", fontWeight: 600, fill: theme.quiet }),
        Plot.text(texts, { [facet]: "metric", y: "y", text: "text", frameAnchor: "left", fill: theme.ink, ...(above ? { dx: -10, dy: -14, textAnchor: "start" } : { dx: -10, textAnchor: "end" }) }),
        ...lines.map(({ level }) => marked(points.filter((one) => one.level === level), level, theme, { [facet]: "metric" })),
        Plot.link(medians, { x1: "x", x2: "x", y1: (one) => one.y - half, y2: (one) => one.y + half, [facet]: "metric", stroke: theme.ink, strokeWidth: 2.2 }),
        still ? null : Plot.tip(points, Plot.pointer({ x: "x", y: "y", [facet]: "metric", ...tip(theme), title: (run) => toldRun(run, run.metric, value(run, run.metric)) })),
      ],
    });
  }
  report.figure("answer", {
    draw: answer, legend: levels.length > 1 ? levelLegend({ symbol: true, hollow: true }) : undefined,
    rows: () => data.answer.flatMap((metric) => runs.map((run) => ({ metric, unit: unit(metric), arm: run.arm.name, seed: run.seed, value: value(run, metric) }))),
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
  const several = levels.length < data.arms.length;  // a level has several arms

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
      return element("tr", {}, element("th", { scope: "row" }, several ? name : labels[run.level]), element("td", {}, which), element("td", { class: "number" }, number(value(run, metric), unit(metric))),
        element("td", { class: "number" }, String(run.seed)), element("td", {}, again || "none"));
    });
    const heads = [several ? "Arm" : data.heading, "Run", metric, "Seed", "Command"].map((head, column) => element("th", { scope: "col", class: column === 2 || column === 3 ? "number" : null }, head));
    const caption = `${metric}: ${rows.get(metric).text}`;
    place.replaceChildren(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      element("table", {}, element("caption", {}, element("span", {}, caption)), element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body))));
  }
  document.querySelector('[data-choice="extreme-metric"]')?.addEventListener("change", extremes);
  extremes();
})();
