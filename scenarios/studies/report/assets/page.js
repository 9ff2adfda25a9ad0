// What all reports share: the theme, the frames of figures with their downloads, copying, and numbers.
// A page's own script draws with `report.figure(id, {draw, rows, legend})`; `libraries` are Plot and parts of D3.
"use strict";

const report = (() => {
  const NAMES = ["page", "card", "ink", "quiet", "line", "grid", "accent", "good", "bad", "warn", "band",
    "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"];
  const DASHES = [null, "6 3", "2 3", "9 3 2 3", "1 2", "12 3", "4 2 1 2", "8 2"];
  const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye", "hexagon"];
  const EXPORT_WIDTH = 760;  // px; what a page of a paper can show
  const PRINT_WIDTH = 680;
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const figures = new Map();

  // -- theme ---------------------------------------------------------------------------------------------------------

  /** The colours of page.css under "light" or "dark", by token. */
  function palette(scheme) {
    const probe = document.createElement("i");
    probe.style.colorScheme = scheme;
    probe.hidden = true;
    document.body.append(probe);
    const found = { scheme };
    for (const name of NAMES) {
      probe.style.color = `var(--${name})`;
      found[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    return found;
  }

  let colours = palette(theme.scheme());

  // -- elements and numbers ------------------------------------------------------------------------------------------

  /** An element; text children are text and never markup. */
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === true) made.setAttribute(key, "");
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  function svg(name, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const formats = {
    plain: new Intl.NumberFormat("en", { maximumSignificantDigits: 4 }),
    signed: new Intl.NumberFormat("en", { maximumSignificantDigits: 4, signDisplay: "exceptZero" }),
  };

  /** A number with four digits that count, and its unit: `number(1234.5, "ms")` is "1,235 ms"; null is "none". */
  function number(value, unit = "", { signed = false } = {}) {
    if (value === null || value === undefined) return "none";
    const text = formats[signed ? "signed" : "plain"].format(value).replace("-", "\u2212");
    return unit ? `${text} ${unit}` : text;
  }

  // -- series --------------------------------------------------------------------------------------------------------

  /** How the index-th series looks: colour, dash and symbol, so that no two differ by colour alone. */
  function look(index, theme = colours) {
    return {
      colour: theme[`s${(index % 8) + 1}`],
      dash: DASHES[(index + Math.floor(index / 8)) % DASHES.length],
      symbol: SYMBOLS[(index + Math.floor(index / 8)) % SYMBOLS.length],
    };
  }

  // -- figures -------------------------------------------------------------------------------------------------------

  /**
   * Draw a figure into its frame, again whenever its width, its controls or the theme change.
   * spec.draw({width, theme, still}): an SVG element, or a text that says why there is nothing to see. `still` is true
   *   for a saved file: no tips then. spec.rows(): what CSV saves, a list of objects with the same keys.
   * spec.legend(theme): a list of {label, colour?, symbol?, hollow?, dash?, width?, band?, fill?}, or {label, sample: an
   *   SVG element of 26 x 14}; `group` is said once before the items that share it; an item with `turn` is a button
   *   that shows or hides what it stands for, `off` says that this is hidden; optional.
   */
  function figure(id, spec) {
    const frame = document.getElementById(id);
    if (!frame) return;
    figures.set(id, { frame, spec, width: 0 });
    for (const button of frame.querySelectorAll("[data-save]")) {
      button.addEventListener("click", () => save(id, button.dataset.save));
    }
    for (const select of frame.querySelectorAll("[data-choice]")) {
      select.addEventListener("change", () => show(figures.get(id), true));
    }
    resized.observe(frame.querySelector(".drawing"));
    show(figures.get(id), true);
  }

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) show(figures.get(target.closest("figure").id), false);
  });

  function show(one, always, width = Math.floor(one.frame.querySelector(".drawing").clientWidth)) {
    if (!width || (!always && width === one.width)) return;
    one.width = width;
    const place = one.frame.querySelector(".drawing");
    const made = one.spec.draw({ width, theme: colours, still: false });
    const empty = typeof made === "string";
    if (!empty) describe(made, one.frame);
    place.replaceChildren(empty ? element("p", { class: "empty" }, made) : made);
    for (const button of one.frame.querySelectorAll("[data-save]")) button.disabled = empty;
    const items = one.spec.legend?.(colours) ?? [];
    explain(one.frame.querySelector(".legend"), empty ? items.filter((item) => item.turn) : items);
  }

  /** The legend of a figure. A button in it that had the focus has it afterwards. */
  function explain(place, items) {
    const focused = [...place.querySelectorAll("button")].indexOf(document.activeElement);
    const groups = Map.groupBy(items, (item) => item.group ?? "");
    place.replaceChildren(...[...groups].map(([group, own]) => element("div", { role: group ? "group" : null, "aria-label": group || null },
      group ? element("b", {}, group) : null, ...own.map(entry))));
    place.querySelectorAll("button")[focused]?.focus();
  }

  function entry(item) {
    const sample = key(item);
    if (!item.turn) return element("span", {}, sample, item.label);
    const made = element("button", { type: "button", class: "entry", "aria-pressed": String(!item.off), title: item.off ? "Show it" : "Hide it" },
      sample, item.label);
    made.addEventListener("click", item.turn);
    return made;
  }

  /** Draw one figure again, after what it shows has changed. */
  function again(id) { show(figures.get(id), true); }

  function redraw() { for (const one of figures.values()) show(one, true); }

  /** The figure's title and caption are what a screen reader says for the drawing; the rows are in the CSV. */
  function describe(drawing, frame) {
    for (const part of drawing.querySelectorAll("[aria-label]")) {  // Plot's, of its marks: not allowed on a plain group
      part.dataset.mark = part.getAttribute("aria-label");
      part.removeAttribute("aria-label");
    }
    drawing.setAttribute("role", "img");
    const text = [frame.querySelector("h3"), frame.querySelector("figcaption")].map((part) => part?.textContent ?? "");
    drawing.setAttribute("aria-label", text.filter(Boolean).join(". "));
  }

  /** A sample of a series for the legend, or null for an item that has no look of its own. */
  function key(item) {
    if (!item.sample && !item.band && !item.fill && !item.symbol && item.dash === undefined) return null;
    const marks = item.sample ? [item.sample] : [];
    if (item.band) marks.push(svg("rect", { x: 0, y: 2, width: 26, height: 10, fill: item.colour, "fill-opacity": 0.22 }));
    if (item.fill) marks.push(svg("rect", { x: 6, y: 1, width: 14, height: 12, fill: item.colour, rx: 2 }));
    if (item.dash !== undefined) {
      marks.push(svg("line", { x1: 0, x2: 26, y1: 7, y2: 7, stroke: item.colour, "stroke-width": item.width ?? 2, "stroke-dasharray": item.dash }));
    }
    if (item.symbol) marks.push(symbol(item.symbol, 13, 7, item.colour, item.hollow));
    return svg("svg", { width: 26, height: 14, viewBox: "0 0 26 14", "aria-hidden": "true" }, ...marks);
  }

  /** One mark in the shape that Plot gives this symbol. */
  function symbol(name, x, y, colour, hollow) {
    const drawn = libraries.Plot.plot({
      width: 20, height: 20, margin: 0, axis: null, x: { domain: [0, 1] }, y: { domain: [0, 1] },
      marks: [libraries.Plot.dot([0], { x: 0.5, y: 0.5, symbol: name, r: 4, fill: hollow ? "none" : colour, stroke: colour, strokeWidth: 1.5 })],
    });
    const marks = drawn.querySelector("path, circle").parentNode;  // the group has the colours
    return svg("g", { transform: `translate(${x - 10} ${y - 10})` }, marks);
  }

  // -- saving --------------------------------------------------------------------------------------------------------

  function save(id, form) {
    const { frame, spec } = figures.get(id);
    if (form === "csv") return download(`${id}.csv`, "text/csv", csv(spec.rows()));
    return download(`${id}.svg`, "image/svg+xml", standalone(frame, spec));
  }

  function download(name, type, text) {
    const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    say(`${name} is saved`);
  }

  /** RFC 4180. A cell that a spreadsheet would take for a formula gets an apostrophe. */
  function csv(rows) {
    const heads = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const cell = (value) => {
      let text = value === null || value === undefined ? "" : String(value);
      if (typeof value === "string" && /^[=+@\t\r-]/.test(text)) text = `'${text}`;
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return [heads, ...rows.map((row) => heads.map((head) => row[head]))].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
  }

  /** The figure as a file of its own: light, with its title and legend. */
  function standalone(frame, spec) {
    const theme = palette("light");
    const drawing = spec.draw({ width: EXPORT_WIDTH, theme, still: true });
    const items = (spec.legend?.(theme) ?? []).filter((item) => !item.off);
    const font = { "font-family": "system-ui, sans-serif", fill: theme.ink };
    const measure = element("canvas").getContext("2d");
    measure.font = "12px system-ui, sans-serif";
    const parts = [svg("text", { x: 8, y: 22, "font-size": 15, "font-weight": 600, ...font }, frame.querySelector("h3").textContent)];
    let x = 8, y = 42, group = "";
    const put = (text, sample, weight) => {
      const wide = (sample ? 32 : 0) + measure.measureText(text).width + 18;
      if (x > 8 && x + wide > EXPORT_WIDTH) { x = 8; y += 20; }
      sample?.setAttribute("x", x);
      sample?.setAttribute("y", y - 11);
      parts.push(...(sample ? [sample] : []), svg("text", { x: x + (sample ? 32 : 0), y, "font-size": 12, "font-weight": weight, ...font }, text));
      x += wide;
    };
    for (const item of items) {
      if (item.group && item.group !== group) put(`${item.group}:`, null, 600);
      group = item.group;
      put(item.label, key(item), null);
    }
    const top = items.length ? y + 10 : 32;
    const height = top + Number(drawing.getAttribute("height"));
    drawing.setAttribute("y", top);
    const whole = svg("svg", { width: EXPORT_WIDTH, height, viewBox: `0 0 ${EXPORT_WIDTH} ${height}`, color: theme.ink,
      xmlns: "http://www.w3.org/2000/svg" },
    svg("rect", { width: EXPORT_WIDTH, height, fill: theme.card }), ...parts, drawing);
    return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(whole)}\n`;
  }

  // -- copying -------------------------------------------------------------------------------------------------------

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {  // the page has no right to the clipboard: the older way
      const area = element("textarea", { "aria-hidden": "true", class: "offscreen" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    say("Copied");
  }

  function say(text) {
    const place = document.getElementById("said");
    place.textContent = text;
    place.classList.add("shown");
    clearTimeout(say.timer);
    say.timer = setTimeout(() => place.classList.remove("shown"), 1800);
  }

  // -- the page ------------------------------------------------------------------------------------------------------

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button.dataset.copy);
  });
  addEventListener("beforeprint", () => {
    root.style.colorScheme = "light";
    colours = palette("light");
    for (const one of figures.values()) show(one, true, PRINT_WIDTH);
  });
  addEventListener("afterprint", theme.dress);
  theme.changed = () => {
    colours = palette(theme.scheme());
    redraw();
  };

  /** The value of a select that `page.choice` made. */
  const choice = (name) => document.querySelector(`[data-choice="${name}"]`)?.value ?? null;

  return { data, figure, element, svg, number, look, choice, copy, again, redraw, get colours() { return colours; } };
})();
