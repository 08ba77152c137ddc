"use strict";
/** Paints what is around the attempts: strips of runs, steps, refits and checkpoints, lines through the lanes, axis. */
(() => {
  const tl = rtrace.timeline;
  const { format } = rtrace;

  /** Strips from top to bottom: height in CSS pixels, name at the left, kinds of bands. */
  const STRIPS = [
    { name: "runs", height: 18, kinds: ["runs", "stops"] },
    { name: "steps", height: 18, kinds: ["steps"] },
    { name: "refits", height: 14, kinds: ["refits"] },
    { name: "checkpoints", height: 14, kinds: ["checkpoints", "restores"] },
  ];
  const GAP = 4;
  const GUTTER = 84;
  const AXIS = 22;
  const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

  /** Where everything is, in device pixels of a canvas of this size in CSS pixels. */
  function layout(width, height, ratio) {
    const scaled = (value) => Math.round(value * ratio);
    let y = 0;
    const strips = STRIPS.map((strip) => {
      const box = {
        ...strip,
        x: scaled(GUTTER),
        y: scaled(y),
        width: scaled(width - GUTTER),
        height: scaled(strip.height),
      };
      y += strip.height + GAP;
      return box;
    });
    const lanes = {
      x: scaled(GUTTER),
      y: scaled(y + 4),
      width: scaled(width - GUTTER),
      height: scaled(height - y - 4 - AXIS),
    };
    return { strips, lanes, axis: { ...lanes, y: lanes.y + lanes.height, height: scaled(AXIS) }, ratio };
  }

  const words = {
    runs: (band, short) => `${short(band.run)} ${band.ended_how === "killed" ? "killed" : ""}`.trim(),
    stops: (band) => `down ${format.seconds(band.end - band.start)}`,
    steps: (band) => (band.step === null ? "?" : String(band.step)),
    refits: (band) => (band.new_version === null ? "?" : `v${band.new_version}`),
    checkpoints: (band) => band.checkpoint_id || "checkpoint",
    restores: (band) => `restore ${band.checkpoint_id || ""}`.trim(),
  };

  function fillOf(kind, band, colors, place) {
    if (kind === "runs") {
      return colors.runs[place % 2];
    }
    const named = {
      stops: colors.stop,
      refits: colors.refit,
      checkpoints: colors.checkpoint,
      restores: colors.restore,
    };
    return named[kind] || (band.given_up || !band.finished ? colors.stop : colors.step);
  }

  /** Paints the strips; gives how many bands are in view, by kind. */
  function strips(context, model, look, spots, colors, short) {
    const counts = {};
    for (const strip of spots.strips) {
      context.fillStyle = colors.line;
      context.fillRect(strip.x, strip.y + strip.height, strip.width, 1);
      for (const kind of strip.kinds) {
        counts[kind] = stripOf(context, model, look, strip, kind, colors, short, spots.ratio);
      }
    }
    return counts;
  }

  function stripOf(context, model, look, strip, kind, colors, short, ratio) {
    let seen = 0;
    let last = -1;
    model.bands[kind].forEach((band, place) => {
      const spot = spotOf(look.view, strip, band);
      if (!spot) {
        return;
      }
      seen++;
      const [x, width] = spot;
      if (x + width <= last && kind !== "stops") {
        return;
      }
      last = x + width;
      const color = fillOf(kind, band, colors, place);
      context.fillStyle = color;
      context.fillRect(x, strip.y, width > 4 ? width - 1 : width, strip.height);
      label(context, words[kind](band, short), x, width, strip, tl.inkOn(color), ratio);
    });
    return seen;
  }

  /** Where a band is in a box: left and width in device pixels, at least one; `null` if it is out of view. */
  function spotOf(view, box, band) {
    if (band.start > view.to || band.end < view.from) {
      return null;
    }
    const scale = box.width / (view.to - view.from);
    const low = Math.max(Math.round(box.x + (band.start - view.from) * scale), box.x);
    const high = Math.min(Math.round(box.x + (band.end - view.from) * scale), box.x + box.width);
    return [low, Math.max(high - low, 1)];
  }

  function label(context, text, x, width, strip, color, ratio) {
    context.font = scaledFont(ratio);
    if (width < 14 * ratio || context.measureText(text).width > width - 6 * ratio) {
      return;
    }
    context.fillStyle = color;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(text, x + width / 2, strip.y + strip.height / 2 + ratio / 2);
  }

  const scaledFont = (ratio) => FONT.replace("11px", `${11 * ratio}px`);

  /** Behind the attempts: stops and restores as stretches in which little can happen. */
  function behind(context, model, look, spots, colors) {
    const { lanes } = spots;
    for (const [kind, color] of [
      ["stops", colors.stop],
      ["restores", colors.restore],
      ["checkpoints", colors.checkpoint],
    ]) {
      for (const band of model.bands[kind]) {
        const spot = spotOf(look.view, lanes, band);
        if (spot) {
          context.globalAlpha = kind === "stops" ? 0.35 : 0.2;
          context.fillStyle = color;
          context.fillRect(spot[0], lanes.y, spot[1], lanes.height);
        }
      }
    }
    context.globalAlpha = 1;
  }

  /** Through the attempts: a line at each refit, as long as they can be told apart, and one where each run was killed. */
  function lines(context, model, look, spots, colors) {
    const { lanes, ratio } = spots;
    const refits = model.bands.refits.filter(
      (band) => band.finished && band.end >= look.view.from && band.end <= look.view.to,
    );
    const drawn = lanes.width / ratio / Math.max(refits.length, 1) >= 12 ? refits : [];
    const scale = lanes.width / (look.view.to - look.view.from);
    const line = (at, color, width) => {
      context.fillStyle = color;
      context.fillRect(Math.round(lanes.x + (at - look.view.from) * scale - width / 2), lanes.y, width, lanes.height);
    };
    context.globalAlpha = 0.55;
    drawn.forEach((band) => line(band.end, colors.refit, ratio));
    context.globalAlpha = 1;
    for (const run of model.bands.runs) {
      if (run.ended_how === "killed" && run.end >= look.view.from && run.end <= look.view.to) {
        line(run.end, colors.ink, 2 * ratio);
      }
    }
    return drawn.length;
  }

  /** Names at the left, and the axis below. */
  function frame(context, model, look, spots, colors) {
    const { ratio, axis, lanes } = spots;
    context.font = scaledFont(ratio);
    context.fillStyle = colors.soft;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const left = lanes.x - 8 * ratio;
    for (const strip of spots.strips) {
      context.fillText(strip.name, left, strip.y + strip.height / 2);
    }
    context.fillText("attempts", left, lanes.y + 8 * ratio);
    context.fillStyle = colors.line;
    context.fillRect(axis.x, axis.y, axis.width, 1);
    context.textBaseline = "top";
    context.textAlign = "center";
    const scale = axis.width / (look.view.to - look.view.from);
    const from = model.origin + look.view.from;
    for (const { at, label: text } of tl.ticks(
      from,
      model.origin + look.view.to,
      Math.max(axis.width / ratio / 90, 2),
    )) {
      const x = axis.x + (at - from) * scale;
      context.fillStyle = colors.line;
      context.fillRect(Math.round(x), axis.y, 1, 4 * ratio);
      const half = context.measureText(text).width / 2;
      context.fillStyle = colors.soft;
      context.fillText(text, Math.min(Math.max(x, axis.x + half), axis.x + axis.width - half), axis.y + 6 * ratio);
    }
  }

  /** The band at a point of the canvas (device pixels): `{kind, band}` or `null`. */
  function bandAt(model, look, spots, x, y) {
    const strip = spots.strips.find((box) => y >= box.y && y <= box.y + box.height);
    if (!strip || x < strip.x) {
      return null;
    }
    for (const kind of [...strip.kinds].reverse()) {
      const near = model.bands[kind].filter((band) => {
        const spot = spotOf(look.view, strip, band);
        return spot && x >= spot[0] - 2 * spots.ratio && x <= spot[0] + spot[1] + 2 * spots.ratio;
      });
      if (near.length) {
        return { kind, band: near[near.length >> 1] };
      }
    }
    return null;
  }

  Object.assign(rtrace.timeline, { layout, strips, behind, lines, frame, bandAt, scaledFont });
})();
