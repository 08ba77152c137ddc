"use strict";
/** Sentences, facts and tables of a document, as `blocks.py` gives them. */
(() => {
  const { el } = rtrace;

  function sentence(block) {
    if (block.tone === "command") {
      return el("pre", { class: "command" }, el("code", {}, block.text));
    }
    const said = rtrace.data.head.opening.includes(block.text); // no need to mark what the page begins with
    return el("p", { class: said ? "lead" : block.tone }, block.text);
  }

  function facts(block, level) {
    const pairs = block.pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
    return el("div", { class: "facts" }, el(`h${level}`, {}, block.title), el("dl", {}, ...pairs));
  }

  /**
   * Elements for blocks, in order.
   * @param {object[]} several
   * @param {number} level of the headings of facts: one below the heading that they stand under
   */
  function blocks(several, level = 4) {
    const makers = { sentence, facts, table: (block) => rtrace.table(block) };
    return several.map((block) => makers[block.type](block, level));
  }

  rtrace.blocks = blocks;
})();
