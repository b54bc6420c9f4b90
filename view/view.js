// The view works without this script. With it, the page "Now" updates its sections while a crawl
// runs, and the keys n and p lead to the next and the previous difference of two texts.
"use strict";

const differences = [...document.querySelectorAll(".difference")];
addEventListener("keydown", (event) => {
  const step = { n: 1, p: -1 }[event.key];
  if (!step || !differences.length || event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
  const from = differences.indexOf(document.activeElement.closest(".difference"));
  const to = differences[Math.min(Math.max(from + step, 0), differences.length - 1)];
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: "center" });
});

const page = document.querySelector("[data-live]");
if (page) {
  const source = new EventSource(page.dataset.live);
  const state = document.getElementById("now-state");
  source.onmessage = (event) => {
    for (const [id, html] of Object.entries(JSON.parse(event.data))) {
      const part = document.getElementById(id);
      // Do not replace a section with a focused element, because the user may be about to press it.
      if (part && (part === state || !part.contains(document.activeElement))) part.innerHTML = html;
    }
  };
  source.onerror = () => {
    state.textContent = "The crawl does not answer. It has ended, or cannot be reached. The page shows its last known state.";
  };
  addEventListener("pagehide", () => source.close());
}
