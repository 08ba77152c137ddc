"use strict";
/** The panel of the timeline: puts model, filter, view, painting and story together. */
(() => {
  const tl = rtrace.timeline;
  const { el, format } = rtrace;
  const FIRST = 200;
  const KEYS =
    "Click the picture, then: wheel, + and - zoom; drag and arrows move; Shift with drag, or a drag over the strips, zooms to a range; " +
    "Shift with wheel or arrows up and down: lanes; n and p: next and previous attempt; Enter selects; Escape closes; 0 shows all.";

  /** What is looked at; it stays when a page that follows a file draws again. */
  const look = {
    view: null, query: "", hidden: new Set(), color: "outcome", selected: -1, selectedKey: null, siblings: [], mask: null, matching: 0, problem: null,
  };
  let model = null;
  let parts = null;
  let painted = null;
  let atWhole = true;
  let frame = 0;
  let told = null;

  function draw(host, data) {
    model = tl.build(data);
    const runs = new Map(data.head.runs.map(({ run, short }) => [run, short]));
    const short = (run) => runs.get(run) || run || "-";
    parts = build(short);
    host.append(...parts.all);
    const linked = tl.fromHash(model, location.hash);
    if (linked && !look.view) {
      take(linked);
      document.getElementById("panel-timeline").scrollIntoView();
    } else {
      look.view = atWhole || !look.view ? tl.whole(model) : tl.within(model, look.view);
      mark(look.selectedKey === null ? -1 : tl.rowOfKey(model, look.selectedKey));
    }
    told = null;
    refilter();
    paint();
    tell();
    rtrace.onPaint(parts.lanes, paint);
    tl.listen(parts, () => model, look, { change, select, paint, hover, resetHover, step, selectNear, spots: () => painted.spots, shown: () => painted.view });
  }

  function build(short) {
    const input = el("input", {
      type: "search", placeholder: "filter: prompt:17  step:3-9  reason:timeout  run:a1", "aria-label": "Filter attempts", spellcheck: "false",
      autocomplete: "off", title: `Keys: ${tl.KEYS.join(", ")}`, oninput: () => typed(), onchange: () => remember(true),
    });
    const button = (text, label, act) => el("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    const colors = ["outcome", "version"].map((name) =>
      el("button", { type: "button", "data-color": name, onclick: () => change({ color: name }, true) }, name === "version" ? "weight version" : name),
    );
    const lanes = el("canvas", { class: "tl-lanes", tabindex: "0", role: "application", "aria-roledescription": "timeline", "aria-describedby": "tl-keys" });
    const whole = el("canvas", { class: "tl-whole", "aria-hidden": "true" });
    const found = {
      short, input, lanes, whole, colors,
      count: el("span", { class: "tl-count", role: "status" }),
      legend: el("div", { class: "tl-legend", role: "group", "aria-label": "Outcomes" }),
      hint: el("div", { class: "tl-hint", hidden: true }),
      range: el("div", { class: "tl-range", hidden: true }),
      story: el("aside", { class: "tl-story", tabindex: "-1", "aria-label": "Selected attempt", hidden: true }),
      table: el("div"),
    };
    const details = el("details", { ontoggle: () => tabulate() }, el("summary", {}, "Attempts in view as a table"), found.table);
    const zooms = el("span", { class: "tl-group", role: "group", "aria-label": "Zoom" },
      button("\u2212", "Zoom out", () => zoomBy(0.5)), button("+", "Zoom in", () => zoomBy(2)), button("whole job", "Show the whole job", () => change({ view: tl.whole(model) }, true)),
    );
    const bar = el("div", { class: "tl-bar" }, input, found.count, el("span", { class: "tl-group", role: "group", "aria-label": "Colour by" }, ...colors), zooms);
    const picture = el("div", { class: "tl-picture" }, whole, lanes, found.range, found.hint, el("p", { class: "tl-keys", id: "tl-keys" }, KEYS));
    found.body = el("div", { class: "tl-body" }, picture, found.story);
    found.details = details;
    found.all = [...notes().map((text) => el("p", { class: "finding" }, text)), bar, found.legend, found.body, details];
    return found;
  }

  /** What the picture leaves out, in words. */
  function notes() {
    const { found } = model;
    const texts = [];
    if (found.attempts_shown < found.attempts_matching) {
      texts.push(
        `The picture holds ${format.count(found.attempts_shown)} of ${format.count(found.attempts_total)} attempts: the longest ones, those without a result, and a sample of the others. Numbers come from all.`,
      );
    }
    if (found.attempts_untimed) {
      texts.push(`${format.count(found.attempts_untimed)} attempts have no time in the file and are in no picture.`);
    }
    return texts;
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

  let remembering = 0;

  /** Puts what is looked at into the address: as a step back for what was decided, in place for what only moved. */
  function remember(keep) {
    clearTimeout(remembering);
    const write = () => {
      const hash = tl.toHash(model, look);
      if (hash !== location.hash) {
        history[keep ? "pushState" : "replaceState"](null, "", hash);
      }
    };
    if (keep) {
      write();
    } else {
      remembering = setTimeout(write, 250);
    }
  }

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
    if (row >= 0 && (model.end[row] < look.view.from || model.start[row] > look.view.to || model.lane[row] < look.view.top || model.lane[row] >= look.view.bottom)) {
      showRows([row]);
    }
    change({}, keep);
  }

  /** Moves the view so that rows are in its middle, with some room around them. */
  function showRows(rows) {
    const from = Math.min(...rows.map((row) => model.start[row]));
    const to = Math.max(...rows.map((row) => model.end[row]));
    const room = Math.max((to - from) * 0.6, 0.5);
    look.view = tl.within(model, { ...look.view, from: from - room, to: to + room, top: 0, bottom: model.lanes });
  }

  /** Attempts of the view that match, in order of their start. */
  function inView(most = Infinity) {
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

  function step(by) {
    const { rows } = inView();
    const place = rows.indexOf(look.selected);
    const next = place < 0 ? (by > 0 ? 0 : rows.length - 1) : place + by;
    if (rows[next] !== undefined) {
      select(rows[next]);
    }
  }

  /** Selects the attempt nearest to the middle of the view, or goes into the story of the one that is selected. */
  function selectNear() {
    if (look.selected < 0) {
      const middle = (look.view.from + look.view.to) / 2;
      const distance = (row) => Math.max(model.start[row] - middle, middle - model.end[row], 0);
      const { rows } = inView();
      if (rows.length) {
        select(rows.reduce((best, row) => (distance(row) < distance(best) ? row : best)));
      }
    } else {
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
    const refitLines = tl.lines(context, model, shown, spots, colors);
    const bands = tl.strips(context, model, shown, spots, colors, parts.short);
    tl.outlines(context, model, shown, spots.lanes, colors, ratio);
    tl.frame(context, model, shown, spots, colors);
    tl.paintWhole(parts.whole, model, look, colors, ratio);
    painted = { ...counts, refitLines, bands, spots, view, ms: performance.now() - began };
  }

  /** Says in words and controls what is looked at. */
  function tell() {
    const { found } = model;
    if (document.activeElement !== parts.input) {
      parts.input.value = look.query;
    }
    parts.input.setAttribute("aria-invalid", String(look.problem !== null));
    const all = format.count(model.rows);
    const matching = look.query || look.hidden.size ? `${format.count(look.matching)} of ${all} attempts match` : `${all} attempts`;
    parts.count.textContent = look.problem || `${matching}, ${format.count(painted ? painted.inView : model.rows)} in view`;
    parts.colors.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.color === look.color)));
    const moment = (at) => tl.clock(model.origin + at, 1);
    const label = `Timeline of ${all} attempts in ${format.count(found.lanes)} lanes, ${moment(look.view.from)} to ${moment(look.view.to)} UTC`;
    parts.lanes.setAttribute("aria-label", label);
    parts.lanes.classList.toggle("tl-grab", !tl.isWhole(model, look.view));
    tl.legend(parts.legend, model, look, (hidden) => change({ hidden }, true));
    tellStory();
    tabulate();
  }

  function tellStory() {
    const { story } = parts;
    if (told === look.selected) {
      return;
    }
    told = look.selected;
    story.hidden = look.selected < 0;
    const kept = document.activeElement && story.contains(document.activeElement);
    story.replaceChildren(
      ...(look.selected < 0 ? [] : tl.story(model, look.selected, parts.short, {
        choose: (row) => select(row),
        zoom: (rows) => {
          showRows(rows);
          change({}, true);
        },
        filter: (query) => change({ query }, true),
        close: () => {
          select(-1);
          parts.lanes.focus();
        },
      })),
    );
    if (kept) {
      (story.hidden ? parts.lanes : story).focus();
    }
  }

  function tabulate() {
    if (parts.details.open) {
      const { rows, all } = inView(FIRST);
      parts.table.replaceChildren(tl.attemptTable(model, rows, all, parts.short));
    } else {
      parts.table.replaceChildren();
    }
  }

  /** Shows what is under the pointer; x and y in CSS pixels of the canvas. */
  function hover(x, y) {
    show();
    const { spots } = painted;
    const [dx, dy] = [x * spots.ratio, y * spots.ratio];
    const row = dy >= spots.lanes.y && dy < spots.axis.y && dx >= spots.lanes.x ? tl.hit(model, { ...look, view: painted.view }, spots.lanes, dx, dy) : -1;
    const band = row < 0 ? tl.bandAt(model, look, spots, dx, dy) : null;
    const lines = row >= 0 ? tl.hint(model, row, parts.short) : band ? tl.bandHint(model, band.kind, band.band, parts.short) : null;
    look.hovered = row;
    parts.hint.hidden = lines === null;
    if (lines === null) {
      return -1;
    }
    parts.hint.replaceChildren(el("dl", {}, ...lines.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
    const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = parts.lanes;
    const size = parts.hint.getBoundingClientRect();
    const left = x + 16 + size.width > offsetWidth ? x - size.width - 12 : x + 16;
    parts.hint.style.left = `${offsetLeft + Math.max(left, 0)}px`;
    parts.hint.style.top = `${offsetTop + Math.min(Math.max(y - 20, 0), Math.max(offsetHeight - size.height, 0))}px`;
    return row;
  }

  function resetHover() {
    parts.hint.hidden = true;
    look.hovered = -1;
  }

  function state() {
    if (!painted) {
      return null;
    }
    show();
    const { view, color, query, matching, selected } = look;
    const { drawn, inView: seen, bands, refitLines, ms } = painted;
    const { lanes, ratio } = painted.spots;
    const counts = model.byState.map((rows, place) => [model.states[place], rows.length]);
    return {
      ...view, color, query, matching, drawn, bands, refitLines, ms, inView: seen, shownLanes: painted.view.bottom - painted.view.top, rows: model.rows, lanes: model.found.lanes,
      total: model.found.attempts_total, span: model.span, problem: look.problem, hidden: [...look.hidden], byState: Object.fromEntries(counts),
      selected: look.selectedKey, selectedRow: selected, hovered: look.hovered === undefined ? -1 : look.hovered,
      box: { x: lanes.x / ratio, y: lanes.y / ratio, width: lanes.width / ratio, height: lanes.height / ratio },
      strips: painted.spots.strips.map(({ name, y, height }) => ({ name, y: y / ratio, height: height / ratio })),
      wholeView: tl.isWhole(model, view),
    };
  }

  rtrace.panel("timeline", {
    title: "Attempts over time",
    section: "timeline",
    wanted: (data) => data.doc.results.timeline.attempts_shown > 0 || data.doc.results.timeline.bands.runs.length > 0,
    draw,
    state,
  });
})();
