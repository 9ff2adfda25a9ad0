// The page of one run: the ISRs over time, series under the same axis, and the state at the moment of the slider.
"use strict";

(() => {
  const { Plot } = libraries;
  const { data, element, number, choice } = report;
  const END = data.run.virtual_us;
  const S = 1e6;
  const LONGEST = Math.max(...data.partitions.map(({ name }) => name.length)) * 7.3 + 14;
  const LEFT = (width) => Math.max(width < 560 ? 64 : 92, Math.min(LONGEST, width * 0.4));  // room for the partitions' names
  const RIGHT = 14;
  const ROLES = {
    L: "leader", I: "in ISR", f: "catching up", F: "failed (KIP-461)", x: "down", P: "paused", C: "controller", o: "up", ".": "not started",
  };
  const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 }).format;
  const byId = (id) => document.getElementById(id);
  const seconds = (t) => `${(t / S).toFixed(6)} s`;
  const minus = (text) => String(text).replace("-", "\u2212");

  // -- the moment ----------------------------------------------------------------------------------------------------

  const events = data.events;
  const slider = byId("moment");
  const first = data.shades.find((one) => one.kind === "fault") ?? events.find((one) => one.kind === "failure") ?? events[0];
  let current = first ? events.findIndex((one) => one.seq === first.seq) : -1;
  let moment = first?.t_us ?? 0;
  const cursors = new Map();

  /** The span of time that the figures show: [from, to] in us. */
  function shownTime() {
    const width = Number(choice("window"));
    if (!width || width >= END) return [0, END];
    const from = Math.min(Math.max(0, moment - width / 2), END - width);
    return [from, from + width];
  }

  let waiting = 0;
  function look(t, index = events.findLastIndex((one) => one.t_us <= t)) {
    moment = Math.min(Math.max(0, t), END);
    current = index;
    slider.value = moment;
    const text = current >= 0 ? events[current].text : "before the first event";
    const exact = current >= 0 && events[current].t_us === moment;
    slider.setAttribute("aria-valuetext", `${seconds(moment)}, ${exact ? "" : "after "}${text}`);
    byId("now").replaceChildren(element("b", {}, seconds(moment)), ` ${exact ? "" : "after: "}${text}`);
    byId("now").title = text;
    for (const cursor of cursors.values()) cursor();
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => {
      if (shownTime()[1] - shownTime()[0] < END) for (const id of FIGURES) report.again(id);
      state();
    });
  }

  function step(by) {
    let to = current + by;
    if (by < 0 && (current < 0 || events[current].t_us < moment)) to += 1;  // first to the event before this moment
    to = Math.min(Math.max(to, 0), events.length - 1);
    if (events.length) look(events[to].t_us, to);
  }

  slider.max = END;
  slider.addEventListener("input", () => look(Number(slider.value)));
  slider.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    step(by);
  });
  byId("back").addEventListener("click", () => step(-1));
  byId("forth").addEventListener("click", () => step(1));
  document.addEventListener("click", (event) => {
    const at = event.target.closest("[data-t]");
    if (!at) return;
    const seq = Number(at.dataset.seq);
    const index = at.dataset.seq ? events.findIndex((one) => one.seq === seq) : -1;
    if (index >= 0) look(events[index].t_us, index);
    else look(Number(at.dataset.t));
  });

  // -- what the figures share ----------------------------------------------------------------------------------------

  const FIGURES = ["gantt", "throughput", "lag", "latency"];

  const axis = (width, theme, [from, to]) => ({
    width, marginLeft: LEFT(width), marginRight: RIGHT,
    style: { fontSize: "12px", color: theme.ink, background: "none" },
    x: { domain: [from / S, to / S], label: "virtual time (s) \u2192", labelAnchor: "right", ticks: Math.max(3, Math.min(12, width / 90)), clamp: true, grid: false },
  });

  /** Faults as bands behind everything; those without a duration, and what operators do, as lines. */
  function shading(theme, [from, to]) {
    const faults = data.shades.filter((one) => one.kind === "fault");
    const lasting = faults.filter((one) => one.lasts && one.t_us < to && (one.end_us ?? END) > from);
    const inside = (one) => one.t_us >= from && one.t_us <= to;
    const title = (one) => `${seconds(one.t_us)}: ${one.text}`;
    return [
      Plot.rectX(lasting, { x1: (d) => Math.max(d.t_us, from) / S, x2: (d) => Math.min(d.end_us ?? END, to) / S, fill: theme.bad, fillOpacity: 0.09, title }),
      Plot.ruleX(faults.filter(inside), { x: (d) => d.t_us / S, stroke: theme.bad, strokeOpacity: 0.75, title }),
      Plot.ruleX(data.shades.filter((one) => one.kind === "operator" && inside(one)), { x: (d) => d.t_us / S, stroke: theme.accent, strokeOpacity: 0.6, strokeDasharray: "1 3", title }),
    ];
  }

  const controllers = (theme, [from, to]) => Plot.ruleX(data.controllers.slice(1).filter(([t]) => t >= from && t <= to), {
    x: (d) => d[0] / S, stroke: theme.ink, strokeDasharray: "5 3", title: ([t, broker, epoch]) => `${seconds(t)}: controller ${broker} elected, epoch ${epoch}`,
  });

  /** Labels, which have a place `at` in pixels, beside each other in as many of the lanes as they need, each with its
   * lane from 0 up. One that finds no room is left out or, if `counted`, counted at the last one that did, as in
   * "broker.crash 2 +3", which has its text in `titles`. */
  function fitting(labels, { lanes = 1, wide = 6.4, counted = false, until }) {
    const ends = Array(lanes).fill(-Infinity);
    const found = [];
    for (const label of labels) {
      const size = (label.text.length + (counted ? COUNT : 0)) * wide + 8;
      const at = Math.max(0, Math.min(label.at, until - size));
      const lane = ends.findIndex((end) => end <= at);
      if (lane < 0) {
        if (counted) found.at(-1).titles.push(label.text);
      } else {
        ends[lane] = at + size;
        found.push({ ...label, at, lane, titles: [label.text] });
      }
    }
    return found.map((one) => (one.titles.length > 1 ? { ...one, text: `${one.text} +${one.titles.length - 1}` } : one));
  }

  /** The line at the moment, and clicks that choose one; a saved figure has neither. */
  function alive(id, drawing, theme) {
    const svg = drawing.tagName === "svg" ? drawing : drawing.querySelector("svg");
    const x = drawing.scale("x");
    const height = Number(svg.getAttribute("height"));
    const line = report.svg("line", { y1: 0, y2: height - 22, stroke: theme.ink, "stroke-width": 1.5, "pointer-events": "none", class: "cursor" });
    svg.append(line);
    const place = () => {
      const at = x.apply(moment / S);
      line.setAttribute("x1", at);
      line.setAttribute("x2", at);
      const [from, to] = shownTime();
      line.setAttribute("visibility", moment < from || moment > to ? "hidden" : "visible");
    };
    cursors.set(id, place);
    place();
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      const scale = Number(svg.getAttribute("width")) / box.width;
      const t = x.invert((event.clientX - box.left) * scale) * S;
      const near = (5 * scale * (shownTime()[1] - shownTime()[0])) / (box.width * scale);
      let best = -1;
      events.forEach((one, index) => {
        const gap = Math.abs(one.t_us - t);
        if (gap <= near && (best < 0 || gap < Math.abs(events[best].t_us - t))) best = index;
      });
      if (best >= 0) look(events[best].t_us, best);
      else look(Math.round(t));
    });
    return drawing;
  }

  // -- replicas over time --------------------------------------------------------------------------------------------

  const filter = byId("filter");

  /** The partitions that the filter and the choice leave. */
  function chosen() {
    const wanted = filter.value.trim().toLowerCase();
    const matching = data.partitions.filter((one) => one.name.toLowerCase().includes(wanted));
    return { matching, shown: matching.slice(0, Number(choice("rows"))) };
  }

  filter.addEventListener("input", () => { report.again("gantt"); state(); });
  document.querySelector('[data-choice="rows"]').addEventListener("change", () => state());
  document.querySelector('[data-choice="window"]').addEventListener("change", () => { for (const id of FIGURES) report.again(id); });

  /** Roles as bars: colour, pattern and height differ, so that they can be told apart in black and white. */
  const roleLook = (theme) => ({
    L: { fill: theme.s1, inset: 1 },
    I: { fill: theme.s1, opacity: 0.42, inset: 3 },
    f: { fill: "url(#catching)", inset: 3, stroke: theme.s5 },
    F: { fill: "url(#failed)", inset: 1, stroke: theme.bad },
    x: { fill: theme.ink, inset: 8 },
    P: { fill: theme.quiet, inset: 6 },
    C: { fill: theme.s3, inset: 1 },
    o: { fill: theme.s3, opacity: 0.35, inset: 5 },
  });
  const ROW = 21;
  const LANES = 6;  // most lines of labels of actions above the rows
  const COUNT = 3;  // letters of room after a label, for the number of those that had none
  const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);

  const sample = (role) => report.svg("rect", { x: 1, width: 24, y: (role.inset * 14) / ROW, height: 14 - (2 * role.inset * 14) / ROW,
    fill: role.fill, "fill-opacity": role.opacity ?? 1, stroke: role.stroke ?? "none" });

  function patterns(theme) {
    const { svg } = report;
    const lines = (id, angle, stroke, back, gap) => svg("pattern", { id, width: gap, height: gap, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${angle})` },
      svg("rect", { width: gap, height: gap, fill: back }), svg("line", { x1: 0, y1: 0, x2: 0, y2: gap, stroke, "stroke-width": 2.4 }));
    return svg("defs", {}, lines("catching", 45, theme.s5, theme.card, 6), lines("failed", -45, theme.bad, theme.card, 5), lines("cutoff", 90, theme.bad, "transparent", 4));
  }

  /** All bars of the rows that are shown, with their keys. A key is a row: `orders-0/3`, `orders-0/` or `/6`. */
  function bars(shown, [from, to]) {
    const found = [];
    const inside = ([t, end]) => t < to && end > from;
    const add = (partition, broker, spans) => {
      for (const span of spans.filter(inside)) {
        found.push({ key: `${partition}/${broker}`, partition, broker, from: Math.max(span[0], from), to: Math.min(span[1], to), since: span[0], until: span[1], what: span[2] });
      }
    };
    for (const [broker, spans] of Object.entries(data.brokers)) add("", broker, spans);
    for (const one of shown) for (const [broker, spans] of Object.entries(one.rows)) add(one.name, broker, spans);
    return found.filter((one) => one.what !== ".");
  }

  function gantt({ width, theme, still }) {
    const time = shownTime();
    const [from, to] = time;
    const { matching, shown } = chosen();
    const brokers = Object.keys(data.brokers);
    const keys = ["/", ...brokers.map((broker) => `/${broker}`)];
    for (const one of shown) keys.push(`${one.name}/`, ...Object.keys(one.rows).map((broker) => `${one.name}/${broker}`));
    if (!still) byId("matched").textContent = matching.length > shown.length ? `${shown.length} of ${matching.length} partitions are drawn; the filter finds the others` : filter.value ? `${matching.length} of ${data.partitions.length} partitions` : "";
    const all = bars(shown, time);
    const looks = roleLook(theme);
    const title = (one) => `${one.partition ? `${one.partition}, ` : ""}broker ${one.broker}: ${ROLES[one.what]}\n${seconds(one.since)} to ${seconds(one.until)}`;
    const x = { x1: (d) => d.from / S, x2: (d) => d.to / S, y: "key" };
    const cuts = [];
    for (const key of keys) {
      const broker = key.split("/").at(-1);
      for (const [t, end, what] of data.cuts[broker] ?? []) if (broker && t < to && end > from) cuts.push({ key, from: Math.max(t, from), to: Math.min(end, to), what });
    }
    const moves = [], steps = [], failures = [];
    for (const one of shown) {
      const key = `${one.name}/`;
      for (const [t, end, before, after, finished] of one.moves) if (t < to && end > from) moves.push({ key, from: Math.max(t, from), to: Math.min(end, to), text: `move [${before}] \u2192 [${after}]${finished ? "" : ", not finished"}`, t, end, finished });
      for (const at of one.steps) {
        const t = at.end_us ?? at.t_us;
        if (t >= from && t <= to) steps.push({ key, t, name: at.step, text: `${seconds(t)}: ${at.step} ${at.end_us === null ? "begun and not done" : "done"} (${at.meaning}), controller ${at.controller}`, done: at.end_us !== null });
      }
    }
    for (const one of events) if (one.kind === "failure" && one.t_us >= from && one.t_us <= to) {
      const words = one.partition ? [one.partition] : one.text.split(/[\s:,;()]+/);  // a violation names its partition in its text
      const key = words.map((word) => `${word}/`).find((name) => keys.includes(name)) ?? "/";
      failures.push({ key, t: one.t_us, text: `${seconds(one.t_us)}: ${one.text}` });
    }
    const heads = keys.filter((key) => key.endsWith("/"));
    const rows = keys.filter((key) => !key.endsWith("/"));
    const pixels = (width - LEFT(width) - RIGHT) / (to - from);
    const place = (t) => LEFT(width) + (t - from) * pixels;
    const actions = fitting(data.shades.filter((one) => one.kind !== "undo" && one.t_us >= from && one.t_us <= to)
      .map((one) => ({ at: place(one.t_us) + 3, text: shortened(`${one.action} ${one.target}`.trim(), Math.floor(width / 8)), kind: one.kind })), { lanes: LANES, counted: true, until: width });
    const lanes = Math.max(1, ...actions.map(({ lane }) => lane + 1));
    const named = shown.flatMap((one) => {
      const key = `${one.name}/`;
      const own = moves.filter((move) => move.key === key && (move.to - move.from) * pixels > 130);
      const taken = own.map((move) => ({ at: place(move.from) + 3, text: move.text, key, move: true }));
      const labels = [];
      for (const at of steps.filter((passed) => passed.key === key)) {
        const left = place(at.t) + 4, last = labels.at(-1);
        if (!last || left - last.at > 3) labels.push({ at: left, text: at.name, key });
        else if (!last.text.endsWith(at.name)) last.text = last.text.length < 24 ? `${last.text}, ${at.name.split(".").at(-1)}` : last.text;
      }
      return fitting([...taken, ...labels].sort((a, b) => a.at - b.at || Boolean(b.move) - Boolean(a.move)), { wide: 6, until: width });
    });
    const drawing = Plot.plot({
      ...axis(width, theme, time), height: keys.length * ROW + 56 + lanes * 14, marginTop: 12 + lanes * 14, marginBottom: 40,
      y: { domain: keys, axis: null, padding: 0, round: true },
      marks: [
        Plot.barX(heads.slice(1), { x1: () => from / S, x2: () => to / S, y: (d) => d, fill: theme.band, insetTop: 1 }),
        Plot.ruleY(rows, { y: (d) => d, stroke: theme.grid, x1: from / S, x2: to / S }),
        ...shading(theme, time),
        ...Object.entries(looks).map(([what, role]) => Plot.barX(all.filter((one) => one.what === what), {
          ...x, fill: role.fill, fillOpacity: role.opacity ?? 1, stroke: role.stroke ?? "none", strokeWidth: 1,
          insetTop: role.inset, insetBottom: role.inset, rx: 1.5, title,
        })),
        Plot.barX(cuts, { ...x, fill: "url(#cutoff)", fillOpacity: 0.55, insetTop: 1, insetBottom: 1, title: (d) => `cut off: ${d.what}` }),
        Plot.barX(moves, { ...x, fill: theme.s4, fillOpacity: 0.28, stroke: theme.s4, insetTop: 4, insetBottom: 4, title: (d) => `${d.text}\n${seconds(d.t)} to ${seconds(d.end)}` }),
        Plot.tickX(steps, { x: (d) => d.t / S, y: "key", stroke: theme.s4, strokeWidth: 1.6, strokeDasharray: null, insetTop: 2, insetBottom: 2, title: "text" }),
        controllers(theme, time),
        Plot.text(all.filter((one) => "LIfFxPC".includes(one.what) && (one.to - one.from) * pixels > 24 && one.what !== "x" && one.what !== "P"), {
          x: (d) => d.from / S, y: "key", text: "what", dx: 7, textAnchor: "start", fontSize: 10, fontWeight: 600,
          fill: (d) => ("LC".includes(d.what) ? theme.card : theme.ink), stroke: (d) => ("fF".includes(d.what) ? theme.card : "none"), strokeWidth: 4,
        }),
        Plot.text(named, { x: (d) => (from + (d.at - LEFT(width)) / pixels) / S, y: "key", text: "text", textAnchor: "start", fontSize: 11, fill: theme.ink, stroke: theme.card, strokeWidth: 3 }),
        ...[...Array(lanes).keys()].map((lane) => Plot.text(actions.filter((one) => one.lane === lane), {
          x: (d) => (from + (d.at - LEFT(width)) / pixels) / S, text: "text", frameAnchor: "top", textAnchor: "start", dy: -5 - 14 * (lanes - lane), lineAnchor: "top", fontSize: 11, title: ({ titles }) => titles.join("\n"), ariaLabel: () => "action",
          fill: (d) => (d.kind === "fault" ? theme.bad : theme.accent) })),
        Plot.dot(failures, { x: (d) => d.t / S, y: "key", symbol: "times", stroke: theme.bad, strokeWidth: 2.6, r: 5, title: "text" }),
        Plot.text(rows, { x: from / S, y: (d) => d, text: (d) => d.split("/").at(-1), textAnchor: "end", dx: -8, clip: false, fontSize: 12 }),
        Plot.text(heads, { x: from / S, y: (d) => d, text: (d) => d.slice(0, -1) || "brokers", textAnchor: "end", dx: -8, fontWeight: 650, fontSize: 12, lineWidth: (LEFT(width) - 10) / 12, textOverflow: "ellipsis-start" }),
      ],
    });
    drawing.prepend(patterns(theme));
    return still ? drawing : alive("gantt", drawing, theme);
  }

  report.figure("gantt", {
    draw: gantt,
    legend: (theme) => {
      const looks = roleLook(theme);
      const items = [["L", "leader"], ["I", "in ISR"], ["f", "catching up"], ["F", "failed"], ["x", "down"], ["P", "paused"], ["C", "controller"]];
      const seen = new Set(bars(chosen().shown, [0, END]).map((one) => one.what));
      const shown = items.filter(([letter]) => seen.has(letter)).map(([letter, label]) => ({ label, sample: sample(looks[letter]) }));
      if (Object.keys(data.cuts).length) shown.push({ label: "cut off", sample: sample({ fill: "url(#cutoff)", opacity: 0.7, inset: 1, stroke: theme.bad }) });
      if (chosen().shown.some((one) => one.moves.length)) shown.push({ label: "move, its steps", sample: sample({ fill: theme.s4, opacity: 0.28, stroke: theme.s4, inset: 4 }) });
      if (data.shades.some((one) => one.kind === "fault")) shown.push({ label: "fault", sample: sample({ fill: theme.bad, opacity: 0.2, inset: 0 }) });
      if (data.controllers.length > 1) shown.push({ label: "another controller", colour: theme.ink, dash: "5 3" });
      if (events.some((one) => one.kind === "failure")) shown.push({ label: "failure", colour: theme.bad, symbol: "times" });
      return shown;
    },
    rows: () => chosen().matching.flatMap((one) => Object.entries(one.rows).flatMap(([broker, spans]) => spans.map(([t, end, what]) => (
      { partition: one.name, broker: Number(broker), from_s: t / S, to_s: end / S, role: ROLES[what] })))),
  });

  // -- series under the same axis ------------------------------------------------------------------------------------

  /** A series' bins that are shown. */
  function points({ bin_us: bin, lines }, [from, to]) {
    return Object.entries(lines).flatMap(([name, values]) => values.map((value, place) => ({ name, t: place * bin, end: Math.min((place + 1) * bin, END), value }))
      .filter((one) => one.end >= from && one.t <= to));
  }

  const nameOf = (names, name) => (theme) => report.look(names.indexOf(name), theme);
  const series = (id, source, { label, names = {}, height = 170, scale = 1, log = false, extra = () => [], legend = () => [], rows = null, empty }) => {
    const lines = Object.keys(source.lines);
    report.figure(id, {
      rows: rows ?? (() => points(source, [0, END]).map((one) => ({ from_s: one.t / S, to_s: one.end / S, series: names[one.name] ?? one.name, [source.unit.replace("/", "_per_")]: one.value }))),
      legend: (theme) => [...lines.map((name) => ({ label: names[name] ?? name, colour: nameOf(lines, name)(theme).colour, dash: nameOf(lines, name)(theme).dash })), ...legend(theme)],
      draw({ width, theme, still }) {
        const time = shownTime();
        const shown = points(source, time);
        const more = extra(theme, time);
        const steps = (source.bin_us / (time[1] - time[0])) * width > 12;  // bins so wide that they are to be seen
        const positive = shown.map((one) => one.value / scale).filter((value) => value > 0);
        const [least, most] = [Math.min(...positive), Math.max(...positive)];
        const wideRange = log && positive.length > 0 && most > 50 * least;  // small values would not be seen
        if (!lines.length && !more.length) return empty;
        const drawing = Plot.plot({
          ...axis(width, theme, time), height, marginTop: 22, marginBottom: 36,
          y: !positive.length ? { label, domain: [0, 1], ticks: [0] } : wideRange ? { label, type: "log", domain: [least, most], nice: true, ticks: 4, tickFormat: compact }
            : { label, nice: true, ticks: 4, tickFormat: compact, zero: true },
          marks: [
            Plot.gridY({ stroke: theme.grid, strokeOpacity: 1, ticks: 4 }),
            ...shading(theme, time), controllers(theme, time),
            ...lines.map((name) => {
              const { colour, dash } = nameOf(lines, name)(theme);
              const own = shown.filter((one) => one.name === name);
              const corners = steps ? own.flatMap((one) => [{ at: one.t, value: one.value }, { at: one.end, value: one.value }]) : own.map((one) => ({ at: (one.t + one.end) / 2, value: one.value }));
              return Plot.lineY(corners, { x: (d) => d.at / S, y: (d) => (d.value === null || (wideRange && d.value <= 0) ? NaN : d.value / scale), stroke: colour, strokeWidth: 1.8, strokeDasharray: dash, clip: true });
            }),
            ...more,
            wideRange ? null : Plot.ruleY([0], { stroke: theme.line }),
            still ? null : Plot.tip(shown.filter((one) => one.value !== null), Plot.pointerX({ x: (d) => (d.t + d.end) / 2 / S, y: (d) => d.value / scale,
              title: (d) => `${names[d.name] ?? d.name}\n${number(d.value, source.unit)}\n${number(d.t / S)} to ${number(d.end / S)} s`, fill: theme.card, stroke: theme.line })),
          ],
        });
        return still ? drawing : alive(id, drawing, theme);
      },
    });
  };

  series("throughput", data.throughput, {
    label: "MB/s", scale: 1e6, names: { written: "from producers", replicated: "replicated" },
    empty: "The trace has no meters of bytes.",
    extra: (theme, [from, to]) => [Plot.ruleY(data.throttles.filter(([t, end]) => t < to && end > from), {
      x1: (d) => Math.max(d[0], from) / S, x2: (d) => Math.min(d[1], to) / S, y: (d) => Number(d[2]) / 1e6, stroke: theme.ink, strokeWidth: 1.6, strokeDasharray: "8 5",
      title: (d) => `throttle ${number(Number(d[2]) / 1e6, "MB/s")}\n${seconds(d[0])} to ${seconds(d[1])}` })],
    legend: (theme) => (data.throttles.length ? [{ label: "throttle of a broker", colour: theme.ink, dash: "8 5" }] : []),
  });
  series("lag", data.lags, { label: "records", empty: "No follower lagged." });
  series("latency", data.produced, {
    label: "ms", log: true, empty: "Nothing was produced.",
    extra: (theme, [from, to]) => {
      const bin = data.produced.bin_us;
      const shown = data.produced.errors.filter(([place]) => (place + 1) * bin >= from && place * bin <= to);
      return [Plot.dot(shown, { x: ([place]) => (place + 0.5) * bin / S, frameAnchor: "top", symbol: "times", stroke: theme.bad, strokeWidth: 2, r: 4.5,
        title: ([place, error, count]) => `${count} given up: ${error}\n${number(place * bin / S)} to ${number((place + 1) * bin / S)} s` })];
    },
    legend: (theme) => (data.produced.errors.length ? [{ label: "given up", colour: theme.bad, symbol: "times" }] : []),
    rows: () => [...points(data.produced, [0, END]).map((one) => ({ from_s: one.t / S, to_s: one.end / S, series: one.name, value: one.value, unit: "ms" })),
      ...data.produced.errors.map(([place, error, count]) => ({ from_s: place * data.produced.bin_us / S, to_s: (place + 1) * data.produced.bin_us / S, series: error, value: count, unit: "batches" }))],
  });

  // -- the state at the moment ---------------------------------------------------------------------------------------

  const MOST_ROWS = 60;
  /** The element of ascending `[t, …]` that held at the moment, or undefined. */
  const held = (list, at = moment) => list.findLast((one) => one[0] <= at);
  const spanAt = (spans, at = moment) => (spans ?? []).find(([t, end]) => t <= at && (at < end || end === END))?.[2];
  const listed = (ids) => `[${ids.join(", ")}]`;

  function offsetAt(log, what) {
    const found = log?.[what];
    if (!found) return null;
    const place = found[0].findLastIndex((t) => t <= moment);
    return place < 0 || found[1][place] < 0 ? null : found[1][place];
  }

  function stateOf(partition) {
    const row = held(partition.states);
    if (!row || (row[0] + row[1] <= moment && row[0] + row[1] !== END)) return null;
    const [, , leader, epoch, isr, assignment, original, target, min] = row;
    return { leader, epoch, isr, assignment, original, target, min };
  }

  function tableOf(place, heads, rows, none) {
    const cell = (value, index) => element(index ? "td" : "th", index ? {} : { scope: "row" }, ...(value instanceof Node ? [value] : [String(value)]));
    byId(place).replaceChildren(rows.length
      ? element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)))),
        element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))))
      : element("p", { class: "empty", style: "padding: 0 .9rem" }, none));
  }

  const bad = (text, is) => (is ? element("b", { class: "bad" }, text) : text);

  function state() {
    const controller = Object.entries(data.brokers).find(([, spans]) => spanAt(spans) === "C")?.[0];
    const epoch = held(data.controllers)?.[2];
    const active = data.shades.filter((one) => one.kind === "fault" && one.lasts && one.t_us <= moment && (one.end_us ?? END + 1) > moment);
    byId("facts").replaceChildren(
      element("span", {}, "At ", element("b", {}, seconds(moment))),
      element("span", {}, "Controller: ", controller === undefined ? bad("none", true) : element("b", {}, `broker ${controller}`), epoch === undefined ? "" : ` (epoch ${epoch})`),
      element("span", {}, "Faults that last: ", active.length ? bad(active.map((one) => one.text).join("; "), true) : "none"),
    );
    const states = data.partitions.map((one) => [one, stateOf(one)]).filter(([, at]) => at);
    tableOf("at-brokers", ["Broker", "State", "Leads", "In the ISR of", "Out of sync in", "Cut off"], Object.keys(data.brokers).map((broker) => {
      const id = Number(broker), role = spanAt(data.brokers[broker]) ?? ".";
      const count = (test) => states.filter(([, at]) => test(at)).length;
      const out = count((at) => at.assignment.includes(id) && !at.isr.includes(id));
      return [broker, bad(ROLES[role], "xP".includes(role)), count((at) => at.leader === id), count((at) => at.isr.includes(id)), bad(String(out), out), bad(spanAt(data.cuts[broker]) ?? "", true)];
    }), "No broker has started.");
    const moving = data.partitions.flatMap((one) => one.moves.filter(([t, end, , , finished]) => t <= moment && (moment < end || !finished)).map((move) => {
      const at = one.steps.filter((done) => done.t_us <= moment && done.t_us >= move[0]).at(-1);
      const where = at ? `${at.end_us !== null && at.end_us <= moment ? "after" : "in"} ${at.step}: ${at.meaning}` : "requested, before its first step";
      return [one.name, `${listed(move[2])} \u2192 ${listed(move[3])}`, where, at ? seconds(at.t_us) : seconds(move[0])];
    }));
    tableOf("at-moves", ["Partition", "Replicas", "Step", "Since"], moving.slice(0, MOST_ROWS), "No move is open.");
    const { shown } = chosen();
    const wanted = shown.slice(0, MOST_ROWS).flatMap((one) => {
      const at = stateOf(one);
      if (!at) return [[one.name, "does not exist", "", "", "", ""]];
      const replicas = [...new Set([...at.assignment, ...at.isr])];
      const end = offsetAt(one.logs[at.leader], "leo");
      const logs = element("span", {}, ...replicas.flatMap((broker, place) => {
        const leo = offsetAt(one.logs[broker], "leo"), hw = offsetAt(one.logs[broker], "hw");
        const behind = leo !== null && end !== null && broker !== at.leader ? end - leo : 0;
        return [place ? "; " : "", element("span", { class: "whole" }, `${broker}: ${leo === null ? "no log" : number(leo)}${behind > 0 ? ` (${number(behind)} behind)` : ""}${hw === null ? "" : `, hw ${number(hw)}`}`)];
      }));
      const role = replicas.map((broker) => `${broker} ${ROLES[spanAt(one.rows[broker]) ?? "."]}`).join(", ");
      return [[one.name, at.leader < 0 ? bad("none", true) : `${at.leader} (epoch ${at.epoch})`, bad(listed(at.isr), at.isr.length < at.min), listed(at.assignment), role, logs]];
    });
    tableOf("at-partitions", ["Partition", "Leader", "ISR", "Replicas", "Roles", "Log ends and high watermarks"], wanted, "No partition matches the filter.");
    const first = Math.max(0, current - 5);
    byId("around").replaceChildren(...events.slice(first, current + 5).map((one, place) => element("li", first + place === current ? { "aria-current": "step" } : {},
      element("button", { type: "button", class: "at", "data-t": one.t_us, "data-seq": one.seq }, seconds(one.t_us)), ` ${one.text}`)));
  }

  look(moment, current);
})();
