"use strict";
/** The job over time: what is open and waiting, how fast tokens are made and trained, who waits for whom. */
(() => {
  const { el } = rtrace;
  const { short, seconds, roundSeconds, known, count, moment } = rtrace.format;

  const TIMES = [0.001, 0.01, 0.1].flatMap((part) => [part, 2 * part, 5 * part])
    .concat([1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800, 2592000, 31536000]);
  const MANY = 500;
  const WINDOW = 60;

  /** Means over a window around each point, for charts in which single points hide the course. */
  function smoothed(values) {
    const half = Math.ceil(values.length / WINDOW / 2);
    const sums = new Float64Array(values.length + 1);
    values.forEach((value, place) => {
      sums[place + 1] = sums[place] + value;
    });
    return Float64Array.from(values, (_, place) => {
      const [from, to] = [Math.max(place - half, 0), Math.min(place + half + 1, values.length)];
      return (sums[to] - sums[from]) / (to - from);
    });
  }

  /** A rate; with many points its course in full colour over the points themselves, paler. */
  function rate(label, values, color) {
    if (values.length < MANY) {
      return [{ label, values, color, width: 1.6 }];
    }
    return [{ label: `${label}, each point`, values, color, width: 1, pale: true }, { label: `${label}, smoothed`, values: smoothed(values), color, width: 2.2 }];
  }

  rtrace.panel("flow", {
    title: "",
    section: "flow",
    draw(host, data) {
      host.append(...rtrace.blocks(data.doc.texts.flow));
    },
    state: () => rtrace.data.doc.texts.flow,
  });

  /** What every chart over time shares: seconds since the first point, waits and stops as bands. */
  function overTime(data) {
    const { flow, waits } = data.tables;
    const begin = flow.t[0] || 0;
    const bands = Array.from({ length: waits.rows }, (_, place) => ({
      from: waits.start[place] - begin,
      to: waits.end[place] - begin,
      color: waits.kind[place] === 0 ? "yellow" : "sky",
    }));
    data.doc.flow.stops.forEach(([from, to]) => bands.push({ from: from - begin, to: to - begin, color: "gray" }));
    const x = {
      label: "time since the start",
      values: Float64Array.from(flow.t, (t) => t - begin),
      show: (value) => (known(value) ? `${seconds(Math.max(value, 0))} (${moment(begin + value).slice(11)} UTC)` : ""),
      tick: roundSeconds,
      increments: TIMES,
      space: 90,
    };
    return { x, bands, sync: "time" };
  }

  function keys(data) {
    const kinds = new Set(data.tables.waits.kind);
    const entries = [
      kinds.has(0) ? ["yellow", "trainer waits for groups"] : null,
      kinds.has(1) ? ["sky", "rollouts are ahead, groups wait"] : null,
      data.doc.flow.stops.length > 0 ? ["gray", "stopped"] : null,
    ];
    return rtrace.legend(entries.filter(Boolean));
  }

  function notes(data) {
    const { width, waits, marked } = data.doc.flow;
    const more = waits === marked ? "" : ` The ${count(marked)} longest of ${count(waits)} waits are marked.`;
    const smooth = data.tables.flow.rows < MANY ? "" : ` Smoothed: over ${seconds(2 * Math.ceil(data.tables.flow.rows / WINDOW / 2) * width)}.`;
    return el("p", { class: "caption" }, `Each point is the mean over ${seconds(width)}.${more}${smooth}`);
  }

  /** A panel with one chart over time of the table `flow`; `series` gives its lines from that table. */
  function panel(id, { title, columns, label, y, series, under }) {
    rtrace.panel(id, {
      title,
      section: "flow",
      half: true,
      wanted: (data) => data.tables.flow.rows > 1,
      draw(host, data) {
        host.append(keys(data));
        rtrace.lines(host, { ...overTime(data), label, y: { tick: short, least: 1, ...y }, series: series(data.tables.flow) });
        host.append(...(under ? [under(data)] : []));
      },
      state: () => rtrace.plain(rtrace.data.tables.flow, ["t", ...columns]),
    });
  }

  panel("open", {
    title: "Open attempts, groups in work, groups waiting",
    columns: ["open_attempts", "reserved_groups", "queued_groups"],
    label: "Open attempts, groups reserved and not yet published, and groups published that wait for a step, over time.",
    y: { label: "how many", show: (value) => (known(value) ? String(Number(value.toFixed(1))) : "-") },
    series: (flow) => [
      { label: "open attempts", values: flow.open_attempts, color: "blue", width: 1.6 },
      { label: "reserved groups", values: flow.reserved_groups, color: "pink", width: 1.4, dash: [6, 3] },
      { label: "published groups waiting", values: flow.queued_groups, color: "green", width: 1.6 },
    ],
    under: notes,
  });

  panel("rates", {
    title: "Tokens generated and trained",
    columns: ["generated_tokens_per_s", "trained_tokens_per_s"],
    label: "Tokens generated and tokens trained per second over time; each attempt's tokens are spread evenly over its time.",
    y: { label: "tokens per second", show: (value) => (known(value) ? count(value) : "-") },
    series: (flow) => [
      ...rate("trained", flow.trained_tokens_per_s, "orange"),
      ...rate("generated", flow.generated_tokens_per_s, "blue"),
    ],
  });
})();
