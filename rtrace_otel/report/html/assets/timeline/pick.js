"use strict";
/** Which attempts of the timeline are meant: those in view, the next one, the one in the middle, those to zoom to. */
(() => {
  const tl = rtrace.timeline;
  const LEAST_ROOM_S = 0.5;

  /** Attempts of the view that match, in order of their start: the first ones, and how many there are. */
  function inView(model, look, most = Infinity) {
    const { view } = look;
    const rows = [];
    let all = 0;
    for (let row = 0; row < model.rows && model.start[row] <= view.to; row++) {
      const lane = model.lane[row];
      if (look.mask[row] && model.end[row] >= view.from && lane + 1 > view.top && lane < view.bottom) {
        all++;
        if (rows.length < most) {
          rows.push(row);
        }
      }
    }
    return { rows, all };
  }

  /** Whether an attempt touches the view. */
  function isInView(model, view, row) {
    const lane = model.lane[row];
    return model.end[row] >= view.from && model.start[row] <= view.to && lane >= view.top && lane < view.bottom;
  }

  /** The attempt in view that comes after the selected one, or before it with -1; `undefined` if there is none. */
  function neighbour(model, look, by) {
    const { rows } = inView(model, look);
    const place = rows.indexOf(look.selected);
    return rows[place < 0 ? (by > 0 ? 0 : rows.length - 1) : place + by];
  }

  /** The attempt nearest to the middle of the view; `undefined` in an empty one. */
  function nearest(model, look) {
    const middle = (look.view.from + look.view.to) / 2;
    const distance = (row) => Math.max(model.start[row] - middle, middle - model.end[row], 0);
    const { rows } = inView(model, look);
    return rows.length ? rows.reduce((best, row) => (distance(row) < distance(best) ? row : best)) : undefined;
  }

  /** A view of all lanes with these attempts in its middle, and some room around them. */
  function around(model, rows) {
    const from = Math.min(...rows.map((row) => model.start[row]));
    const to = Math.max(...rows.map((row) => model.end[row]));
    const room = Math.max((to - from) * 0.6, LEAST_ROOM_S);
    return tl.within(model, { from: from - room, to: to + room, top: 0, bottom: model.lanes });
  }

  Object.assign(rtrace.timeline, { inView, isInView, neighbour, nearest, around });
})();
