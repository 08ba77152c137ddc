"use strict";
/** What the trace holds: its runs, and everything that was counted. */
(() => {
  rtrace.panel("overview", {
    title: "What happened",
    section: "overview",
    draw(host, data) {
      const shown = data.doc.texts.summary.filter((block) => block.type !== "sentence");
      host.append(...rtrace.blocks(shown));
    },
    state: () => rtrace.data.doc.results.summary,
  });
})();
