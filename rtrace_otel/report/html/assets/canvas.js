"use strict";
/** Charts of our own on a canvas: sharp on every screen, with axes, a line that reads out, keyboard and a table. */
(() => {
  const { el, color } = rtrace;
  const LEFT = 58;
  const RIGHT = 12;
  const TOP = 8;
  const BOTTOM = 42;

  /**
   * A chart whose x axis has one place for each step or bin.
   * @param {Element} host
   * @param {object} spec
   * @param {string} spec.label what the chart shows, in a sentence
   * @param {number} spec.places
   * @param {(place: number) => number} spec.number of a place
   * @param {string} spec.xLabel
   * @param {string} spec.yLabel
   * @param {[number, number]} spec.y range
   * @param {(value: number) => string} spec.yShow
   * @param {number} [spec.height]
   * @param {(ctx: CanvasRenderingContext2D, box: object) => void} spec.draw `box` has x(place), width, y(value), ...
   * @param {(place: number, value: number) => string} spec.read what is at a place, in words
   */
  function placed(host, spec) {
    const height = spec.height || 240;
    const canvas = el("canvas", { role: "img", "aria-label": spec.label });
    const shell = el("div", { class: "chart", tabindex: "0", role: "group", "aria-label": `${spec.label} Arrow keys move along it.` }, canvas);
    const readout = el("p", { class: "readout", role: "status" });
    host.append(shell, readout);
    let at = null;

    function paint() {
      const width = shell.clientWidth || 600;
      const scale = window.devicePixelRatio || 1;
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.height = `${height}px`;
      const ctx = canvas.getContext("2d");
      ctx.scale(scale, scale);
      ctx.clearRect(0, 0, width, height);
      const area = box(width, height, spec);
      axes(ctx, area, spec);
      spec.draw(ctx, area);
      if (at !== null) {
        ctx.strokeStyle = color("faint");
        ctx.strokeRect(area.x(at) - 0.5, TOP, Math.max(area.step, 1) + 1, area.height);
      }
    }

    function look(place, value) {
      at = place === null || spec.places === 0 ? null : Math.min(Math.max(place, 0), spec.places - 1);
      readout.textContent = at === null ? "" : spec.read(at, value);
      paint();
    }

    shell.addEventListener("mousemove", (event) => {
      const area = box(shell.clientWidth, height, spec);
      const edge = canvas.getBoundingClientRect();
      const x = event.clientX - edge.left;
      const inside = x >= LEFT && x <= LEFT + area.width;
      look(inside ? Math.floor((x - LEFT) / area.step) : null, area.value(event.clientY - edge.top));
    });
    shell.addEventListener("mouseleave", () => look(null));
    shell.addEventListener("keydown", (event) => {
      const to = { ArrowLeft: at === null ? spec.places - 1 : at - 1, ArrowRight: at === null ? 0 : at + 1, Home: 0, End: spec.places - 1 };
      if (event.key in to) {
        look(to[event.key], null);
        event.preventDefault();
      }
    });
    paint();
    rtrace.onPaint(shell, paint);
  }

  function box(width, height, spec) {
    const inner = { left: LEFT, top: TOP, width: Math.max(width - LEFT - RIGHT, 1), height: height - TOP - BOTTOM };
    const [low, high] = spec.y;
    const step = inner.width / Math.max(spec.places, 1);
    return {
      ...inner,
      step,
      x: (place) => LEFT + place * step,
      y: (value) => TOP + inner.height * (1 - (value - low) / (high - low || 1)),
      /** Left edge and width of a place, on whole pixels so that neighbours meet. */
      cell: (place, gap) => {
        const left = Math.round(LEFT + place * step);
        return [left, Math.max(Math.round(LEFT + (place + 1) * step) - left - (step > 5 ? gap : 0), 1)];
      },
      value: (y) => low + (1 - (y - TOP) / inner.height) * (high - low),
    };
  }

  function axes(ctx, area, spec) {
    ctx.font = "12px system-ui, sans-serif";
    ctx.fillStyle = color("soft");
    ctx.strokeStyle = color("grid");
    ctx.lineWidth = 1;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    for (const tick of ticks(spec.y[0], spec.y[1], Math.max(area.height / 34, 2), spec.yWhole)) {
      const y = Math.round(area.y(tick)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(area.left, y);
      ctx.lineTo(area.left + area.width, y);
      ctx.stroke();
      ctx.fillText(spec.yShow(tick), area.left - 6, y);
    }
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    for (const [place, text] of namedPlaces(area, spec)) {
      ctx.fillText(text, area.x(place + 0.5), area.top + area.height + 6);
    }
    ctx.fillText(spec.xLabel, area.left + area.width / 2, area.top + area.height + 25);
    ctx.save();
    ctx.translate(11, area.top + area.height / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.textBaseline = "middle";
    ctx.fillText(spec.yLabel, 0, 0);
    ctx.restore();
  }

  /** The places whose number is, or has just passed, a multiple of a round number, far enough apart to be read. */
  function namedPlaces(area, spec) {
    if (spec.places === 0) {
      return [];
    }
    const [first, last] = [spec.number(0), spec.number(spec.places - 1)];
    const each = (last - first) / Math.max(spec.places - 1, 1) || 1;
    const raw = Math.max((70 / area.step) * each, 1);
    const power = 10 ** Math.floor(Math.log10(raw));
    const round = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= raw) || raw;
    const found = [];
    let before = Math.ceil(first / round) - 1;
    for (let place = 0; place < spec.places; place++) {
      const now = Math.floor(spec.number(place) / round);
      if (now > before) {
        found.push([place, rtrace.format.count(now * round)]);
        before = now;
      }
    }
    return found;
  }

  /** Round numbers that divide a range into about so many parts. */
  function ticks(low, high, parts, whole) {
    const raw = (high - low) / parts || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    let step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= raw) || 10 * power;
    if (whole) {
      step = Math.max(Math.round(step), 1);
    }
    const found = [];
    for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9 * step && found.length < 50; tick += step) {
      found.push(Math.abs(tick) < step * 1e-9 ? 0 : tick);
    }
    return found;
  }

  /** A colour between two of the theme, given as `#rrggbb`; `share` from 0 to 1. */
  function mixed(from, to, share) {
    const parts = (name) => [1, 3, 5].map((place) => parseInt(color(name).slice(place, place + 2), 16));
    const [low, high] = [parts(from), parts(to)];
    return `rgb(${low.map((part, place) => Math.round(part + (high[place] - part) * share)).join(" ")})`;
  }

  /** Coloured keys with their words. */
  function legend(entries) {
    const keys = entries.map(([name, text]) => {
      const swatch = el("span", { class: "swatch" });
      const paint = () => {
        swatch.style.background = color(name);
      };
      paint();
      rtrace.onPaint(swatch, paint);
      return el("span", { class: "key" }, swatch, text);
    });
    return el("div", { class: "legend" }, ...keys);
  }

  rtrace.placed = placed;
  rtrace.mixed = mixed;
  rtrace.legend = legend;
  rtrace.ticks = ticks;
})();
