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
  const state = document.getElementById("now-state");
  const update = async () => {
    const began = performance.now();
    try {
      if (!document.hidden) {
        const answer = await fetch(location.href);
        if (!answer.ok) throw new Error(answer.status);
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const part of page.querySelectorAll("[id^=now-]")) {
          const html = fresh.getElementById(part.id)?.innerHTML ?? "";
          // Do not replace a section with a focused element, because the user may be about to press it.
          if (html !== part.innerHTML && (part === state || !part.contains(document.activeElement))) part.innerHTML = html;
        }
      }
    } catch {
      state.textContent = "The crawl does not answer. It has ended, or cannot be reached. The page shows its last known state.";
    }
    // To limit the load, wait for much longer than the answer took.
    setTimeout(update, Math.min(30000, Math.max(1000, 50 * (performance.now() - began))));
  };
  setTimeout(update, 1000);
}
