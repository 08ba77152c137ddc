"use strict";
/** Line charts: uPlot with axes, legend, keyboard and a table for those who cannot see it. */
(() => {
  const { el, color } = rtrace;
  const MAX_TABLE = 1000;

  /**
   * A line chart.
   * @param {Element} host
   * @param {object} spec
   * @param {string} spec.label what the chart shows, in a sentence
   * @param {{label: string, values: ArrayLike<number>, show: (value: number) => string, log?: boolean}} spec.x
   * @param {{label: string, show: (value: number) => string, log?: boolean, from0?: boolean}} spec.y
   * @param {{label: string, values: ArrayLike<number>, color: string, width?: number, dash?: number[], fill?: boolean, pale?: boolean,
   *   points?: boolean, step?: boolean}[]} spec.series colours are names of CSS variables
   * @param {{from: number, to: number, color: string}[]} [spec.bands] stretches of x that are marked
   * @param {number} [spec.height]
   * @param {string} [spec.sync] charts of one name share their cursor and their zoom
   */
  function lines(host, spec) {
    const legend = el("div", { class: "legend" });
    const plot = el("div", { class: "chart", tabindex: "0", role: "group", "aria-label": `${spec.label} Arrow keys move along it.` });
    const spoken = el("p", { class: "offscreen", role: "status" });
    host.append(legend, plot, spoken);
    const values = spec.series.map((series) => key(legend, series));
    const where = el("span", { class: "key" });
    legend.prepend(where);
    let chart = null;

    function show(index) {
      where.textContent = index === null ? spec.x.label : `${spec.x.label} ${spec.x.show(spec.x.values[index])}`;
      values.forEach((value, place) => {
        value.textContent = index === null ? "" : spec.y.show(spec.series[place].values[index]);
      });
    }

    function paint(why) {
      if (chart && why === "size") {
        chart.setSize({ width: plot.clientWidth, height: spec.height || 220 });
        return;
      }
      if (chart) {
        chart.destroy();
      }
      chart = new uPlot(options(spec, plot, show), [spec.x.values, ...spec.series.map((series) => series.values)], plot);
      const canvas = chart.root.querySelector("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", spec.label);
    }

    show(null);
    paint("first");
    rtrace.onPaint(plot, paint);
    plot.rtraceRange = () => [chart.scales.x.min, chart.scales.x.max];
    plot.addEventListener("keydown", (event) => {
      if (move(event, chart, spec)) {
        const numbers = spec.series.map((series, place) => `${series.label} ${values[place].textContent}`);
        spoken.textContent = [where.textContent, ...numbers].join(", "); // the legend shows it, a screen reader says it
      }
    });
    host.append(alternative(spec));
  }

  function key(legend, series) {
    const value = el("span", { class: "value" });
    const swatch = el("span", { class: series.fill ? "swatch" : "swatch line" });
    const paint = () => {
      const ink = series.pale ? `${color(series.color)}55` : color(series.color);
      swatch.style.background = series.dash ? dashes(ink, series.dash) : ink;
    };
    legend.append(el("span", { class: "key" }, swatch, series.label, value));
    paint();
    rtrace.onPaint(swatch, paint);
    return value;
  }

  /** A dashed line as a background: it tells lines apart for those who do not see their colours. */
  function dashes(ink, [on, off]) {
    return `repeating-linear-gradient(90deg, ${ink} 0 ${on}px, transparent ${on}px ${on + off}px)`;
  }

  function options(spec, plot, show) {
    const grid = { stroke: color("grid"), width: 1 };
    const font = "12px system-ui, sans-serif";
    const axis = (part, more) => ({
      stroke: color("soft"),
      grid,
      ticks: { ...grid, size: 4 },
      font,
      labelFont: font,
      label: part.label,
      labelSize: 18,
      labelGap: 2,
      values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : part.tick ? part.tick(tick) : part.show(tick))),
      ...more,
    });
    return {
      width: plot.clientWidth || 600,
      height: spec.height || 220,
      legend: { show: false },
      padding: [8, 24, 0, 0],
      scales: {
        x: { time: false, distr: spec.x.log ? 3 : 1 },
        y: spec.y.log ? { distr: 3 } : { range: (_, low, high) => yRange(spec.y, low, high) },
      },
      axes: [
        axis(spec.x, { size: 34, space: spec.x.space || 70, incrs: spec.x.whole ? WHOLE : spec.x.increments }),
        axis(spec.y, { size: 58, space: 34 }),
      ],
      series: [{}, ...spec.series.map(line)],
      cursor: {
        drag: { x: true, y: false },
        points: { size: 7 },
        ...(spec.sync ? { sync: { key: spec.sync, scales: ["x", null] } } : {}),
      },
      hooks: {
        setCursor: [(chart) => show(chart.cursor.idx ?? null)],
        drawClear: [(chart) => bands(chart, spec.bands || [])],
      },
    };
  }

  const WHOLE = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((power) => [power, 2 * power, 5 * power]);

  function yRange(part, low, high) {
    if (low === null || high === null) {
      return [0, 1];
    }
    const bottom = part.from0 === false ? low : Math.min(0, low);
    const top = Math.max(high, bottom + (part.least || 1e-9));
    return [bottom < 0 ? bottom - 0.05 * (top - bottom) : bottom, top + 0.06 * (top - bottom)];
  }

  function line(series) {
    const stroke = series.pale ? `${color(series.color)}55` : color(series.color);
    return {
      stroke: series.width === 0 ? undefined : stroke,
      width: series.width === undefined ? 1.5 : series.width,
      dash: series.dash,
      fill: series.fill ? `${stroke}33` : undefined,
      paths: series.step ? uPlot.paths.stepped({ align: 1 }) : undefined,
      points: { show: Boolean(series.points), size: 5, fill: stroke },
      spanGaps: false,
    };
  }

  function bands(chart, several) {
    const { ctx, bbox } = chart;
    ctx.save();
    for (const band of several) {
      const left = Math.max(chart.valToPos(band.from, "x", true), bbox.left);
      const right = Math.min(chart.valToPos(band.to, "x", true), bbox.left + bbox.width);
      if (right >= left) {
        ctx.fillStyle = `${color(band.color)}2e`;
        ctx.fillRect(left, bbox.top, Math.max(right - left, 1), bbox.height);
      }
    }
    ctx.restore();
  }

  /** Does what a key asks for, and gives whether the cursor moved. */
  function move(event, chart, spec) {
    const last = spec.x.values.length - 1;
    const now = chart.cursor.idx;
    const to = {
      ArrowLeft: now === null || now === undefined ? last : Math.max(now - 1, 0),
      ArrowRight: now === null || now === undefined ? 0 : Math.min(now + 1, last),
      Home: 0,
      End: last,
    }[event.key];
    if (event.key === "Escape") {
      chart.setData(chart.data, true);
      event.preventDefault();
      return false;
    }
    if (to === undefined || last < 0) {
      return false;
    }
    chart.setCursor({ left: chart.valToPos(spec.x.values[to], "x"), top: 20 });
    event.preventDefault();
    return true;
  }

  /** The chart's numbers as a table, built when it is opened. */
  function alternative(spec) {
    const details = el("details", {}, el("summary", {}, "Numbers of this chart"));
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1) {
        details.append(rtrace.table(numbers(spec)));
      }
    });
    return details;
  }

  function numbers(spec) {
    const columns = [{ ...spec.x, key: "x" }, ...spec.series.map((series, place) => ({ ...spec.y, ...series, key: `y${place}` }))];
    const rows = Array.from({ length: Math.min(spec.x.values.length, MAX_TABLE) }, (_, place) => place);
    const plain = (value) => (Number.isNaN(value) ? null : value);
    return {
      title: spec.label,
      columns: columns.map((column) => ({ key: column.label, title: column.label, align: "right" })),
      rows: rows.map((place) => columns.map((column) => column.show(column.values[place]))),
      values: Object.fromEntries(columns.map((column) => [column.label, rows.map((place) => plain(column.values[place]))])),
      of: spec.x.values.length,
    };
  }

  /** What hands can do with a chart, for the caption of the first ones. */
  rtrace.HINT = "Drag across a chart to look closer; a double click or Escape shows all again. Arrow keys move along it.";
  rtrace.lines = lines;
  rtrace.numbersOf = numbers;
  rtrace.alternative = alternative;
})();
