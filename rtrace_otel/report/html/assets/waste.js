"use strict";
/** Where the tokens went: accounts, and how they grew over the steps. */
(() => {
  const { el } = rtrace;
  const { count, short } = rtrace.format;
  const HUES = ["orange", "yellow", "pink", "sky", "gray", "blue", "accent", "faint", "soft"];
  const DASHES = [undefined, [7, 3], [2, 3]];

  /** Accounts without the trained one, each with its place in the table. */
  function wasted(data) {
    return data.doc.accounts.map((account, place) => ({ ...account, place })).filter((account) => account.name !== "trained");
  }

  rtrace.panel("waste", {
    title: "",
    section: "waste",
    draw(host, data) {
      host.append(el("p", { class: "lead" }, data.doc.results.waste.verdict));
      host.append(el("div", { class: "row" }, ...rtrace.blocks(data.doc.texts.waste, 3)));
    },
    state: () => rtrace.data.doc.results.waste,
  });

  rtrace.panel("waste-steps", {
    title: "Waste by reason, cumulative",
    section: "waste",
    wanted: (data) => data.tables.waste.rows > 1 && wasted(data).length > 0,
    draw(host, data) {
      const table = data.tables.waste;
      const places = Float64Array.from({ length: table.rows }, (_, place) => place);
      const name = (place) => (Number.isInteger(place) && place < table.rows ? (Number.isNaN(table.step[place]) ? "end" : String(table.step[place])) : "");
      rtrace.lines(host, {
        label: "Tokens that were not trained, by reason, added up over the steps in file order.",
        x: { label: "step", values: places, show: name, whole: true },
        y: { label: "tokens", show: count, tick: short, least: 1 },
        series: wasted(data).map((account, place) => ({
          label: account.label,
          values: table[`account${account.place}`],
          color: HUES[place % HUES.length],
          dash: DASHES[Math.floor(place / 3) % 3],
          width: 1.8,
        })),
      });
      host.append(
        el("p", { class: "caption" }, "Steps stand in the order of the file: one that was trained again stands there again. Tokens lost at a stop include those of results that came back later."),
      );
    },
    state() {
      const { tables, doc } = rtrace.data;
      const rows = doc.accounts.map((account, place) => [account.label, Array.from(tables.waste[`account${place}`])]);
      return { ...rtrace.plain(tables.waste, ["step"]), accounts: Object.fromEntries(rows) };
    },
  });
})();
