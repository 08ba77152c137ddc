"use strict";
/** Looks again every ten seconds and takes what changed. A page that is loaded anew would lose focus and reading place. */
(() => {
  const EVERY_MS = 10_000;
  const main = document.getElementById("main");
  const lost = document.getElementById("lost");

  function take(page) {
    const next = new DOMParser().parseFromString(page, "text/html").getElementById("main");
    if (next && next.innerHTML !== main.innerHTML) {
      const focused = document.activeElement?.getAttribute("href");
      main.replaceChildren(...next.childNodes);
      [...main.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus({ preventScroll: true });
    }
  }

  async function look() {
    try {
      const answer = await fetch(location.href);
      if (!answer.ok) {
        throw new Error(answer.statusText);
      }
      take(await answer.text());
      lost.textContent = "";
    } catch {
      lost.textContent = "Connection lost, trying again.";
    }
    setTimeout(look, EVERY_MS);
  }

  setTimeout(look, EVERY_MS);
})();
