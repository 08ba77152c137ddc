"use strict";
/** Staleness: batch age of each step, how token ages spread, where the age comes from. */
(() => {
  const { el } = rtrace;
  const { age, count, percent, known } = rtrace.format;
  const PARTS = [
    ["in_call", "in the call", "blue"],
    ["in_group", "in the group", "sky"],
    ["in_queue", "in the queue", "yellow"],
    ["train_lag", "train lag", "pink"],
  ];
  const ROWS = 48;
  const some = (data) => data.tables.ages.rows > 0;

  function stepName(table, place) {
    const [first, last] = [table.step[place], table.last[place]];
    return first === last || Number.isNaN(last) ? String(first) : `${first}-${last}`;
  }

  function thinned(data) {
    const { steps, points } = data.doc.staleness;
    return steps === points
      ? null
      : el("p", { class: "caption" }, `${count(steps)} steps in ${count(points)} points: each stands for about ${Math.round(steps / points)} steps, weighted by tokens; maxima are those of all.`);
  }

  rtrace.panel("age", {
    title: "Batch age per step",
    section: "staleness",
    wanted: some,
    draw(host, data) {
      const table = data.tables.ages;
      host.append(...rtrace.blocks(data.doc.texts.staleness.filter((block) => block.type === "sentence").slice(0, 6)));
      rtrace.lines(host, {
        label: "Batch age per training step, with the median, 95th percentile and maximum of the token ages.",
        sync: "steps",
        x: { label: "step", values: table.step, show: (value) => count(value), whole: true },
        y: { label: "age (versions)", show: (value) => (known(value) ? String(Number(value.toFixed(3))) : "-"), least: 1 },
        series: [
          { label: "p95", values: table.p95, color: "sky", width: 1.2 },
          { label: "max", values: table.max, color: "gray", width: 1.2, dash: [2, 3] },
          { label: "p50", values: table.p50, color: "green", width: 1.2, dash: [6, 3] },
          { label: "batch age", values: table.age, color: "blue", width: 2.2, points: table.rows <= 60 },
        ],
      });
      host.append(...[thinned(data), el("p", { class: "caption hint" }, rtrace.HINT)].filter(Boolean));
    },
    state: () => plain(rtrace.data.tables.ages, ["step", "age", "p50", "p95", "max", "tokens"]),
  });

  /** Columns as arrays in which unknown is null. */
  function plain(table, names) {
    const values = (name) => Array.from(table[name], (value) => (Number.isNaN(value) ? null : value));
    return Object.fromEntries(names.map((name) => [name, values(name)]));
  }

  rtrace.panel("heatmap", {
    title: "Token age by step",
    section: "staleness",
    half: true,
    wanted: (data) => data.tables.token_ages.rows > 0,
    draw: heatmap,
    state: () => plain(rtrace.data.tables.token_ages, ["place", "age", "tokens"]),
  });

  function heatmap(host, data) {
    const { ages, token_ages: cells } = data.tables;
    const low = cells.age.reduce((least, value) => Math.min(least, value), 0);
    const high = cells.age.reduce((most, value) => Math.max(most, value), 0);
    const size = Math.ceil((high - low + 1) / ROWS);
    const shares = new Map();
    const totals = new Float64Array(ages.rows);
    for (let cell = 0; cell < cells.rows; cell++) {
      totals[cells.place[cell]] += cells.tokens[cell];
    }
    for (let cell = 0; cell < cells.rows; cell++) {
      const row = Math.floor((cells.age[cell] - low) / size);
      const key = cells.place[cell] * ROWS + row;
      shares.set(key, (shares.get(key) || 0) + cells.tokens[cell] / totals[cells.place[cell]]);
    }
    const rows = Math.floor((high - low) / size) + 1;
    const name = (row) => (size === 1 ? String(low + row) : `${low + row * size} to ${low + row * size + size - 1}`);
    host.append(scaleKey());
    rtrace.placed(host, {
      label: "Share of each step's tokens by their age in versions; the line is the batch age.",
      places: ages.rows,
      number: (place) => ages.step[place],
      xLabel: "step",
      yLabel: "token age (versions)",
      y: [low - 0.5 * size, low + (rows - 0.5) * size],
      yShow: (value) => count(value),
      yWhole: true,
      draw(ctx, area) {
        for (const [key, share] of shares) {
          const [place, row] = [Math.floor(key / ROWS), key % ROWS];
          ctx.fillStyle = rtrace.mixed("ramp-low", "ramp-high", Math.sqrt(share));
          const top = area.y(low + (row + 0.5) * size);
          const bottom = area.y(low + (row - 0.5) * size);
          const [left, width] = area.cell(place, 1);
          ctx.fillRect(left, Math.round(top), width, Math.max(Math.round(bottom) - Math.round(top) - (area.step > 5 ? 1 : 0), 1));
        }
        meanLine(ctx, area, ages);
      },
      read(place) {
        const parts = [];
        for (let row = 0; row < rows; row++) {
          const share = shares.get(place * ROWS + row);
          if (share) {
            parts.push(`age ${name(row)}: ${percent(share)}`);
          }
        }
        return `Step ${stepName(ages, place)}: batch age ${age(ages.age[place])}; ${parts.join(", ")}`;
      },
    });
    host.append(
      rtrace.alternative({
        label: "Tokens by step and age",
        x: { label: "step", values: Float64Array.from(cells.place, (place) => ages.step[place]), show: count },
        y: { show: count },
        series: [
          { label: "age", values: cells.age },
          { label: "tokens", values: cells.tokens },
        ],
      }),
    );
  }

  function scaleKey() {
    const steps = [0, 0.1, 0.25, 0.5, 1];
    const swatches = steps.map((share) => {
      const swatch = el("span", { class: "swatch" });
      const paint = () => {
        swatch.style.background = rtrace.mixed("ramp-low", "ramp-high", Math.sqrt(share));
      };
      paint();
      rtrace.onPaint(swatch, paint);
      return el("span", { class: "key" }, swatch, percent(share));
    });
    const line = rtrace.legend([["orange", "batch age"]]).firstElementChild;
    return el("div", { class: "legend" }, "share of the step's tokens", ...swatches, line);
  }

  function meanLine(ctx, area, ages) {
    ctx.strokeStyle = rtrace.color("orange");
    ctx.lineWidth = 1.8;
    ctx.beginPath();
    let open = false;
    for (let place = 0; place < ages.rows; place++) {
      if (Number.isNaN(ages.age[place])) {
        open = false;
        continue;
      }
      const [x, y] = [area.x(place + 0.5), area.y(ages.age[place])];
      open ? ctx.lineTo(x, y) : ctx.moveTo(x, y);
      open = true;
    }
    ctx.stroke();
  }

  rtrace.panel("split", {
    title: "Where the age comes from",
    section: "staleness",
    half: true,
    wanted: (data) => some(data) && data.tables.ages.in_call.some((value) => !Number.isNaN(value)),
    draw: split,
    state: () => plain(rtrace.data.tables.ages, ["step", ...PARTS.map(([name]) => name)]),
  });

  function split(host, data) {
    const ages = data.tables.ages;
    let [low, high] = [0, 0.1];
    for (let place = 0; place < ages.rows; place++) {
      const parts = PARTS.map(([name]) => ages[name][place]).filter((value) => !Number.isNaN(value));
      high = Math.max(high, parts.filter((value) => value > 0).reduce((sum, value) => sum + value, 0));
      low = Math.min(low, parts.filter((value) => value < 0).reduce((sum, value) => sum + value, 0));
    }
    host.append(rtrace.legend(PARTS.map(([, text, color]) => [color, text])));
    rtrace.placed(host, {
      label: "Parts of the batch age of each step: in the call, in the group, in the queue, and how far the trainer was ahead.",
      places: ages.rows,
      number: (place) => ages.step[place],
      xLabel: "step",
      yLabel: "age (versions)",
      y: [low * 1.05, high * 1.05],
      yShow: (value) => String(Number(value.toFixed(3))),
      draw(ctx, area) {
        for (let place = 0; place < ages.rows; place++) {
          let [up, down] = [0, 0];
          for (const [name, , hue] of PARTS) {
            const value = ages[name][place];
            if (Number.isNaN(value) || value === 0) {
              continue;
            }
            const from = value > 0 ? up : down;
            const [top, bottom] = [area.y(Math.max(from, from + value)), area.y(Math.min(from, from + value))];
            ctx.fillStyle = rtrace.color(hue);
            const [left, width] = area.cell(place, 2);
            ctx.fillRect(left, top, width, bottom - top);
            value > 0 ? (up += value) : (down += value);
          }
        }
      },
      read(place) {
        const parts = PARTS.map(([name, text]) => `${text} ${age(ages[name][place])}`);
        return `Step ${stepName(ages, place)}: ${parts.join(", ")}`;
      },
    });
    host.append(
      rtrace.alternative({
        label: "Parts of the batch age",
        x: { label: "step", values: ages.step, show: count },
        y: { show: age },
        series: PARTS.map(([name, text]) => ({ label: text, values: ages[name] })),
      }),
    );
  }

  rtrace.plain = plain;
})();
