// The view works without this script. With it, the page "Now" updates its sections while a crawl runs.
"use strict";

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
    state.textContent = "Nobody answers: the crawl has ended, or cannot be reached. What stands below is the last that is known.";
  };
  addEventListener("pagehide", () => source.close());
}
