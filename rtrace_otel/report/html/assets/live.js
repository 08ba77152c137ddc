"use strict";
/** Keeps the page up to date: takes the parts that changed, and says whether it is live, paused or cut off. */
(() => {
  const { el } = rtrace;
  const dot = el("span", { class: "dot", "aria-hidden": "true" });
  const words = el("span", { role: "status" });
  const since = el("span", {});
  const button = el("button", { type: "button", class: "quiet", onclick: () => pause(!paused) }, "pause");
  const bar = el("p", { class: "live", id: "live" }, dot, words, since, button);

  let paused = false;
  let connected = false;
  let state = null;
  let heard = 0;
  let known = { epoch: "", version: 0 };
  let held = null;
  let stream = null;
  let work = Promise.resolve();

  /** Begins to follow; called by the page with what it holds. */
  function follow(epoch, version, back) {
    known = { epoch, version };
    if (back) {
      bar.append(" ", el("a", { href: "../../" }, "all traces"));
    }
    document.querySelector("header.top .names").append(bar);
    rtrace.ready.then(connect);
    document.addEventListener("visibilitychange", () => (document.hidden ? leave() : connect()));
    setInterval(say, 1000);
    say();
  }

  /** A page that nobody sees is not kept up to date: browsers open few connections to one address. */
  function leave() {
    stream?.close();
    stream = null;
    connected = false;
  }

  function connect() {
    if (document.hidden || stream) {
      return;
    }
    stream = new EventSource(`events?epoch=${encodeURIComponent(known.epoch)}&version=${known.version}`);
    stream.onopen = () => {
      connected = true;
      say();
    };
    stream.onerror = () => {
      leave(); // the browser itself would ask again for what this page has by now
      say();
      setTimeout(connect, 1000);
    };
    stream.addEventListener("state", (event) => {
      state = JSON.parse(event.data);
      heard = performance.now();
      say();
    });
    stream.addEventListener("parts", (event) => {
      const told = JSON.parse(event.data);
      known = { epoch: told.epoch, version: told.version };
      held = { ...held, ...told.parts };
      if (!paused) {
        show();
      }
    });
  }

  function pause(wanted) {
    paused = wanted;
    button.textContent = paused ? "go on" : "pause";
    if (!paused) {
      show();
    }
    say();
  }

  /** Draws what came; one after the other, so that an older part never replaces a newer one. */
  function show() {
    const parts = held;
    held = null;
    if (parts) {
      work = work.then(() => draw(parts));
    }
  }

  async function draw(parts) {
    const data = { ...rtrace.data, tables: { ...rtrace.data.tables } };
    for (const [name, value] of Object.entries(parts)) {
      if (name.startsWith("tables.")) {
        data.tables[name.slice("tables.".length)] = await rtrace.unpack(value);
      } else if (name === "document") {
        data.doc = await rtrace.unpackJson(value);
      } else if (name === "head") {
        data.head = value;
      }
    }
    if (parts.title) {
      document.title = parts.title;
      document.querySelector("header.top h1").textContent = parts.title;
    }
    if (parts.about) {
      document.querySelector("header.top .about").textContent = parts.about;
    }
    if (parts.opening) {
      document.querySelector(".verdict").replaceChildren(...parts.opening.map((text) => el("p", {}, text)));
    }
    const top = scrollY;
    rtrace.draw(data);
    scrollTo({ top, behavior: "instant" });
    document.documentElement.dataset.version = String(known.version);
  }

  function ago() {
    if (!state || state.last_row === null) {
      return "no row yet";
    }
    const seconds = Math.max(0, state.now - state.last_row + (performance.now() - heard) / 1000);
    return `last row ${rtrace.format.seconds(Math.floor(seconds))} ago`;
  }

  function say() {
    const now = paused ? "paused" : connected ? "live" : "lost";
    bar.dataset.state = now;
    const texts = { paused: "Paused", live: "Live", lost: "Connection lost, trying again" };
    const problem = state && (state.problem || (state.missing ? "the file is not there" : null));
    const behind = state && state.behind ? `${Math.ceil(state.behind / 1e6)} MB left to read` : null;
    const next = [texts[now], problem, behind].filter(Boolean).join(" · ");
    if (words.textContent !== next) {
      words.textContent = next; // a screen reader is told only what changed
    }
    since.textContent = state ? ` · ${ago()} · ` : " ";
  }

  rtrace.follow = follow;
  rtrace.live = () => ({ paused, connected, state, version: known.version });
})();
