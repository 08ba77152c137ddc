"use strict";
/** The numbers that matter, and what the trace holds. */
(() => {
  const { el } = rtrace;

  function tile(one) {
    const link = el("a", { href: `#section-${one.section}` }, one.label);
    return el("div", { class: "tile" }, el("dt", {}, link), el("dd", {}, one.value, el("div", { class: "note" }, one.note)));
  }

  rtrace.panel("overview", {
    title: "",
    section: "overview",
    draw(host, data) {
      host.append(el("dl", { class: "tiles" }, ...data.doc.tiles.map(tile)));
      host.append(...rtrace.blocks(data.doc.texts.overview, 3));
    },
    state: () => ({ ...rtrace.data.doc.results.summary, tiles: rtrace.data.doc.tiles }),
  });
})();
