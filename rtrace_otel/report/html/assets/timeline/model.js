"use strict";
/**
 * The attempts of the timeline in arrays, and what can be asked of them. Times are seconds since the job began.
 *
 * Everything of the timeline hangs on `rtrace.timeline`; `panel.js` puts it together.
 */
(() => {
  const NONE = -1;

  /** A column of whole numbers with -1 for what is unknown. */
  function integers(values) {
    return Int32Array.from(values, (value) => (Number.isNaN(value) ? NONE : value));
  }

  /** @param {object} data `{doc, tables}` as the page's core gives them */
  function build(data) {
    const found = data.doc.results.timeline;
    const columns = data.tables.attempts;
    const groups = data.tables.attempt_groups;
    const rows = columns.rows;
    const start = new Float64Array(rows);
    const end = new Float64Array(rows);
    let units = 0;
    for (let row = 0; row < rows; row++) {
      units += columns.start_delta[row];
      start[row] = units * found.unit;
      end[row] = (units + columns.length[row]) * found.unit;
    }
    const origin = found.start || 0;
    const model = {
      found,
      columns,
      groups,
      rows,
      origin,
      start,
      end,
      span: Math.max((found.end || 0) - origin, found.unit, 1e-3),
      lane: integers(columns.lane),
      lanes: Math.max(found.lanes, 1),
      state: Uint8Array.from(columns.state),
      fate: integers(columns.fate),
      group: integers(columns.group),
      version: columns.version,
      bands: bandsOf(found, origin),
      states: found.states,
    };
    model.byState = model.states.map((_, state) => rowsWhere(model, (row) => model.state[row] === state));
    model.refits = refitsByRun(model);
    return model;
  }

  function rowsWhere(model, test) {
    const rows = [];
    for (let row = 0; row < model.rows; row++) {
      if (test(row)) {
        rows.push(row);
      }
    }
    return rows;
  }

  /** The bands with times since the job began. */
  function bandsOf(found, origin) {
    const shifted = (band) => ({ ...band, start: band.start - origin, end: band.end - origin });
    return Object.fromEntries(Object.entries(found.bands).map(([kind, bands]) => [kind, bands.map(shifted)]));
  }

  /** Of each run, when refits installed which version, in order. */
  function refitsByRun(model) {
    const runs = new Map();
    for (const refit of model.bands.refits) {
      if (refit.finished) {
        runs.set(refit.run, [...(runs.get(refit.run) || []), refit]);
      }
    }
    for (const refits of runs.values()) {
      refits.sort((a, b) => a.end - b.end);
    }
    return runs;
  }

  const runOf = (model, row) => model.groups.run[model.group[row]];
  const groupOf = (model, row) => model.groups.id[model.group[row]];
  const promptOf = (model, row) => model.groups.prompt[model.group[row]];

  /** Place of the first refit of a list that ended after a moment. */
  function firstAfter(refits, moment) {
    let low = 0;
    let high = refits.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (refits[middle].end > moment) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /** Calls `each(start, end, version)` for every stretch of an attempt between two refits; NaN is unknown. */
  function eachSegment(model, row, each) {
    const refits = model.refits.get(runOf(model, row)) || [];
    let since = model.start[row];
    let version = model.version[row];
    for (let place = firstAfter(refits, since); place < refits.length && refits[place].end < model.end[row]; place++) {
      each(since, refits[place].end, version);
      since = refits[place].end;
      version = refits[place].new_version === null ? NaN : refits[place].new_version;
    }
    each(since, model.end[row], version);
  }

  /** What names an attempt in a link: its group, its generation and when it began. */
  function keyOf(model, row) {
    const generation = model.columns.generation[row];
    return [groupOf(model, row) || "", Number.isNaN(generation) ? "" : generation, model.start[row].toFixed(2)].join(
      "~",
    );
  }

  function rowOfKey(model, key) {
    for (let row = 0; row < model.rows; row++) {
      if (keyOf(model, row) === key) {
        return row;
      }
    }
    return NONE;
  }

  /** Rows of the same group, in every run that worked on it, in order of generation and start. */
  function siblings(model, row) {
    const group = groupOf(model, row);
    const same = (other) =>
      model.group[other] === model.group[row] || (group !== null && groupOf(model, other) === group);
    return rowsWhere(model, same).sort(
      (a, b) => model.columns.generation[a] - model.columns.generation[b] || model.start[a] - model.start[b],
    );
  }

  /** Rows of the same prompt and generation over all runs, in order of their start. */
  function history(model, row) {
    const prompt = promptOf(model, row);
    const generation = model.columns.generation[row];
    if (prompt === null) {
      return [row];
    }
    return rowsWhere(
      model,
      (other) => promptOf(model, other) === prompt && Object.is(model.columns.generation[other], generation),
    );
  }

  rtrace.timeline = {
    NONE,
    build,
    runOf,
    groupOf,
    promptOf,
    firstAfter,
    eachSegment,
    keyOf,
    rowOfKey,
    siblings,
    history,
  };
})();
