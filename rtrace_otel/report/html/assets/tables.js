"use strict";
/** Tables of steps, losses, slow attempts and groups; what `check` finds; damage; definitions. */
(() => {
  const { el } = rtrace;

  /** A panel of blocks that are there at once. */
  function plain(id, section, names) {
    const all = (data) => names.flatMap((name) => data.doc.texts[name]);
    rtrace.panel(id, {
      title: "",
      section,
      wanted: (data) => all(data).length > 0,
      draw: (host, data) => host.append(...rtrace.blocks(all(data), 3)),
      state: () => all(rtrace.data),
    });
  }

  /** A panel of tables, each built when it is opened. */
  function folded(id, name) {
    rtrace.panel(id, {
      title: "",
      section: "tables",
      wanted: (data) => data.doc.texts[name].length > 0,
      draw: (host, data) => host.append(...data.doc.texts[name].map(fold)),
      state: () => rtrace.data.doc.texts[name],
    });
  }

  function fold(table) {
    const details = el("details", { class: "fold" }, el("summary", {}, `${table.title} (${rtrace.format.count(table.of)})`));
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1) {
        details.append(rtrace.table(table));
      }
    });
    return details;
  }

  folded("steps", "steps");
  folded("ages", "ages");
  folded("losses", "losses");
  folded("attempts", "attempts");
  folded("groups", "groups");
  folded("waste-table", "waste_steps");
  plain("check", "trust", ["check", "damage"]);

  rtrace.panel("definitions", {
    title: "",
    section: "definitions",
    draw(host, data) {
      const entries = data.doc.definitions.flatMap(([name, meaning, formula, unit, source]) => [
        el("dt", { id: `definition-${name}` }, name.replaceAll("_", " ")),
        el("dd", {}, meaning, ...[formula && el("div", {}, el("code", {}, formula)), el("div", { class: "source" }, [unit, source].filter(Boolean).join(" · "))].filter(Boolean)),
      ]);
      host.append(el("details", {}, el("summary", {}, `${data.doc.definitions.length} numbers of this page`), el("dl", { class: "definitions" }, ...entries)));
    },
    state: () => rtrace.data.doc.definitions,
  });
})();
