// The theme of a page: the system's, or the one that its button has chosen. `theme.scheme()` is "light" or "dark"; the
// page's script sets `theme.changed`, which is called after each change.
"use strict";

const theme = (() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const made = { scheme, changed() {}, dress };
  let chosen = kept();

  function scheme() { return chosen ?? own(); }
  function own() { return system.matches ? "dark" : "light"; }
  function other() { return scheme() === "dark" ? "light" : "dark"; }

  // A browser may refuse storage to a page that was opened from a file.
  function kept() { try { return localStorage.getItem("understudy-theme"); } catch { return null; } }
  function keep() {
    try {
      if (chosen) localStorage.setItem("understudy-theme", chosen);
      else localStorage.removeItem("understudy-theme");
    } catch { /* for this visit only */ }
  }

  function dress() {
    document.documentElement.style.colorScheme = scheme();
    button.textContent = `${other() === "dark" ? "Dark" : "Light"} theme`;
    made.changed();
  }

  button.addEventListener("click", () => {
    chosen = other() === own() ? null : other();  // what the system has needs no choice: the page follows it again
    keep();
    dress();
  });
  system.addEventListener("change", () => { if (!chosen) dress(); });
  button.hidden = false;
  dress();
  return made;
})();
