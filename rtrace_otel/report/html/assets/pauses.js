"use strict";
/** Refits and checkpoints: what each held up, and for how long. */
(() => {
  const { el } = rtrace;
  const { count, short, seconds, known } = rtrace.format;

  function thinned(data) {
    const { refits } = data.doc;
    const points = data.tables.refits.rows;
    return refits === points ? null : el("p", { class: "caption" }, `${count(refits)} refits in ${count(points)} points: each has the largest values of about ${Math.round(refits / points)} refits.`);
  }

  function chart(host, data, name, label, words, show, tick) {
    const table = data.tables.refits;
    const places = Float64Array.from({ length: table.rows }, (_, place) => place);
    const version = (place) => (Number.isInteger(place) && known(table.version[place]) ? String(table.version[place]) : "");
    rtrace.lines(host, {
      label: words,
      height: 170,
      sync: "refits",
      x: { label: "refit to version", values: places, show: version, whole: true },
      y: { label, show, tick, least: 1e-3 },
      series: [{ label, values: table[name], color: { seconds: "pink", calls: "blue", tokens: "green" }[name], width: 1.6, fill: true, points: table.rows <= 60 }],
    });
  }

  rtrace.panel("refits", {
    title: "Refits",
    section: "pauses",
    wanted: (data) => data.tables.refits.rows > 0,
    draw(host, data) {
      const grid = el("div", { class: "grid three" }, el("div"), el("div"), el("div"));
      host.append(grid);
      const [calls, tokens, took] = grid.children;
      chart(calls, data, "calls", "calls paused", "Model calls that each refit paused.", count, short);
      chart(tokens, data, "tokens", "tokens in flight", "Tokens that the paused calls had generated.", count, short);
      chart(took, data, "seconds", "took", "How long each refit took.", seconds);
      host.append(...[thinned(data)].filter(Boolean));
    },
    state: () => rtrace.plain(rtrace.data.tables.refits, ["version", "seconds", "calls", "tokens"]),
  });

  rtrace.panel("pauses", {
    title: "",
    section: "pauses",
    draw(host, data) {
      host.append(el("div", { class: "row" }, ...rtrace.blocks(data.doc.texts.pauses)));
    },
    state: () => rtrace.data.doc.texts.pauses,
  });
})();
