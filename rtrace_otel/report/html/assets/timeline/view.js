"use strict";
/** What part of the timeline is looked at: a range of time and a range of lanes; and how that stands in a link. */
(() => {
  const LEAST_S = 0.01;
  const LEAST_LANES = 4;

  /** A view of a whole model. */
  function whole(model) {
    return { from: 0, to: model.span, top: 0, bottom: model.lanes };
  }

  /** The view moved and stretched so that it lies within the model. */
  function within(model, view) {
    const [from, to] = clamped(view.from, view.to, model.span, Math.min(LEAST_S, model.span));
    const [top, bottom] = clamped(view.top, view.bottom, model.lanes, Math.min(LEAST_LANES, model.lanes));
    return { from, to, top, bottom };
  }

  function clamped(low, high, most, least) {
    const length = Math.min(Math.max(high - low, least), most);
    const middle = (low + high) / 2;
    const start = Math.min(Math.max(high - low < least ? middle - length / 2 : low, 0), most - length);
    return [start, start + length];
  }

  /** The view as it is shown: where all lanes are looked at, only as many as are used in its time, with some room. */
  function fitted(model, view) {
    if (view.top > 0 || view.bottom < model.lanes) {
      return view;
    }
    let used = 0;
    for (let row = 0; row < model.rows && model.start[row] <= view.to; row++) {
      if (model.end[row] >= view.from && model.lane[row] >= used) {
        used = model.lane[row] + 1;
      }
    }
    const step = Math.max(10 ** Math.floor(Math.log10(Math.max(used, 1))) / 4, 1);
    return { ...view, bottom: Math.min(Math.max(Math.ceil(used / step) * step, LEAST_LANES), model.lanes) };
  }

  /** Zoomed around a moment that stays where it is; a factor above 1 shows less. */
  function zoomed(model, view, at, factor) {
    return within(model, { ...view, from: at - (at - view.from) / factor, to: at + (view.to - at) / factor });
  }

  function zoomedLanes(model, view, at, factor) {
    return within(model, { ...view, top: at - (at - view.top) / factor, bottom: at + (view.bottom - at) / factor });
  }

  function panned(model, view, seconds, lanes) {
    return within(model, {
      from: view.from + seconds,
      to: view.to + seconds,
      top: view.top + lanes,
      bottom: view.bottom + lanes,
    });
  }

  const isWhole = (model, view) => {
    const all = whole(model);
    return Object.keys(all).every((name) => Math.abs(view[name] - all[name]) < 1e-9);
  };

  const STEPS_S = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
    10800, 21600, 43200, 86400, 172800, 604800, 2592000, 31536000,
  ];

  /** Moments for the axis, in Unix seconds, with their labels: at most so many. */
  function ticks(from, to, most) {
    const step = STEPS_S.find((seconds) => (to - from) / seconds <= most) || (to - from) / 2;
    const found = [];
    for (let at = Math.ceil(from / step) * step; at <= to && found.length <= most; at += step) {
      found.push({ at, label: clock(at, step) });
    }
    return found;
  }

  /** A moment in UTC, as exact as a step needs it. */
  function clock(at, step) {
    const date = new Date(Math.round(at * 1000));
    if (Number.isNaN(date.getTime())) {
      return String(at);
    }
    const text = date.toISOString();
    if (step >= 86400) {
      return text.slice(0, 10);
    }
    return text.slice(11, step >= 60 ? 16 : step >= 1 ? 19 : 23);
  }

  const NAME = "#timeline?";

  /** The link to what is looked at: only what differs from the whole timeline. */
  function toHash(model, look) {
    const parts = new URLSearchParams();
    if (!isWhole(model, look.view)) {
      const { from, to, top, bottom } = look.view;
      parts.set("x", [from, to].map((value) => value.toFixed(3)).join(","));
      if (top > 0 || bottom < model.lanes) {
        parts.set("y", [top, bottom].map((value) => value.toFixed(2)).join(","));
      }
    }
    const others = {
      q: look.query,
      off: [...look.hidden].join(","),
      color: look.color === "outcome" ? "" : look.color,
    };
    for (const [name, value] of Object.entries({ ...others, sel: look.selectedKey || "" })) {
      if (value) {
        parts.set(name, value);
      }
    }
    return NAME + parts;
  }

  /** What a link says; `null` if it is not one of the timeline. */
  function fromHash(model, hash) {
    if (!hash.startsWith(NAME)) {
      return null;
    }
    const parts = new URLSearchParams(hash.slice(NAME.length));
    const pair = (name, otherwise) => {
      const values = (parts.get(name) || "").split(",").map(Number);
      return values.length === 2 && values.every(Number.isFinite) && values[0] < values[1] ? values : otherwise;
    };
    const [from, to] = pair("x", [0, model.span]);
    const [top, bottom] = pair("y", [0, model.lanes]);
    return {
      view: within(model, { from, to, top, bottom }),
      query: parts.get("q") || "",
      hidden: new Set((parts.get("off") || "").split(",").filter((state) => model.states.includes(state))),
      color: parts.get("color") === "version" ? "version" : "outcome",
      selectedKey: parts.get("sel") || null,
    };
  }

  Object.assign(rtrace.timeline, {
    whole,
    within,
    fitted,
    zoomed,
    zoomedLanes,
    panned,
    isWhole,
    ticks,
    clock,
    toHash,
    fromHash,
  });
})();
