"use strict";
/** Many jobs: which of them cost most, all of them in a table, and how old their tokens are. */
(() => {
  const { el } = rtrace;

  /**
   * Names with bars, the longest as wide as there is room.
   * @param {[string, number, string][]} rows name, value, value as shown
   */
  function bars(title, rows) {
    const largest = Math.max(...rows.map(([, value]) => Math.abs(value)), 0);
    const lines = rows.map(([name, value, shown]) => {
      const bar = el("div", { class: "bar", "aria-hidden": "true" });
      bar.style.cssText = "height: 0.7em; min-width: 1px; background: var(--blue)";
      bar.style.width = `${largest ? (100 * Math.abs(value)) / largest : 0}%`;
      const room = el("td", {}, bar);
      room.style.width = "60%";
      return el("tr", {}, el("th", { scope: "row", class: "left" }, name), room, el("td", { class: "right" }, shown));
    });
    const grid = el("table", {}, el("caption", {}, el("span", {}, title)), el("tbody", {}, ...lines));
    return el("div", { class: "table" }, el("div", { class: "scroll" }, grid));
  }

  function panel(id, title, draw, wanted) {
    rtrace.panel(id, { title, wanted, draw, state: () => rtrace.data.doc[id] });
  }

  panel(
    "worst",
    "Which jobs",
    (host, data) => host.append(...data.doc.worst.map(({ title, rows }) => bars(title, rows))),
    (data) => data.doc.worst.length > 0,
  );
  panel("jobs", "Jobs", (host, data) => host.append(...rtrace.blocks(data.doc.jobs)));
  panel(
    "ages",
    "Batch age",
    (host, data) => host.append(bars("Trained tokens by age in versions, all jobs", data.doc.ages)),
    (data) => data.doc.ages.length > 0,
  );
})();
