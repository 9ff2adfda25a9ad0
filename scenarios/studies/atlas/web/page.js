"use strict";

// The maps are in the page; this unpacks the cells' details, shows one, filters, and moves about by keyboard.
(() => {
  const byId = (id) => document.getElementById(id);
  const cells = [...document.querySelectorAll("td[data-i]")];
  const panel = byId("panel");
  const filters = new Set();
  let details = null;
  let body = null;
  let chosen = null;

  // -- unpacking: see scenarios/atlas/packing.py --------------------------------------------------------------------

  async function unpack() {
    const packed = Uint8Array.from(atob(byId("data").textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const reader = new Reader(bytes, 0);
    const length = reader.number();
    details = JSON.parse(new TextDecoder().decode(bytes.subarray(reader.at, reader.at + length)));
    body = bytes.subarray(reader.at + length);
    for (const cell of cells) {
      const i = Number(cell.dataset.i);
      const label = [details.cell[i], details.outcome[i], ...details.harms[i]].join(", ");
      cell.setAttribute("aria-label", label);
      cell.title = details.why[i] ? `${label}\n${details.why[i]}` : label;
    }
  }

  class Reader {
    constructor(bytes, at) {
      this.bytes = bytes;
      this.at = at;
    }
    number() {
      let value = 0;
      let place = 1;
      for (;;) {
        const byte = this.bytes[this.at++];
        value += (byte & 0x7f) * place;
        if (byte < 0x80) return value;
        place *= 128;
      }
    }
  }

  function timeline(i) {
    const reader = new Reader(body, details.starts[i]);
    const lines = [];
    let time = 0;
    let seq = 0;
    for (let left = reader.number(); left > 0; left--) {
      time += reader.number();
      const step = reader.number();
      seq += step;
      const roles = details.roles[reader.number()];
      const text = details.texts[reader.number()];
      if (step === 0 && roles === "") lines.push(["note", text]);
      else lines.push([kind(text), `${(time / 1e6).toFixed(6).padStart(13)} ${String(seq).padStart(8)}  ${roles}  ${text}`]);
    }
    return lines;
  }

  function kind(text) {
    if (text.startsWith("FAULT")) return "fault";
    if (text.startsWith("VIOLATED")) return "bad";
    return details.outcomes && /^[a-z0-9-]+\.[A-Za-z0-9]+( before| after)?,/.test(text) ? "step" : "";
  }

  // -- one cell -----------------------------------------------------------------------------------------------------

  function show(cell, focus) {
    if (!details) return;
    if (chosen) chosen.classList.remove("chosen");
    chosen = cell;
    cell.classList.add("chosen");
    const i = Number(cell.dataset.i);
    const [, plan, gate, actor, fault] = details.cell[i].split("/");
    byId("p-title").textContent = details.cell[i];
    byId("p-what").textContent =
      `${fault} of ${actor} (broker ${details.broker[i]}) at ${gate} of the move ${plan}: ${details.steps[details.step[i]]}`;
    const outcome = byId("p-outcome");
    outcome.textContent = details.outcome[i];
    outcome.className = `badge ${cell.classList[0]}`;
    outcome.title = details.outcomes[details.outcome[i]];
    byId("p-harms").replaceChildren(...details.harms[i].map((harm) => element("span", "", harm, details.harm_help[harm])));
    byId("p-why").textContent = details.why[i];
    byId("p-known").textContent = details.known[i];
    byId("p-command").textContent = details.command[i];
    byId("p-facts").textContent =
      `profile ${details.profile[i]}; healed at ${(details.healed_us[i] / 1e6).toFixed(1)} s, ended at ` +
      `${(details.virtual_us[i] / 1e6).toFixed(1)} s of virtual time; digest ${details.digest[i]}…`;
    panel.hidden = false;
    showTimeline(timeline(i));
    history.replaceState(null, "", `#${encodeURI(details.cell[i])}`);
    makeRoom();
    cell.scrollIntoView({ block: "center", inline: "nearest" });
    rove(cell, focus);
  }

  function element(tag, name, text, title) {
    const made = document.createElement(tag);
    made.className = name;
    made.textContent = text;
    made.title = title;
    return made;
  }

  function showTimeline(lines) {
    const box = byId("p-timeline");
    box.replaceChildren(...lines.map(([name, text]) => element("span", name, text, "")));
    const fault = [...box.querySelectorAll(".fault")].find((line) => !line.textContent.includes("reassign."));
    box.scrollTop = fault ? Math.max(0, fault.offsetTop - 90) : 0;
    box.scrollLeft = 0;
  }

  function makeRoom() {
    const wide = !panel.hidden && window.matchMedia("(min-width: 1001px)").matches;
    document.body.classList.toggle("open", !panel.hidden);
    document.body.style.paddingRight = wide ? `${panel.offsetWidth}px` : "";
    document.body.style.paddingBottom = wide ? "" : `${panel.offsetHeight}px`;
  }

  function close() {
    panel.hidden = true;
    makeRoom();
    history.replaceState(null, "", location.pathname + location.search);
    if (chosen) {
      chosen.classList.remove("chosen");
      chosen.focus();
    }
  }

  function addressed() {
    try {
      return decodeURI(location.hash.slice(1));
    } catch {
      return ""; // an address with a stray percent sign names no cell
    }
  }

  function fromAddress() {
    const i = details ? details.cell.indexOf(addressed()) : -1;
    const cell = i < 0 ? null : cells.find((one) => Number(one.dataset.i) === i);
    if (!cell) return;
    byId("plan").value = cell.closest(".map").dataset.plan;
    choosePlan();
    show(cell, true);
  }

  // -- moving about -------------------------------------------------------------------------------------------------

  function rove(cell, focus) {
    for (const one of document.querySelectorAll('td[tabindex="0"]')) one.tabIndex = -1;
    cell.tabIndex = 0;
    if (focus) cell.focus();
  }

  function beside(cell, right, down) {
    const row = cell.parentElement;
    if (right) {
      let next = right > 0 ? cell.nextElementSibling : cell.previousElementSibling;
      while (next && !next.dataset.i) next = right > 0 ? next.nextElementSibling : next.previousElementSibling;
      return next;
    }
    const rows = [...row.parentElement.rows];
    const place = row.cells.length - [...row.cells].indexOf(cell);  // from the end: a step's name spans several rows
    for (let at = rows.indexOf(row) + down; at >= 0 && at < rows.length; at += down) {
      const next = rows[at].cells[rows[at].cells.length - place];
      if (next && next.dataset.i) return next;
    }
    return null;
  }

  function step(forward) {
    const open = cells.filter((cell) => !cell.closest(".map").hidden && !cell.classList.contains("dim"));
    const worth = open.filter((cell) => filters.size || !cell.classList.contains("finished"));
    if (!worth.length) return;
    const order = (cell) => cells.indexOf(cell);
    const here = chosen ? order(chosen) : -1;
    const next = forward
      ? worth.find((cell) => order(cell) > here) || worth[0]
      : [...worth].reverse().find((cell) => order(cell) < here) || worth[worth.length - 1];
    show(next, true);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select")) return;
    const cell = event.target.closest("td[data-i]");
    const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    if (event.key === "Escape" && !panel.hidden) close();
    else if (event.key === "n") step(true);
    else if (event.key === "p") step(false);
    else if (cell && (event.key === "Enter" || event.key === " ")) show(cell, true);
    else if (cell && moves[event.key]) {
      const next = beside(cell, ...moves[event.key]);
      if (next) panel.hidden ? rove(next, true) : show(next, true);
    } else return;
    event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const cell = event.target.closest("td[data-i]");
    if (cell) show(cell, true);
  });

  // -- choosing what is shown ---------------------------------------------------------------------------------------

  function matches(i) {
    return !filters.size || filters.has(details.outcome[i]) || details.harms[i].some((harm) => filters.has(harm));
  }

  function filter() {
    for (const cell of cells) cell.classList.toggle("dim", !matches(Number(cell.dataset.i)));
    byId("clear").hidden = !filters.size;
    for (const button of document.querySelectorAll("[data-filter]"))
      button.setAttribute("aria-pressed", String(filters.has(button.dataset.filter)));
  }

  for (const button of document.querySelectorAll("[data-filter]"))
    button.addEventListener("click", () => {
      const name = button.dataset.filter;
      filters.has(name) ? filters.delete(name) : filters.add(name);
      if (details) filter();
    });
  byId("clear").addEventListener("click", () => {
    filters.clear();
    filter();
  });

  function choosePlan() {
    for (const map of document.querySelectorAll(".map")) map.hidden = map.dataset.plan !== byId("plan").value;
    for (const map of document.querySelectorAll(".map:not([hidden])")) {
      const first = map.querySelector("td[data-i]");
      if (first && !map.querySelector('td[tabindex="0"]')) first.tabIndex = 0;
    }
  }

  byId("plan").addEventListener("change", choosePlan);
  byId("plan").closest("label").hidden = byId("plan").options.length < 2;
  byId("previous").addEventListener("click", () => step(false));
  byId("next").addEventListener("click", () => step(true));
  byId("close").addEventListener("click", close);
  byId("copy").addEventListener("click", async () => {
    const text = byId("p-command").textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(byId("p-command"));
      document.execCommand("copy");
    }
    byId("copy").textContent = "copied";
    setTimeout(() => (byId("copy").textContent = "copy"), 1500);
  });
  window.addEventListener("hashchange", fromAddress);
  window.addEventListener("resize", makeRoom);

  const bar = document.querySelector(".filters");
  new ResizeObserver(() => document.body.style.setProperty("--bar", `${bar.offsetHeight}px`)).observe(bar);

  choosePlan();
  unpack().then(fromAddress, (error) => {
    byId("p-title").textContent = `This browser cannot unpack the page's data (${error.message}).`;
    panel.hidden = false;
  });
})();
