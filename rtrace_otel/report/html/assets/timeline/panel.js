"use strict";
/** The panel of the timeline: puts model, filter, view, painting and story together. */
(() => {
  const tl = rtrace.timeline;

  /** What is looked at; it stays when a page that follows a file draws again. */
  const look = {
    view: null,
    query: "",
    hidden: new Set(),
    color: "outcome",
    selected: -1,
    selectedKey: null,
    siblings: [],
    mask: null,
    matching: 0,
    problem: null,
  };
  let model = null;
  let parts = null;
  let painted = null;
  let firstMs = null;
  let atWhole = true;
  let frame = 0;
  let told = null;
  let short = (run) => run;

  /** Takes new data: what is looked at stays, the whole job stays the whole job. */
  function read(data) {
    model = tl.build(data);
    const runs = new Map(data.head.runs.map(({ run, short }) => [run, short]));
    short = (run) => runs.get(run) || run || "-";
  }

  function update(data) {
    read(data);
    look.view = atWhole ? tl.whole(model) : tl.within(model, look.view);
    mark(look.selectedKey === null ? -1 : tl.rowOfKey(model, look.selectedKey));
    told = null;
    refilter();
    paint();
    tell();
  }

  function draw(host, data) {
    read(data);
    parts = tl.parts({
      typed,
      remember: () => remember(true),
      color: (color) => change({ color }, true),
      zoom: zoomBy,
      all: () => change({ view: tl.whole(model) }, true),
      tabulate,
    });
    host.append(...parts.all);
    const linked = tl.fromHash(model, location.hash);
    if (linked) {
      take(linked);
      document.getElementById("panel-timeline").scrollIntoView();
    } else {
      look.view = tl.whole(model);
    }
    refilter();
    paint();
    tell();
    rtrace.onPaint(parts.lanes, paint);
    tl.listen(parts, () => model, look, {
      change,
      select,
      paint,
      hover,
      resetHover,
      step,
      selectNear,
      spots: () => painted.spots,
      shown: () => painted.view,
    });
  }

  function refilter() {
    const result = tl.filter(model, look.query, look.hidden);
    Object.assign(look, { mask: result.mask, matching: result.count, problem: result.problem });
  }

  /** Takes over a part of what is looked at, and shows it. */
  function change(part, keep = false) {
    Object.assign(look, part);
    if (part.query !== undefined || part.hidden) {
      refilter();
    }
    atWhole = tl.isWhole(model, look.view);
    frame = frame || requestAnimationFrame(show);
    remember(keep);
  }

  /** Shows what changed since the last frame, if anything did. */
  function show() {
    if (frame) {
      cancelAnimationFrame(frame);
      frame = 0;
      resetHover(); // what the pointer was on may be elsewhere now
      paint();
      tell();
    }
  }

  /** Selects a row, `-1` for none, without showing it. */
  function mark(row) {
    look.selected = row;
    look.selectedKey = row < 0 ? null : tl.keyOf(model, row);
    look.siblings = row < 0 ? [] : tl.siblings(model, row);
  }

  function typed() {
    change({ query: parts.input.value });
  }

  function zoomBy(factor) {
    change({ view: tl.zoomed(model, look.view, (look.view.from + look.view.to) / 2, factor) }, true);
  }

  function take(linked) {
    const row = linked.selectedKey === null ? -1 : tl.rowOfKey(model, linked.selectedKey);
    Object.assign(look, linked);
    mark(row);
    atWhole = tl.isWhole(model, look.view);
  }

  const remember = tl.address(() => tl.toHash(model, look));

  addEventListener("popstate", () => {
    if (!model) {
      return;
    }
    const linked = tl.fromHash(model, location.hash) || (location.hash ? null : tl.fromHash(model, "#timeline?"));
    if (linked) {
      take(linked);
      change({ query: look.query });
    }
  });

  function select(row, keep = true) {
    mark(row);
    if (row >= 0 && !tl.isInView(model, look.view, row)) {
      look.view = tl.around(model, [row]);
    }
    change({}, keep);
  }

  function step(by) {
    const row = tl.neighbour(model, look, by);
    if (row !== undefined) {
      select(row);
    }
  }

  /** Selects the attempt nearest to the middle of the view, or goes into the story of the one that is selected. */
  function selectNear() {
    const row = look.selected < 0 ? tl.nearest(model, look) : undefined;
    if (row !== undefined) {
      select(row);
    } else if (look.selected >= 0) {
      show();
      parts.story.focus();
    }
  }

  function paint() {
    const began = performance.now();
    parts.body.classList.toggle("tl-open-story", look.selected >= 0);
    const ratio = window.devicePixelRatio || 1;
    const { canvas, context, width, height } = tl.surface(parts.lanes, ratio);
    const colors = tl.palette(model);
    const spots = tl.layout(width, height, ratio);
    const view = tl.fitted(model, look.view);
    const shown = { ...look, view };
    context.clearRect(0, 0, canvas.width, canvas.height);
    tl.behind(context, model, shown, spots, colors);
    const counts = tl.paintLanes(context, model, shown, spots.lanes, colors);
    tl.labels(context, model, shown, spots.lanes, colors, ratio);
    const refitLines = tl.lines(context, model, shown, spots, colors);
    const bands = tl.strips(context, model, shown, spots, colors, short);
    tl.outlines(context, model, shown, spots.lanes, colors, ratio);
    tl.frame(context, model, shown, spots, colors);
    tl.paintWhole(parts.whole, model, look, colors, ratio);
    painted = { ...counts, refitLines, bands, spots, view, ms: performance.now() - began };
    firstMs = firstMs ?? performance.now();
  }

  /** Says in words and controls what is looked at. */
  function tell() {
    tl.tellView(model, look, parts, painted, (hidden) => change({ hidden }, true));
    if (told !== look.selected) {
      told = look.selected;
      tl.tellStory(model, look, parts, short, {
        choose: (row) => select(row),
        zoom: (rows) => change({ view: tl.around(model, rows) }, true),
        filter: (query) => change({ query }, true),
        close: () => {
          select(-1);
          parts.lanes.focus();
        },
      });
    }
    tabulate();
  }

  function tabulate() {
    tl.tabulate(model, look, parts, short);
  }

  /** Shows what is under the pointer; x and y in CSS pixels of the canvas. */
  function hover(x, y) {
    show();
    const { spots } = painted;
    const [dx, dy] = [x * spots.ratio, y * spots.ratio];
    const row =
      dy >= spots.lanes.y && dy < spots.axis.y && dx >= spots.lanes.x
        ? tl.hit(model, { ...look, view: painted.view }, spots.lanes, dx, dy)
        : -1;
    const band = row < 0 ? tl.bandAt(model, look, spots, dx, dy) : null;
    const lines = row >= 0 ? tl.hint(model, row, short) : band ? tl.bandHint(model, band.kind, band.band, short) : null;
    look.hovered = row;
    parts.hint.hidden = lines === null;
    parts.frame.hidden = row < 0;
    if (lines === null) {
      return -1;
    }
    tl.placeHint(parts, lines, x, y);
    if (row >= 0) {
      tl.placeFrame(parts, tl.barOf(model, painted.view, spots.lanes, row), spots.ratio);
    }
    return row;
  }

  function resetHover() {
    parts.hint.hidden = true;
    parts.frame.hidden = true;
    look.hovered = -1;
  }

  function state() {
    if (!painted) {
      return null;
    }
    show();
    return { ...tl.stateOf(model, look, painted), firstMs };
  }

  rtrace.panel("timeline", {
    title: "Attempts over time",
    section: "timeline",
    wanted: (data) => data.doc.results.timeline.attempts_total > 0 || data.doc.results.timeline.bands.runs.length > 0,
    draw,
    update,
    state,
  });
})();
