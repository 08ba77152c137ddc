"use strict";
/** Puts together what `pieces.py` cut up. A page that follows a file keeps the pieces, and is sent those that changed. */
(() => {
  /** Unpacks a part of the page by what its name says it is. */
  function unpackPart(name, text) {
    return name.startsWith("document") ? rtrace.unpackJson(text) : rtrace.unpack(text);
  }

  /** Columns of the same kind one after the other. */
  function joinedColumn(columns) {
    if (Array.isArray(columns[0])) {
      return columns.flat();
    }
    const values = new Float64Array(columns.reduce((sum, column) => sum + column.length, 0));
    let offset = 0;
    for (const column of columns) {
      values.set(column, offset);
      offset += column.length;
    }
    return values;
  }

  function joinedTable(tables) {
    const joined = { rows: tables.reduce((sum, table) => sum + table.rows, 0) };
    for (const name of Object.keys(tables[0])) {
      if (name !== "rows") {
        joined[name] = joinedColumn(tables.map((table) => table[name]));
      }
    }
    return joined;
  }

  /** Pieces of attempts count the groups of their own piece; this counts those of all pieces. */
  function withGroupsOfAll(attempts, groups) {
    let before = 0;
    return attempts.map((piece, place) => {
      const base = before;
      before += groups[place].rows;
      return { ...piece, group: piece.group.map((group) => group + base) };
    });
  }

  function joinedTables(counts, parts) {
    const named = (name) => Array.from({ length: counts[name] }, (_, place) => parts.get(`${name}#${place}`));
    const pieces = Object.fromEntries(Object.keys(counts).map((name) => [name, named(name)]));
    pieces.attempts = withGroupsOfAll(pieces.attempts, pieces.attempt_groups);
    return Object.fromEntries(Object.entries(pieces).map(([name, tables]) => [name, joinedTable(tables)]));
  }

  function joinedDocument({ value, cuts }, parts) {
    const root = { document: value };
    for (const [path, count] of cuts) {
      const keys = ["document", ...path];
      const last = keys.pop();
      const owner = keys.reduce((at, key) => at[key], root);
      const name = `document${JSON.stringify(path)}`;
      owner[last] =
        count === null
          ? structuredClone(parts.get(name))
          : Array.from({ length: count }, (_, place) => parts.get(`${name}#${place}`)).flat();
    }
    return root.document;
  }

  /**
   * What the page shows.
   * @param {object} head with `pieces`, the number of pieces of each table, if the page is in pieces
   * @param {Map<string, object>} parts the unpacked parts by name; `document` is the document, or what was not cut out of it
   */
  function whole(head, parts) {
    const root = parts.get("document");
    if (!head.pieces) {
      const tables = [...parts].filter(([name]) => name !== "document");
      return { head, doc: root, tables: Object.fromEntries(tables) };
    }
    return { head, doc: joinedDocument(structuredClone(root), parts), tables: joinedTables(head.pieces, parts) };
  }

  Object.assign(rtrace, { unpackPart, whole });
})();
