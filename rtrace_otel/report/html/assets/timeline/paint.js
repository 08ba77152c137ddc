"use strict";
/**
 * Paints attempts: bars in lanes.
 *
 * A bar narrower than a pixel is drawn one pixel wide, and bars of one colour on the same pixel are drawn once: nothing
 * disappears, and a hundred thousand bars cost no more than the pixels that they cover.
 */
(() => {
  const tl = rtrace.timeline;
  const VERSION_COLORS = 8;

  const sheet = document.createElement("canvas");

  /** Pixels that are written one by one: faster than a hundred thousand rectangles. Where nothing is, they are clear. */
  class Pixels {
    constructor(width, height) {
      this.width = Math.max(width, 1);
      this.height = Math.max(height, 1);
      this.image = new ImageData(this.width, this.height);
      this.values = new Uint32Array(this.image.data.buffer);
    }

    fill(x, y, width, height, color) {
      for (let line = y; line < y + height; line++) {
        this.values.fill(color, line * this.width + x, line * this.width + x + width);
      }
    }

    paint(context, x, y) {
      sheet.width = this.width;
      sheet.height = this.height;
      sheet.getContext("2d").putImageData(this.image, 0, 0);
      context.drawImage(sheet, x, y);
    }
  }

  /** A colour such as `#0a5fa5` as a pixel of an image: its bytes are red, green, blue and opacity in this order. */
  function pixelOf(color) {
    const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
    return new Uint32Array(Uint8Array.of(red, green, blue, 255).buffer)[0];
  }

  /** The colours of the theme, read once for each painting. */
  function palette(model) {
    return {
      states: model.states.map((state) => rtrace.color(`tl-${state}`)),
      versions: Array.from({ length: VERSION_COLORS }, (_, place) => rtrace.color(`tl-v${place}`)),
      runs: [rtrace.color("tl-run0"), rtrace.color("tl-run1")],
      unknown: rtrace.color("tl-open"),
      dim: rtrace.color("tl-dim"),
      ink: rtrace.color("ink"),
      soft: rtrace.color("soft"),
      paper: rtrace.color("paper"),
      line: rtrace.color("line"),
      accent: rtrace.color("accent"),
      stop: rtrace.color("tl-stop"),
      restore: rtrace.color("tl-restore"),
      checkpoint: rtrace.color("tl-checkpoint"),
      step: rtrace.color("tl-step"),
      refit: rtrace.color("tl-refit"),
    };
  }

  const versionColor = (colors, version) =>
    Number.isNaN(version)
      ? colors.unknown
      : colors.versions[((version % VERSION_COLORS) + VERSION_COLORS) % VERSION_COLORS];

  /** Where a lane is drawn, in device pixels of the canvas: its top and the height of its bars. */
  function laneBox(view, box, lane) {
    const pitch = box.height / (view.bottom - view.top);
    const top = box.y + Math.floor((lane - view.top) * pitch);
    const height = Math.max(Math.floor(pitch) - (pitch >= 4 ? 1 : 0), 1);
    return [top, height];
  }

  /**
   * Paints the attempts of a view into a box of the canvas (device pixels): first what the filter leaves out.
   * @returns {{drawn: number, inView: number}} rectangles painted, and attempts that touch the view
   */
  function lanes(context, model, look, box, colors) {
    const painter = new Painter(model, look, box, colors);
    const order = look.color === "outcome" ? stateOrder(model) : model.states.map((_, state) => state);
    for (const matching of [0, 1]) {
      for (const state of order) {
        for (const row of model.byState[state]) {
          if (look.mask[row] === matching) {
            painter.bar(row, state);
          }
        }
      }
    }
    painter.pixels.paint(context, box.x, box.y);
    return { drawn: painter.drawn, inView: painter.inView };
  }

  /** The states with those that went well first, so that the others are painted above them. */
  function stateOrder(model) {
    const calm = ["trained", "sealed", "kept"];
    const places = model.states.map((_, place) => place);
    return places.sort(
      (a, b) => Number(calm.includes(model.states[b])) - Number(calm.includes(model.states[a])) || a - b,
    );
  }

  class Painter {
    constructor(model, look, box, colors) {
      Object.assign(this, { model, look, box, colors, drawn: 0, inView: 0 });
      this.pixels = new Pixels(box.width, box.height);
      this.scale = box.width / (look.view.to - look.view.from);
      this.inks = new Map();
    }

    bar(row, state) {
      const { model, look } = this;
      const { view } = look;
      const lane = model.lane[row];
      if (model.start[row] > view.to || model.end[row] < view.from || lane + 1 <= view.top || lane >= view.bottom) {
        return;
      }
      this.inView++;
      const [top, height] = laneBox(view, this.box, lane);
      const y = top - this.box.y;
      if (!look.mask[row]) {
        this.rectangle(this.colors.dim, model.start[row], model.end[row], y, height);
      } else if (look.color === "version") {
        tl.eachSegment(model, row, (from, to, version) =>
          this.rectangle(versionColor(this.colors, version), from, to, y, height),
        );
      } else {
        this.rectangle(this.colors.states[state], model.start[row], model.end[row], y, height);
      }
    }

    /** A colour as a pixel, and for each line how far to the right it has been painted last. */
    inkOf(color) {
      let ink = this.inks.get(color);
      if (!ink) {
        ink = { pixel: pixelOf(color), last: new Int32Array(this.pixels.height).fill(-1) };
        this.inks.set(color, ink);
      }
      return ink;
    }

    /** @param {number} y line of the box */
    rectangle(color, from, to, y, height) {
      const { view } = this.look;
      const { width, height: lines } = this.pixels;
      if (from > view.to || to < view.from || y >= lines) {
        return;
      }
      const low = Math.min(Math.max(Math.round((from - view.from) * this.scale), 0), width - 1);
      const end = Math.min(Math.round((to - view.from) * this.scale), width);
      const high = Math.max(end - (end - low >= 4 ? 1 : 0), low + 1);
      const top = Math.max(y, 0);
      const { pixel, last } = this.inkOf(color);
      if (height <= 1 && high <= last[top]) {
        return; // these pixels have this colour already
      }
      last[top] = high;
      this.pixels.fill(low, top, high - low, Math.min(y + height, lines) - top, pixel);
      this.drawn++;
    }
  }

  /** The colour of words on a colour such as `#0a5fa5`: by its brightness as the eye sees it (ITU-R BT.601). */
  function inkOn(color) {
    const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
    return 0.299 * red + 0.587 * green + 0.114 * blue < 128 ? "#ffffff" : "#10151c";
  }

  const LABEL_HEIGHT = 12;
  const LABEL_WIDTH = 40;

  /** Where bars are tall and wide enough: prompt and generation of each, and its tokens if there is room. */
  function labels(context, model, look, box, colors, ratio) {
    const { view } = look;
    const [, height] = laneBox(view, box, 0);
    if (height < LABEL_HEIGHT * ratio || look.color === "version") {
      return;
    }
    const scale = box.width / (view.to - view.from);
    context.font = tl.scaledFont(ratio);
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (let row = 0; row < model.rows && model.start[row] <= view.to; row++) {
      const low = Math.max(box.x + (model.start[row] - view.from) * scale, box.x);
      const width = Math.min(box.x + (model.end[row] - view.from) * scale, box.x + box.width) - low - 8 * ratio;
      const lane = model.lane[row];
      if (width < LABEL_WIDTH * ratio || lane < view.top || lane + 1 > view.bottom || !look.mask[row]) {
        continue;
      }
      const text = labelOf(model, row, (words) => context.measureText(words).width <= width);
      context.fillStyle = inkOn(colors.states[model.state[row]]);
      context.fillText(text, low + 4 * ratio, laneBox(view, box, lane)[0] + height / 2);
    }
  }

  function labelOf(model, row, fits) {
    const generation = model.columns.generation[row];
    const name = `${tl.promptOf(model, row) ?? "?"}/${Number.isNaN(generation) ? "?" : generation}`;
    const tokens = model.columns.tokens[row];
    const reason = model.columns.reason[row];
    const made = Number.isNaN(tokens) ? "no tokens known" : `${rtrace.format.count(tokens)} tokens`;
    const long = `${name} \u00b7 ${reason || made}`;
    return fits(long) ? long : fits(name) ? name : "";
  }

  /** Outlines around attempts: the selected one strong, its siblings thin. */
  function outlines(context, model, look, box, colors, ratio) {
    if (look.selected < 0) {
      return;
    }
    const frame = (row, width, color) => {
      const [y, height] = laneBox(look.view, box, model.lane[row]);
      const scale = box.width / (look.view.to - look.view.from);
      const x = box.x + (model.start[row] - look.view.from) * scale;
      const length = Math.max((model.end[row] - model.start[row]) * scale, 1);
      context.strokeStyle = color;
      context.lineWidth = width;
      context.strokeRect(x - width, y - width / 2, length + 2 * width, Math.max(height, 2 * ratio) + width);
    };
    context.save();
    context.beginPath();
    context.rect(box.x, box.y, box.width, box.height);
    context.clip();
    for (const row of look.siblings) {
      if (row !== look.selected) {
        frame(row, ratio, colors.ink);
      }
    }
    frame(look.selected, 3 * ratio, colors.paper);
    frame(look.selected, 2 * ratio, colors.accent);
    context.restore();
  }

  /** Where an attempt is drawn in the box: `[x, y, width, height]` in device pixels of the canvas. */
  function barOf(model, view, box, row) {
    const scale = box.width / (view.to - view.from);
    const [y, height] = laneBox(view, box, model.lane[row]);
    const low = Math.max(box.x + (model.start[row] - view.from) * scale, box.x);
    const high = Math.min(box.x + (model.end[row] - view.from) * scale, box.x + box.width);
    return [low, y, Math.max(high - low, 1), height];
  }

  /** The attempt at a point of the box (device pixels), `-1` for none; a point close to a thin bar will do. */
  function hit(model, look, box, x, y) {
    const { view } = look;
    const scale = box.width / (view.to - view.from);
    const pitch = box.height / (view.bottom - view.top);
    const at = view.from + (x - box.x) / scale;
    const lane = view.top + (y - box.y) / pitch;
    const slackS = 3 / scale;
    const slackLanes = Math.max(1.5 / pitch - 0.5, 0);
    let best = -1;
    let least = Infinity;
    for (let row = 0; row < model.rows && model.start[row] <= at + slackS; row++) {
      const off = Math.max(model.start[row] - at, at - model.end[row], 0);
      const offLanes = Math.max(model.lane[row] - lane, lane - model.lane[row] - 1, 0);
      if (off <= slackS && offLanes <= slackLanes) {
        const distance = off * scale + offLanes * pitch + (look.mask[row] ? 0 : 100);
        if (distance < least) {
          [best, least] = [row, distance];
        }
      }
    }
    return best;
  }

  Object.assign(rtrace.timeline, {
    palette,
    versionColor,
    laneBox,
    inkOn,
    paintLanes: lanes,
    labels,
    outlines,
    barOf,
    hit,
  });
})();
