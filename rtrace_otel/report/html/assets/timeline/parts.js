"use strict";
/** The elements of the panel of the timeline, and what it says beside the picture. */
(() => {
  const tl = rtrace.timeline;
  const { el, format } = rtrace;
  const KEYS =
    "Click the picture, then: wheel, + and - zoom; drag and arrows move; Shift with drag, or a drag over the strips, " +
    "zooms to a range; Shift with wheel or arrows up and down: lanes; n and p: next and previous attempt; " +
    "Enter selects; Escape closes; 0 shows all.";

  /**
   * The elements of the panel.
   * @param {{typed: function, remember: function, color: function, zoom: function, all: function, tabulate: function}} does
   */
  function parts(does) {
    const input = el("input", {
      type: "search",
      placeholder: "filter: prompt:17  step:3-9  reason:timeout  run:a1",
      "aria-label": "Filter attempts",
      spellcheck: "false",
      autocomplete: "off",
      title: `Keys: ${tl.KEYS.join(", ")}`,
      oninput: does.typed,
      onchange: does.remember,
    });
    const button = (text, label, act) =>
      el("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    const colors = ["outcome", "version"].map((name) =>
      el(
        "button",
        { type: "button", "data-color": name, onclick: () => does.color(name) },
        name === "version" ? "weight version" : name,
      ),
    );
    const lanes = el("canvas", {
      class: "tl-lanes",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "timeline",
      "aria-describedby": "tl-keys",
    });
    const whole = el("canvas", { class: "tl-whole", "aria-hidden": "true" });
    const found = {
      input,
      lanes,
      whole,
      colors,
      count: el("span", { class: "tl-count", role: "status" }),
      legend: el("div", { class: "tl-legend", role: "group", "aria-label": "Outcomes" }),
      hint: el("div", { class: "tl-hint", hidden: true }),
      range: el("div", { class: "tl-range", hidden: true }),
      frame: el("div", { class: "tl-frame", hidden: true }),
      story: el("aside", { class: "tl-story", tabindex: "-1", "aria-label": "Selected attempt", hidden: true }),
      table: el("div"),
    };
    const details = el(
      "details",
      { ontoggle: does.tabulate },
      el("summary", {}, "Attempts in view as a table"),
      found.table,
    );
    const zooms = el(
      "span",
      { class: "tl-group", role: "group", "aria-label": "Zoom" },
      button("\u2212", "Zoom out", () => does.zoom(0.5)),
      button("+", "Zoom in", () => does.zoom(2)),
      button("whole job", "Show the whole job", does.all),
    );
    const bar = el(
      "div",
      { class: "tl-bar" },
      input,
      found.count,
      el("span", { class: "tl-group", role: "group", "aria-label": "Colour by" }, ...colors),
      zooms,
    );
    const picture = el(
      "div",
      { class: "tl-picture" },
      whole,
      lanes,
      found.range,
      found.frame,
      found.hint,
      el("p", { class: "tl-keys", id: "tl-keys" }, KEYS),
    );
    found.body = el("div", { class: "tl-body" }, picture, found.story);
    found.details = details;
    found.notes = el("div");
    found.all = [found.notes, bar, found.legend, found.body, details];
    return found;
  }

  /** What the picture leaves out, in words. */
  function notes(found) {
    const texts = [];
    const timed = found.attempts_total - found.attempts_untimed;
    if (found.attempts_matching < timed) {
      texts.push(
        `This page was asked for a part of the timeline: ${format.count(found.attempts_matching)} of ${format.count(timed)} attempts.`,
      );
    }
    if (found.attempts_shown < found.attempts_matching) {
      texts.push(
        `The picture holds ${format.count(found.attempts_shown)} of ${format.count(found.attempts_matching)} attempts: the longest ones, those without a result, and a sample of the others. Numbers come from all.`,
      );
    }
    if (found.attempts_untimed) {
      texts.push(`${format.count(found.attempts_untimed)} attempts have no time in the file and are in no picture.`);
    }
    if (found.rows_doubted) {
      texts.push(
        `${found.rows_doubted === 1 ? "1 row has" : `${format.count(found.rows_doubted)} rows have`} a time that is a week or more away from the other rows of the run; the picture leaves that out.`,
      );
    }
    return texts;
  }

  /** Shows lines of `[name, value]` beside the pointer, which is at a place of the canvas in CSS pixels. */
  function placeHint(found, lines, x, y) {
    const { hint, lanes } = found;
    const pairs = lines.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
    hint.replaceChildren(el("dl", {}, ...pairs));
    const size = hint.getBoundingClientRect();
    const left = x + 16 + size.width > lanes.offsetWidth ? x - size.width - 12 : x + 16;
    const top = Math.min(Math.max(y - 20, 0), Math.max(lanes.offsetHeight - size.height, 0));
    hint.style.left = `${lanes.offsetLeft + Math.max(left, 0)}px`;
    hint.style.top = `${lanes.offsetTop + top}px`;
  }

  /** Puts the frame around a bar, which is at `[x, y, width, height]` in device pixels of the canvas. */
  function placeFrame(found, bar, ratio) {
    const [x, y, width, height] = bar.map((value) => value / ratio);
    const { style } = found.frame;
    style.left = `${found.lanes.offsetLeft + x}px`;
    style.top = `${found.lanes.offsetTop + y}px`;
    style.width = `${Math.max(width, 1)}px`;
    style.height = `${Math.max(height, 1)}px`;
  }

  Object.assign(rtrace.timeline, { parts, notes, placeHint, placeFrame });
})();
