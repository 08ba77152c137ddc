"use strict";
/** What the timeline says beside its picture: counts, controls, the story of an attempt, the attempts in view as a table. */
(() => {
  const tl = rtrace.timeline;
  const { el, format } = rtrace;
  const FIRST = 200;

  /** Notes, counts, the filter and the buttons, and what the picture is called; `hide` takes another set of hidden states. */
  function tellView(model, look, parts, painted, hide) {
    parts.notes.replaceChildren(...tl.notes(model.found).map((text) => el("p", { class: "finding" }, text)));
    if (document.activeElement !== parts.input) {
      parts.input.value = look.query;
    }
    parts.input.setAttribute("aria-invalid", String(look.problem !== null));
    const all = format.count(model.rows);
    const matching =
      look.query || look.hidden.size ? `${format.count(look.matching)} of ${all} attempts match` : `${all} attempts`;
    parts.count.textContent =
      look.problem || `${matching}, ${format.count(painted ? painted.inView : model.rows)} in view`;
    parts.colors.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.color === look.color)));
    const moment = (at) => tl.clock(model.origin + at, 1);
    const label = `Timeline of ${all} attempts in ${format.count(model.found.lanes)} lanes, ${moment(look.view.from)} to ${moment(look.view.to)} UTC`;
    parts.lanes.setAttribute("aria-label", label);
    parts.lanes.classList.toggle("tl-grab", !tl.isWhole(model, look.view));
    tl.legend(parts.legend, model, look, hide);
  }

  /** The story of the attempt that is selected, if one is; focus and reading place stay in it. */
  function tellStory(model, look, parts, short, does) {
    const { story } = parts;
    story.hidden = look.selected < 0;
    const kept = document.activeElement && story.contains(document.activeElement);
    const top = story.scrollTop;
    story.replaceChildren(...(look.selected < 0 ? [] : tl.story(model, look.selected, short, does)));
    story.scrollTop = top;
    if (kept) {
      (story.hidden ? parts.lanes : story).focus();
    }
  }

  /** The first attempts in view as a table, if it is open. */
  function tabulate(model, look, parts, short) {
    if (parts.details.open) {
      const { rows, all } = tl.inView(model, look, FIRST);
      parts.table.replaceChildren(tl.attemptTable(model, rows, all, short));
    } else {
      parts.table.replaceChildren();
    }
  }

  /** What is drawn, as plain values. */
  function stateOf(model, look, painted) {
    const { view, color, query, matching, selected } = look;
    const { drawn, inView: seen, bands, refitLines, ms } = painted;
    const { lanes, ratio } = painted.spots;
    const counts = model.byState.map((rows, place) => [model.states[place], rows.length]);
    return {
      ...view,
      color,
      query,
      matching,
      drawn,
      bands,
      refitLines,
      ms,
      inView: seen,
      shownLanes: painted.view.bottom - painted.view.top,
      rows: model.rows,
      lanes: model.found.lanes,
      total: model.found.attempts_total,
      span: model.span,
      problem: look.problem,
      hidden: [...look.hidden],
      byState: Object.fromEntries(counts),
      selected: look.selectedKey,
      selectedRow: selected,
      hovered: look.hovered === undefined ? -1 : look.hovered,
      box: { x: lanes.x / ratio, y: lanes.y / ratio, width: lanes.width / ratio, height: lanes.height / ratio },
      strips: painted.spots.strips.map(({ name, y, height }) => ({ name, y: y / ratio, height: height / ratio })),
      wholeView: tl.isWhole(model, view),
    };
  }

  Object.assign(rtrace.timeline, { tellView, tellStory, tabulate, stateOf });
})();
