"use strict";
/** Tables that can be sorted by a column and copied. */
(() => {
  const { el } = rtrace;
  const FIRST = 25;
  const WIDE = 13;
  const LONG = 56;

  /** How tables were sorted and unfolded, by what they are: a page that follows a file builds them again. */
  const chosen = new Map();

  /**
   * A table of `blocks.py`.
   * @param {{title: string, columns: object[], rows: string[][], values: Object<string, any[]>, of: number}} table
   */
  function build(table) {
    const name = JSON.stringify([table.title, ...table.columns.map((column) => column.key)]);
    const state = { by: null, descending: false, all: false, ...chosen.get(name) };
    state.order = state.by === null ? table.rows.map((_, place) => place) : sorted(table, state.by, state.descending);
    const body = el("tbody");
    const heads = table.columns.map((column, place) => head(table, state, column, place, changed));
    const more = el("button", { type: "button", class: "quiet", onclick: () => showAll() });
    const copied = el("span", { class: "copied", role: "status" });
    const copy = el("button", { type: "button", class: "quiet", "aria-label": `copy ${table.title}`, onclick: () => copyTable(table, state, copied) }, "copy");

    function showAll() {
      state.all = !state.all;
      changed();
    }

    function changed() {
      chosen.set(name, { by: state.by, descending: state.descending, all: state.all });
      refresh();
    }

    function refresh() {
      const shown = state.all ? state.order : state.order.slice(0, FIRST);
      body.replaceChildren(...shown.map((place) => el("tr", {}, ...cells(table, place))));
      heads.forEach((cell, place) => {
        const direction = state.by !== place ? "none" : state.descending ? "descending" : "ascending";
        cell.setAttribute("aria-sort", direction);
      });
      more.hidden = table.rows.length <= FIRST;
      more.textContent = state.all ? `show the first ${FIRST}` : `show all ${rtrace.format.count(table.rows.length)}`;
    }

    refresh();
    const left = table.of - table.rows.length;
    const note = left > 0 ? `${rtrace.format.count(left)} more rows are not in this page. ` : null;
    const caption = el("caption", {}, el("span", {}, table.title), copy, copied);
    const grid = el("table", { class: table.columns.length > WIDE ? "wide" : null, "aria-label": table.title }, caption, el("thead", {}, el("tr", {}, ...heads)), body);
    const scroll = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.title }, grid);
    const cut = el("span", { class: "cut", hidden: true }, "There are more columns: scroll sideways. ");
    rtrace.onPaint(scroll, () => {
      cut.hidden = scroll.scrollWidth <= scroll.clientWidth + 1;
    });
    return el("div", { class: "table" }, scroll, el("p", { class: "more" }, cut, note, more));
  }

  function head(table, state, column, place, changed) {
    const sort = () => {
      state.descending = state.by === place ? !state.descending : column.align === "right";
      state.by = place;
      state.order = sorted(table, place, state.descending);
      changed();
    };
    const button = el("button", { type: "button", onclick: sort, "aria-label": `sort by ${column.title || column.key.replaceAll("_", " ")}` }, column.title);
    return el("th", { scope: "col", class: column.align }, button);
  }

  /** The values of a column: those that the table carries, else numbers read from its cells, else the cells. */
  function valuesOf(table, place) {
    const { key, align } = table.columns[place];
    const cells = table.rows.map((row) => row[place]);
    return table.values[key] || (align === "right" ? cells.map(number) : cells);
  }

  function number(cell) {
    return cell === "-" ? null : Number(cell.replaceAll(",", ""));
  }

  /** Places of the rows in order; what is unknown comes last in both directions. */
  function sorted(table, place, descending) {
    const values = valuesOf(table, place);
    const unknown = (value) => value === null || value === "-";
    const compare = (a, b) =>
      typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return table.rows
      .map((_, row) => row)
      .sort((a, b) => {
        if (unknown(values[a]) || unknown(values[b])) {
          return Number(unknown(values[a])) - Number(unknown(values[b])) || a - b;
        }
        return (descending ? compare(values[b], values[a]) : compare(values[a], values[b])) || a - b;
      });
  }

  function cells(table, place) {
    return table.rows[place].map((text, column) =>
      el("td", { class: text.length > LONG ? "left words" : table.columns[column].align }, text),
    );
  }

  /** The table as tab-separated text, raw values where there are some, in the order shown. */
  function asText(table, order) {
    const plain = (value) => String(value === null ? "" : value).replace(/[\t\r\n]/g, " ");
    const columns = table.columns.map((_, place) => valuesOf(table, place));
    const line = (place) => columns.map((values) => plain(values[place]));
    const lines = [table.columns.map((column) => plain(column.key)), ...order.map(line)];
    return `${lines.map((fields) => fields.join("\t")).join("\n")}\n`;
  }

  async function copyTable(table, state, copied) {
    const text = asText(table, state.order);
    rtrace.copied = text;
    copied.textContent = (await toClipboard(text)) ? `${rtrace.format.count(state.order.length)} rows copied` : "not copied";
    setTimeout(() => copied.replaceChildren(), 2500);
  }

  /** A page from a file may not have the clipboard of its browser; the older way needs a selected text. */
  async function toClipboard(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = el("textarea", { class: "offscreen", "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }

  rtrace.table = build;
})();
