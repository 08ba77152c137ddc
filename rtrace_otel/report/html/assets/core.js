"use strict";
/**
 * The page: panels, elements, theme. Every other script of the page hangs on the one global `rtrace`.
 *
 * A panel is one picture or table with a heading. Panels stand in the order in which scripts register them:
 *
 *     rtrace.panel("age", {
 *       title: "Batch age per step",          // heading, and its line in the contents
 *       section: "staleness",                 // id of one of SECTIONS; else a section of its own
 *       wanted: (data) => data.doc.x !== null, // optional: whether there is anything to show
 *       half: true,                           // optional: stands beside another one where the screen is wide
 *       draw: (host, data) => {...},          // builds it under `host` (empty); called again for new data or a new theme
 *       update: (data) => {...},              // optional: takes new data where it stands, so that focus and drags stay
 *       state: () => ({...}),                 // what is drawn, as plain values: tests and links read it
 *     });
 *
 * `data` is `{head, doc, tables}`: the head and document of the Python module `data.py`, and its packed tables,
 * each `{rows, NAME: values}` (Float64Array with NaN for unknown, or an array of texts with null).
 */
(() => {
  const SECTIONS = [
    ["overview", "Overview"],
    ["stops", "Stops and restores"],
    ["timeline", "Timeline"],
    ["staleness", "Staleness"],
    ["flow", "Flow"],
    ["waste", "Waste"],
    ["latency", "Latency"],
    ["pauses", "Refits and checkpoints"],
    ["tables", "Tables"],
    ["trust", "Can it be trusted"],
    ["definitions", "Definitions"],
  ];

  /** @type {Map<string, object>} */
  const registered = new Map();
  const painters = new Set();

  /**
   * An element. Children are elements, or texts, which are never read as HTML.
   * @param {string} tag
   * @param {Object<string, string|number|boolean|function|null>} [attributes] names that begin with "on" are listeners
   * @param {...(Node|string|number|null)} children
   */
  function el(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") {
        element.addEventListener(name.slice(2), value);
      } else if (value !== null && value !== false) {
        element.setAttribute(name, value === true ? "" : String(value));
      }
    }
    for (const child of children) {
      if (child !== null) {
        element.append(child instanceof Node ? child : String(child));
      }
    }
    return element;
  }

  /** A colour of the theme: the value of the CSS variable `--NAME`. */
  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  /** Whether dark colours are on. */
  function isDark() {
    return document.documentElement.dataset.theme === "dark";
  }

  /**
   * Registers what must be painted again when the theme or the width of its element changes.
   * @param {Element} element painting ends when it leaves the page
   * @param {(why: "theme"|"size") => void} paint
   */
  function onPaint(element, paint) {
    const entry = { element, paint, width: element.clientWidth };
    painters.add(entry);
    observer.observe(element);
  }

  function repaint(why) {
    for (const entry of painters) {
      if (!entry.element.isConnected) {
        observer.unobserve(entry.element);
        painters.delete(entry);
      } else if (why !== "size" || entry.element.clientWidth !== entry.width) {
        entry.width = entry.element.clientWidth;
        entry.paint(why);
      }
    }
  }

  let waiting = false;
  const observer = new ResizeObserver(() => {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        repaint("size");
      });
    }
  });

  /** @param {"light"|"dark"} theme */
  function setTheme(theme) {
    if (document.documentElement.dataset.theme !== theme) {
      document.documentElement.dataset.theme = theme;
      repaint("theme");
    }
  }

  /** Registers a panel; see the head of this file. */
  function panel(id, spec) {
    registered.set(id, spec);
    rtrace.panels[id] = { title: spec.title, state: spec.state || (() => null) };
  }

  function place(id, spec) {
    const known = SECTIONS.find(([name]) => name === spec.section);
    const name = known ? known[0] : id;
    let section = document.getElementById(`section-${name}`);
    if (!section) {
      const heading = el("h2", {}, known ? known[1] : spec.title);
      section = el("section", { id: `section-${name}`, class: "section" }, heading);
      const later = SECTIONS.slice(known ? SECTIONS.indexOf(known) + 1 : SECTIONS.length);
      const next = later.map(([other]) => document.getElementById(`section-${other}`)).find(Boolean);
      document.querySelector("main").insertBefore(section, next || null); // a page that follows a file gets sections later
    }
    const host = el("div", { class: "panel-body" });
    const heading = spec.title && known ? el("h3", {}, spec.title) : null;
    section.append(el("article", { id: `panel-${id}`, class: spec.half ? "panel half" : "panel", "data-panel": id }, heading, host));
    return host;
  }

  /** Draws every panel that has something to show; called again when a page that follows a file has new data. */
  function draw(data) {
    rtrace.data = data;
    for (const [id, spec] of registered) {
      const old = document.getElementById(`panel-${id}`);
      if (spec.wanted && !spec.wanted(data)) {
        if (old) {
          old.remove();
        }
        continue;
      }
      if (old && spec.update) {
        spec.update(data);
        continue;
      }
      const host = old ? old.querySelector(".panel-body") : place(id, spec);
      const height = host.offsetHeight;
      const open = [...host.querySelectorAll("details")].map((details) => details.open);
      host.style.minHeight = `${height}px`; // no jump of the page while it is empty
      host.replaceChildren();
      spec.draw(host, data);
      host.querySelectorAll("details").forEach((details, place) => {
        details.open = details.open || Boolean(open[place]); // what the reader has opened stays open
      });
      host.style.minHeight = "";
    }
    contents();
  }

  function contents() {
    const list = document.getElementById("contents");
    const links = [...document.querySelectorAll("main > .section")].map((section) =>
      el("li", {}, el("a", { href: `#${section.id}` }, section.querySelector("h2").textContent)),
    );
    list.replaceChildren(...links);
  }

  const rtrace = {
    SECTIONS,
    panels: {},
    data: null,
    ready: null,
    el,
    color,
    isDark,
    onPaint,
    setTheme,
    panel,
    draw,
  };
  window.rtrace = rtrace;
})();
