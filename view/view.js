// The view works without this. With it, the page of a running crawl shows what happens as it happens.
"use strict";

const page = document.querySelector("[data-live]");
if (page) {
  const source = new EventSource(page.dataset.live);
  const state = document.getElementById("now-state");
  source.onmessage = (event) => {
    for (const [id, html] of Object.entries(JSON.parse(event.data))) {
      const part = document.getElementById(id);
      // What somebody is about to press stays where it is.
      if (part && (part === state || !part.contains(document.activeElement))) part.innerHTML = html;
    }
  };
  source.onerror = () => {
    state.textContent = "Nobody answers: the crawl has ended, or cannot be reached. What stands below is the last that is known.";
  };
  addEventListener("pagehide", () => source.close());
}
