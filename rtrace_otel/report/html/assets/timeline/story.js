"use strict";
/** What is known of one attempt: in a line for the pointer, and as a whole story beside the picture. */
(() => {
  const tl = rtrace.timeline;
  const { el, format } = rtrace;
  const { known, count, seconds } = format;
  const MOST = 40;
  const SHORT_S = 600;

  const MEANS = {
    trained: "sealed, and trained",
    sealed: "sealed; its group is neither trained nor discarded so far",
    kept: "a stop took it, and a later run kept its result",
    discarded: "sealed, but its group was discarded",
    abandoned: "ended without a result",
    interrupted: "open when its run stopped",
    resumed: "a stop took it, and a later run went on with part of its work",
    lost: "sealed, but a stop took it and its result has not come back",
    open: "no row has ended it so far",
  };

  const stateOf = (model, row) => model.states[model.state[row]];
  const or = (value) => (value === null || Number.isNaN(value) ? "-" : String(value));

  /** Versions of an attempt: `4`, or `4 to 6 (2 refits)`. */
  function versions(model, row) {
    const seen = [];
    tl.eachSegment(model, row, (_, __, version) => seen.push(version));
    const refits = seen.length - 1;
    if (!refits) {
      return or(seen[0]);
    }
    return `${or(seen[0])} to ${or(seen[refits])} (${refits === 1 ? "1 refit" : `${refits} refits`})`;
  }

  function tokens(model, row) {
    const { tokens: made, tokens_kept: kept } = model.columns;
    return `${count(made[row])}${kept[row] > 0 ? `, ${count(kept[row])} of them kept by a restore` : ""}`;
  }

  /** Lines for the pointer. */
  function hint(model, row, short) {
    const { columns } = model;
    const lines = [
      [stateOf(model, row), columns.reason[row] || ""],
      ["prompt", `${or(tl.promptOf(model, row))}, generation ${or(columns.generation[row])}`],
      ["group", or(tl.groupOf(model, row))],
      ["attempt", columns.id[row] || or(columns.attempt_index[row])],
      ["run", short(tl.runOf(model, row))],
      ["time", `${clockOf(model, model.start[row])}, ${seconds(model.end[row] - model.start[row])}`],
      ["tokens", tokens(model, row)],
      ["version", versions(model, row)],
    ];
    const step = columns.step[row];
    return known(step) ? [...lines, ["step", String(step)]] : lines;
  }

  const clockOf = (model, at) => tl.clock(model.origin + at, model.span < SHORT_S ? 0.001 : 1);

  /** Lines for the pointer on a band. */
  function bandHint(model, kind, band, short) {
    const rows = {
      runs: () => [
        ["ended", band.ended_how],
        ["reason", band.reason],
        ["restored", band.restored_from],
      ],
      stops: () => [
        ["next run", short(band.restored_run)],
        ["took", `${count(band.rollouts)} rollouts, ${count(band.steps_lost)} steps`],
      ],
      steps: () => [
        ["trained version", or(band.trained_version)],
        ["batch age", format.age(band.batch_age)],
        ["groups", count(band.groups)],
        ["tokens", count(band.tokens)],
        ["", band.given_up ? "a later restore went back behind it" : band.finished ? null : "not finished"],
      ],
      refits: () => [
        ["versions", `${or(band.replaced_version)} to ${or(band.new_version)}`],
        ["calls cut", count(band.calls)],
        ["tokens in flight", count(band.tokens_in_flight)],
      ],
      checkpoints: () => [
        ["of step", or(band.step)],
        ["groups", count(band.groups)],
        ["", band.finished ? null : "not published"],
      ],
      restores: () => [
        ["of step", or(band.step)],
        ["from run", band.from_run && short(band.from_run)],
        ["groups", count(band.groups)],
      ],
    };
    const names = { runs: "run", stops: "stop of run", steps: `step ${or(band.step)} of run`, refits: "refit of run" };
    const name = names[kind] || `${kind.slice(0, -1)} ${band.checkpoint_id || ""}, run`;
    const head = [
      [name, short(band.run)],
      ["time", `${clockOf(model, band.start)}, ${seconds(band.end - band.start)}`],
    ];
    return [...head, ...rows[kind]().filter(([, value]) => value !== null && value !== undefined)];
  }

  /** Generation, and how many attempts it had before: `2, attempt number 1`. */
  function numbered(columns, row) {
    const number = columns.attempt_index[row];
    return `${or(columns.generation[row])}${known(number) ? `, attempt number ${number}` : ""}`;
  }

  /** What happened to an attempt, in order: `[seconds since the job began, words]`. */
  function phases(model, row) {
    const { columns, groups } = model;
    const group = model.group[row];
    const found = [[groups.reserved[group], "group reserved"]];
    const level = columns.level[row];
    found.push([model.start[row], level ? `went on after a restore (${level})` : "dispatched"]);
    if (columns.refusals[row] > 0) {
      const times = columns.refusals[row] === 1 ? "once" : `${columns.refusals[row]} times`;
      found.push([NaN, `refused ${times}, waited ${seconds(columns.refused_s[row])} to be dispatched again`]);
    }
    tl.eachSegment(model, row, (from, _, version) => {
      if (from > model.start[row]) {
        found.push([from, `refit to version ${or(version)}`]);
      }
    });
    const outcome = model.found.outcomes[columns.outcome[row]];
    found.push([model.end[row], ending(outcome, columns.reason[row])]);
    if (outcome === "sealed") {
      found.push([groups.published[group], "group published"]);
    }
    const step = columns.step[row];
    const band = model.bands.steps.filter((item) => item.step === step && item.end >= model.end[row])[0];
    if (known(step)) {
      found.push([band ? band.end : NaN, `trained by step ${step}`]);
    }
    return found.filter(([at, words]) => known(at) || words.startsWith("refused") || words.startsWith("trained"));
  }

  function ending(outcome, reason) {
    if (outcome === "abandoned") {
      return `abandoned: ${reason || "no reason given"}`;
    }
    return { open: "still open at the last row", interrupted: "its run was killed" }[outcome] || outcome;
  }

  function others(model, title, rows, selected, choose) {
    const shown = rows.slice(0, MOST);
    const items = shown.map((row) => {
      const state = stateOf(model, row);
      const text = `${or(model.columns.generation[row])} · ${clockOf(model, model.start[row])} · ${seconds(model.end[row] - model.start[row])}`;
      const attributes = {
        type: "button",
        class: "tl-other",
        "aria-current": row === selected ? "true" : null,
        onclick: () => choose(row),
      };
      return el(
        "li",
        {},
        el(
          "button",
          attributes,
          el("span", { class: `swatch tl-${state}` }),
          text,
          el("span", { class: "tl-state" }, state),
        ),
      );
    });
    const left = rows.length - shown.length;
    return el(
      "div",
      {},
      el("h4", {}, title),
      el("ul", { class: "tl-others" }, ...items),
      left ? el("p", { class: "caption" }, `${count(left)} more`) : null,
    );
  }

  /**
   * The whole story of an attempt.
   * @param {{choose: function, zoom: function, filter: function, close: function}} does what its buttons do
   */
  function story(model, row, short, does) {
    const { columns, found } = model;
    const state = stateOf(model, row);
    const prompt = tl.promptOf(model, row);
    const group = tl.groupOf(model, row);
    const siblings = tl.siblings(model, row);
    const facts = [
      ["Attempt", columns.id[row] || (found.ids_cut ? "its id is not in a page of this many" : "-")],
      ["Group", or(group)],
      ["Prompt", or(prompt)],
      ["Generation", numbered(columns, row)],
      ["Run", short(tl.runOf(model, row))],
      ["Server", columns.instance[row]],
      ["Ran", `${seconds(model.end[row] - model.start[row])}`],
      ["Tokens", tokens(model, row)],
      ["Version", versions(model, row)],
      ["Reward", known(columns.reward[row]) ? String(Number(columns.reward[row].toFixed(4))) : null],
      ["After the stop", model.fate[row] < 0 ? null : found.fates[model.fate[row]].replaceAll("_", " ")],
    ].filter(([, value]) => value !== null);
    const button = (text, act) => el("button", { type: "button", class: "quiet", onclick: act }, text);
    return [
      el(
        "div",
        { class: "tl-story-head" },
        el("span", { class: `swatch tl-${state}` }),
        el("strong", {}, state),
        el("button", { type: "button", class: "tl-close", "aria-label": "Close", onclick: does.close }, "\u00d7"),
      ),
      el("p", { class: "caption" }, MEANS[state]),
      el(
        "div",
        { class: "facts" },
        el("dl", {}, ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      ),
      el("h4", {}, "What happened"),
      el(
        "ol",
        { class: "tl-phases" },
        ...phases(model, row).map(([at, words]) =>
          el("li", {}, el("span", { class: "tl-when" }, known(at) ? clockOf(model, at) : ""), el("span", {}, words)),
        ),
      ),
      others(model, "Its group, all runs", siblings, row, does.choose),
      others(model, "Same prompt and generation, all runs", tl.history(model, row), row, does.choose),
      el(
        "p",
        { class: "tl-acts" },
        button("zoom to it", () => does.zoom([row])),
        button("zoom to its group", () => does.zoom(siblings)),
        prompt === null ? null : button("only this prompt", () => does.filter(tl.filterWord("prompt", prompt))),
        group === null ? null : button("only this group", () => does.filter(tl.filterWord("group", group))),
      ),
    ];
  }

  /** The attempts of a view as a table, the first ones. */
  function table(model, rows, of, short) {
    const { columns } = model;
    const all = {
      start: rows.map((row) => model.origin + model.start[row]),
      seconds: rows.map((row) => model.end[row] - model.start[row]),
      outcome: rows.map((row) => stateOf(model, row)),
      reason: rows.map((row) => columns.reason[row]),
      prompt: rows.map((row) => tl.promptOf(model, row)),
      generation: rows.map((row) => nullable(columns.generation[row])),
      group: rows.map((row) => tl.groupOf(model, row)),
      attempt: rows.map((row) => columns.id[row]),
      run: rows.map((row) => tl.runOf(model, row)),
      tokens: rows.map((row) => nullable(columns.tokens[row])),
      version: rows.map((row) => nullable(columns.version[row])),
      step: rows.map((row) => nullable(columns.step[row])),
    };
    const right = ["seconds", "generation", "tokens", "version", "step"];
    const shown = { start: format.moment, seconds, tokens: count, run: (value) => short(value) };
    const names = Object.keys(all);
    return rtrace.table({
      title: "Attempts in view",
      columns: names.map((key) => ({ key, title: key, align: right.includes(key) ? "right" : "left" })),
      rows: rows.map((_, place) => names.map((name) => (shown[name] || or)(all[name][place]))),
      values: all,
      of,
    });
  }

  const nullable = (value) => (Number.isNaN(value) ? null : value);

  Object.assign(rtrace.timeline, { MEANS, hint, bandHint, story, attemptTable: table });
})();
