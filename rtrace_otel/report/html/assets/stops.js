"use strict";
/** What each stop cost: the way back to work as a waterfall, and what became of every rollout. */
(() => {
  const { el } = rtrace;
  const { count, seconds, moment } = rtrace.format;
  const SHOWN = 10;
  const FATES = [
    ["reused", "reused", "green"],
    ["resumed", "resumed", "sky"],
    ["redone", "redone", "yellow"],
    ["trained_again", "trained again", "orange"],
    ["discarded", "discarded", "gray"],
    ["never_came_back", "never came back", "pink"],
    ["unknown", "unknown", "faint"],
  ];

  /** The moments of a stop in seconds after its last sign of life; those that no row tells are left out. */
  function moments(stop) {
    const alive = Math.max(stop.dead_s ?? 0, 0);
    const after = (value) => (value === null ? null : alive + value);
    const all = [
      ["nothing ran", 0, stop.dead_s === null ? null : alive, "gray"],
      ["restore", alive, after(stop.restore_s), "pink"],
      ["to the first dispatch", alive, after(stop.first_dispatch_s), "sky"],
      ["to the first sealed attempt", alive, after(stop.first_seal_s), "blue"],
      ["to the first step", alive, after(stop.first_train_step_s), "green"],
      ["to 90 % of the pace before", alive, after(stop.throughput_back_s), "yellow"],
    ];
    return all.map(([name, from, to, color]) => ({ name, from, to, color }));
  }

  function waterfall(stop) {
    const steps = moments(stop);
    const end = Math.max(...steps.map((step) => step.to ?? 0), 1e-9);
    const rows = steps.flatMap((step) => {
      const bar = el("div", { class: "bar" });
      if (step.to !== null) {
        const paint = () => {
          bar.style.background = rtrace.color(step.color);
        };
        bar.style.marginLeft = `${(100 * step.from) / end}%`;
        bar.style.width = `${(100 * (step.to - step.from)) / end}%`;
        paint();
        rtrace.onPaint(bar, paint);
      }
      const took = step.to === null ? "not in the file" : seconds(step.to - step.from);
      return [el("dt", {}, step.name), el("dd", { class: "track" }, bar), el("dd", { class: "took" }, took)];
    });
    return el("dl", { class: "waterfall", "aria-label": "From the last sign of life back to work" }, ...rows);
  }

  function fates(stop, kind) {
    const total = FATES.reduce((sum, [name]) => sum + stop.fates[name][kind], 0);
    const parts = FATES.filter(([name]) => stop.fates[name][kind] > 0).map(([name, words, color]) => {
      const value = stop.fates[name][kind];
      const part = el("div", { class: "part", title: `${words}: ${count(value)} ${kind}` });
      part.style.width = `${(100 * value) / total}%`;
      const paint = () => {
        part.style.background = rtrace.color(color);
      };
      paint();
      rtrace.onPaint(part, paint);
      return part;
    });
    const words = FATES.filter(([name]) => stop.fates[name][kind] > 0).map(([name, text]) => `${text} ${count(stop.fates[name][kind])}`);
    const label = `${kind}: ${words.join(", ") || "none"}`;
    return el("div", { class: "fate" }, el("span", {}, kind), el("div", { class: "stack", role: "img", "aria-label": label }, ...parts), el("span", {}, count(total)));
  }

  function card(data, stop, place) {
    const short = (run) => (data.head.runs.find((one) => one.run === run) || { short: run }).short;
    const heading = `Stop ${place + 1}: ${short(stop.run)} to ${short(stop.restored_run)}`;
    const when = stop.killed_at === null ? "" : `last sign of life ${moment(stop.killed_at)} UTC`;
    const used = FATES.filter(([name]) => stop.fates[name].rollouts > 0).map(([, words, color]) => [color, words]);
    return el(
      "div",
      { class: "stop" },
      el("h3", {}, heading, el("span", { class: "about" }, ` ${when}`)),
      ...data.doc.stop_sentences[place].map((text) => el("p", { class: "finding" }, text)),
      el(
        "div",
        { class: "row" },
        el("div", { class: "grow" }, waterfall(stop), ...rtrace.blocks(data.doc.texts.stop_facts.slice(place, place + 1))),
        el("div", { class: "grow" }, rtrace.legend(used), fates(stop, "rollouts"), fates(stop, "tokens"), ...rtrace.blocks(data.doc.texts.fates.slice(place, place + 1))),
      ),
    );
  }

  rtrace.panel("stops", {
    title: "",
    section: "stops",
    draw(host, data) {
      const stops = data.doc.results.restore.stops;
      if (stops.length === 0) {
        host.append(el("p", {}, data.doc.results.restore.verdict));
      }
      const cards = (from, to) => stops.slice(from, to).map((stop, place) => card(data, stop, from + place));
      host.append(...cards(0, SHOWN));
      if (stops.length > SHOWN) {
        const more = el("button", { type: "button", class: "quiet" }, `show the other ${count(stops.length - SHOWN)} stops`);
        more.addEventListener("click", () => more.replaceWith(...cards(SHOWN, stops.length)));
        host.append(more);
      }
      host.append(...rtrace.blocks(data.doc.texts.stops, 3));
    },
    state: () => rtrace.data.doc.results.restore.stops.map((stop) => ({ moments: moments(stop), fates: stop.fates, lost: stop.lost })),
  });
})();
