"use strict";
/** The small things around the picture: its surface, the strip of the whole job, the legend. */
(() => {
  const tl = rtrace.timeline;
  const { el, format } = rtrace;

  /** A canvas fitted to its size on the page, in device pixels. */
  function surface(canvas, ratio) {
    const { clientWidth: width, clientHeight: height } = canvas;
    const [across, down] = [Math.max(Math.round(width * ratio), 1), Math.max(Math.round(height * ratio), 1)];
    if (canvas.width !== across || canvas.height !== down) {
      canvas.width = across;
      canvas.height = down;
    }
    return { canvas, context: canvas.getContext("2d"), width, height };
  }

  /** How many attempts were open over the whole job, and which part of it is looked at. */
  function paintWhole(canvas, model, look, colors, ratio) {
    const { context, width, height } = surface(canvas, ratio);
    const [all, tall, left] = [width * ratio, height * ratio, 84 * ratio];
    context.clearRect(0, 0, all, tall);
    const { series } = model.found;
    const values = series.open_attempts;
    const highest = values.reduce((most, value) => Math.max(most, value), 1e-9);
    const scale = (all - left) / model.span;
    context.fillStyle = colors.states[model.states.indexOf("trained")];
    context.beginPath();
    context.moveTo(left, tall);
    values.forEach((value, place) => {
      const at = series.start + place * series.width - model.origin;
      const y = tall - (value / highest) * (tall - 2 * ratio);
      context.lineTo(left + Math.max(at, 0) * scale, y);
      context.lineTo(left + Math.min(at + series.width, model.span) * scale, y);
    });
    context.lineTo(all, tall);
    context.fill();
    const { from, to } = look.view;
    context.fillStyle = colors.paper;
    context.globalAlpha = 0.72;
    context.fillRect(left, 0, from * scale, tall);
    context.fillRect(left + to * scale, 0, all - left - to * scale, tall);
    context.globalAlpha = 1;
    context.strokeStyle = colors.accent;
    context.lineWidth = ratio;
    context.strokeRect(
      left + from * scale + ratio / 2,
      ratio / 2,
      Math.max((to - from) * scale - ratio, ratio),
      tall - ratio,
    );
    context.font = tl.scaledFont(ratio);
    context.fillStyle = colors.soft;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText("whole job", left - 8 * ratio, tall / 2);
  }

  /** What the colours mean. Outcomes can be switched off. */
  function legend(host, model, look, hide) {
    const focused = host.contains(document.activeElement) ? document.activeElement.dataset.state : null;
    const keys = look.color === "outcome" ? outcomes(model, look, hide) : versions(model, look);
    host.replaceChildren(...keys);
    const again = focused && host.querySelector(`[data-state="${focused}"]`);
    if (again) {
      again.focus();
    }
  }

  function outcomes(model, look, hide) {
    return model.states.flatMap((state, place) => {
      const rows = model.byState[place].length;
      if (!rows) {
        return [];
      }
      const toggle = () => {
        const hidden = new Set(look.hidden);
        if (!hidden.delete(state)) {
          hidden.add(state);
        }
        hide(hidden);
      };
      const attributes = {
        type: "button",
        class: "tl-key",
        "data-state": state,
        "aria-pressed": String(!look.hidden.has(state)),
        title: tl.MEANS[state],
        onclick: toggle,
      };
      return [
        el("button", attributes, el("span", { class: `swatch tl-${state}` }), state, el("b", {}, format.count(rows))),
      ];
    });
  }

  /** The versions that refits installed in view; few are named one by one. */
  function versions(model, look) {
    const colors = tl.palette(model);
    const { from, to } = look.view;
    const seen = new Set();
    for (let row = 0; row < model.rows && model.start[row] <= to; row++) {
      if (model.end[row] >= from && !Number.isNaN(model.version[row])) {
        seen.add(model.version[row]);
      }
    }
    model.bands.refits.forEach((refit) => {
      if (refit.end >= from && refit.end <= to && refit.new_version !== null) {
        seen.add(refit.new_version);
      }
    });
    const sorted = [...seen].sort((a, b) => a - b);
    const key = (version) => {
      const swatch = el("span", { class: "swatch" });
      swatch.style.background = tl.versionColor(colors, version);
      return el("span", { class: "tl-key" }, swatch, `v${version}`);
    };
    if (sorted.length <= 24) {
      return sorted.map(key);
    }
    const text = `versions ${sorted[0]} to ${sorted[sorted.length - 1]}; colours come again every eight versions`;
    return [...sorted.slice(0, 8).map(key), el("span", { class: "tl-key" }, text)];
  }

  Object.assign(rtrace.timeline, { surface, paintWhole, legend });
})();
