"use strict";
/** What hands do to the picture: pointer, touch, wheel and keys. */
(() => {
  const tl = rtrace.timeline;

  /** Pointer, wheel and keys of the picture. */
  function listen(parts, getModel, look, does) {
    const { lanes, whole, range } = parts;
    const touching = new Map();
    let drag = null;

    const point = (event, canvas = lanes) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const box = () => {
      const { lanes: spot, ratio } = does.spots();
      return { x: spot.x / ratio, y: spot.y / ratio, width: spot.width / ratio, height: spot.height / ratio };
    };
    const timeAt = (x, view = look.view) => view.from + ((x - box().x) / box().width) * (view.to - view.from);
    const laneAt = (y) => does.shown().top + ((y - box().y) / box().height) * (does.shown().bottom - does.shown().top);

    lanes.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) {
        return;
      }
      lanes.focus({ preventScroll: true });
      lanes.setPointerCapture(event.pointerId);
      touching.set(event.pointerId, point(event));
      const [x, y] = point(event);
      const ranging = event.shiftKey || y < box().y || y > box().y + box().height || tl.isWhole(getModel(), look.view);
      drag = { x, y, ranging, view: look.view, moved: false, spread: spreadOf(touching) };
      does.resetHover();
    });

    lanes.addEventListener("pointermove", (event) => {
      const [x, y] = point(event);
      if (touching.has(event.pointerId)) {
        touching.set(event.pointerId, [x, y]);
      }
      if (!drag) {
        does.hover(x, y);
        return;
      }
      if (touching.size === 2) {
        pinch();
        return;
      }
      drag.moved = drag.moved || Math.abs(x - drag.x) + Math.abs(y - drag.y) > 4;
      if (drag.moved && drag.ranging) {
        showRange(drag.x, x);
      } else if (drag.moved) {
        const { view } = drag;
        const seconds = ((drag.x - x) / box().width) * (view.to - view.from);
        const up = ((drag.y - y) / box().height) * (view.bottom - view.top);
        does.change({ view: tl.panned(getModel(), view, seconds, up) });
      }
    });

    const up = (event) => {
      touching.delete(event.pointerId);
      if (!drag || touching.size) {
        return;
      }
      const [x, y] = point(event);
      const ended = drag;
      drag = null;
      range.hidden = true;
      if (event.type === "pointercancel") {
        return;
      }
      if (!ended.moved) {
        does.select(does.hover(x, y));
      } else if (ended.ranging && Math.abs(x - ended.x) > 4) {
        const [from, to] = [timeAt(Math.min(x, ended.x)), timeAt(Math.max(x, ended.x))];
        does.change({ view: tl.within(getModel(), { ...look.view, from, to }) }, true);
      } else {
        does.change({}, true);
      }
    };
    lanes.addEventListener("pointerup", up);
    lanes.addEventListener("pointercancel", up);
    lanes.addEventListener("pointerleave", () => does.resetHover());

    function pinch() {
      const spread = spreadOf(touching);
      const [[ax], [bx]] = [...touching.values()];
      if (drag.spread > 0 && spread > 0) {
        does.change({ view: tl.zoomed(getModel(), look.view, timeAt((ax + bx) / 2), spread / drag.spread) });
      }
      drag.spread = spread;
      drag.moved = true;
      drag.ranging = false;
    }

    function showRange(a, b) {
      const { x, width } = box();
      const [low, high] = [Math.max(Math.min(a, b), x), Math.min(Math.max(a, b), x + width)];
      Object.assign(range.style, {
        left: `${lanes.offsetLeft + low}px`,
        width: `${Math.max(high - low, 1)}px`,
        top: `${lanes.offsetTop}px`,
        height: `${lanes.offsetHeight}px`,
      });
      range.hidden = false;
    }

    lanes.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && document.activeElement !== lanes) {
          return; // the wheel scrolls the page until the picture was clicked
        }
        event.preventDefault();
        const [x, y] = point(event);
        const factor = Math.exp(-(event.deltaY || event.deltaX) * (event.deltaMode === 1 ? 0.05 : 0.0022));
        if (event.shiftKey) {
          does.change({ view: tl.zoomedLanes(getModel(), does.shown(), laneAt(y), factor) });
        } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          const seconds = (event.deltaX / box().width) * (look.view.to - look.view.from);
          does.change({ view: tl.panned(getModel(), look.view, seconds, 0) });
        } else {
          does.change({ view: tl.zoomed(getModel(), look.view, timeAt(x), factor) });
        }
        does.hover(x, y);
      },
      { passive: false },
    );

    lanes.addEventListener("keydown", (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? null : keys(event)[event.key];
      if (act) {
        event.preventDefault();
        act();
      }
    });

    function keys(event) {
      const model = getModel();
      const { view } = look;
      const [seconds, rows] = [(view.to - view.from) * 0.2, (view.bottom - view.top) * 0.2];
      const middle = (view.from + view.to) / 2;
      const show = (next) => () => does.change({ view: next });
      const zoom = (factor) => () => does.change({ view: tl.zoomed(model, view, middle, factor) }, true);
      const taller = (factor) =>
        show(tl.zoomedLanes(model, does.shown(), (view.top + does.shown().bottom) / 2, factor));
      const upDown = (sign) =>
        event.shiftKey ? taller(sign < 0 ? 1.5 : 1 / 1.5) : show(tl.panned(model, view, 0, sign * rows));
      return {
        ArrowLeft: show(tl.panned(model, view, -seconds, 0)),
        ArrowRight: show(tl.panned(model, view, seconds, 0)),
        ArrowUp: upDown(-1),
        ArrowDown: upDown(1),
        "+": zoom(1.5),
        "=": zoom(1.5),
        "-": zoom(1 / 1.5),
        0: () => does.change({ view: tl.whole(model) }, true),
        Home: show(tl.panned(model, view, -model.span, 0)),
        End: show(tl.panned(model, view, model.span, 0)),
        n: () => does.step(1),
        p: () => does.step(-1),
        Enter: () => does.selectNear(),
        Escape: () => does.select(-1),
      };
    }

    let moving = false;
    const moveTo = (event) => {
      const width = whole.clientWidth - 84;
      const at = ((point(event, whole)[0] - 84) / width) * getModel().span;
      const half = (look.view.to - look.view.from) / 2;
      does.change({ view: tl.within(getModel(), { ...look.view, from: at - half, to: at + half }) });
    };
    whole.addEventListener("pointerdown", (event) => {
      moving = true;
      whole.setPointerCapture(event.pointerId);
      moveTo(event);
    });
    whole.addEventListener("pointermove", (event) => moving && moveTo(event));
    whole.addEventListener("pointerup", () => {
      moving = false;
    });
  }

  function spreadOf(touching) {
    const [a, b] = [...touching.values()];
    return b === undefined ? 0 : Math.hypot(a[0] - b[0], a[1] - b[1]);
  }

  Object.assign(rtrace.timeline, { listen });
})();
