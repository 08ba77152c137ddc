"use strict";
/** Reads what the page carries and draws it: first what is readable at once, then the pictures. */
(() => {
  const text = (id) => document.getElementById(id).textContent;

  async function load() {
    const head = JSON.parse(text("rtrace-head"));
    const scripts = [...document.querySelectorAll("script[data-table]")];
    const texts = [["document", text("rtrace-document")], ...scripts.map((one) => [one.dataset.table, one.textContent])];
    rtrace.parts = new Map(await Promise.all(texts.map(async ([name, packed]) => [name, await rtrace.unpackPart(name, packed)])));
    return rtrace.whole(head, rtrace.parts);
  }

  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const print = matchMedia("print");
  let chosen = null;

  function apply() {
    rtrace.setTheme(print.matches ? "light" : chosen || (system.matches ? "dark" : "light"));
    button.setAttribute("aria-pressed", String(rtrace.isDark()));
  }

  button.addEventListener("click", () => {
    chosen = rtrace.isDark() ? "light" : "dark";
    apply();
  });
  system.addEventListener("change", apply);
  print.addEventListener("change", apply);
  addEventListener("beforeprint", () => rtrace.setTheme("light"));
  addEventListener("afterprint", apply);
  apply();

  /** What the address names did not exist when the browser looked for it. */
  function toFragment() {
    const wanted = location.hash && document.getElementById(location.hash.slice(1));
    if (wanted) {
      wanted.scrollIntoView();
    }
  }

  rtrace.ready = load().then(
    (data) => {
      rtrace.draw(data);
      // Charts take their height a moment later.
      requestAnimationFrame(() => {
        toFragment();
        document.documentElement.dataset.ready = "true";
      });
    },
    (error) => {
      document.getElementById("problem").hidden = false;
      throw error;
    },
  );
})();
