"use strict";
/** Tables of steps, losses, slow attempts and groups; what `check` finds; damage; definitions. */
(() => {
  const { el } = rtrace;

  function texts(id, section, title, names) {
    const all = (data) => names.flatMap((name) => data.doc.texts[name]);
    rtrace.panel(id, {
      title,
      section,
      wanted: (data) => all(data).length > 0,
      draw: (host, data) => host.append(...rtrace.blocks(all(data))),
      state: () => all(rtrace.data),
    });
  }

  texts("steps", "tables", "", ["steps"]);
  texts("ages", "tables", "", ["ages"]);
  texts("losses", "tables", "", ["losses"]);
  texts("attempts", "tables", "", ["attempts"]);
  texts("groups", "tables", "", ["groups"]);
  texts("waste-table", "tables", "", ["waste_steps"]);
  texts("check", "trust", "", ["check", "damage"]);

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
