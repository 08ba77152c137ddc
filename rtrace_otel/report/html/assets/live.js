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
  let pressed = false;
  let drawn = performance.now();

  /** Begins to follow; called by the page with what it holds. */
  function follow(epoch, version, back) {
    known = { epoch, version };
    if (back) {
      bar.append(" ", el("a", { href: "../../" }, "all traces"));
    }
    document.querySelector("header.top .names").append(bar);
    rtrace.ready.then(connect);
    document.addEventListener("visibilitychange", () => (document.hidden ? leave() : connect()));
    addEventListener("pointerdown", () => (pressed = true));
    addEventListener("pointerup", () => (pressed = false));
    addEventListener("pointercancel", () => (pressed = false));
    setInterval(() => {
      show();
      say();
    }, 1000);
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
      show();
      say();
    });
  }

  /** Whether a person is in the middle of something that drawing anew would take away. */
  function busy() {
    const typing = document.activeElement?.matches("main input, main textarea, main select");
    return pressed || typing || getSelection()?.isCollapsed === false;
  }

  function pause(wanted) {
    paused = wanted;
    button.textContent = paused ? "go on" : "pause";
    show();
    say();
  }

  /** Draws what came, if nothing is against it; one after the other, so that an older part never replaces a newer one. */
  function show() {
    if (held && !paused && !busy()) {
      const parts = held;
      held = null;
      work = work.then(() => draw(parts));
    }
  }

  async function draw(parts) {
    const packed = Object.entries(parts).flatMap(([part, text]) => {
      const name = part.startsWith("tables.") ? part.slice("tables.".length) : part;
      return name === part && part !== "document" ? [] : [[name, text]];
    });
    const unpacked = await Promise.all(packed.map(async ([name, text]) => [name, await rtrace.unpackPart(name, text)]));
    unpacked.forEach(([name, value]) => rtrace.parts.set(name, value));
    const data = rtrace.whole(parts.head || rtrace.data.head, rtrace.parts);
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
    const restore = kept();
    drawn = performance.now();
    rtrace.draw(data);
    restore();
    document.documentElement.dataset.version = String(known.version);
  }

  /** Remembers what drawing anew loses, and gives what brings it back: scrolling, what is unfolded, the focus. */
  function kept() {
    const find = (selector) => [...document.querySelectorAll("main .panel")].flatMap((panel) =>
      [...panel.querySelectorAll(selector)].map((element, place) => [`${panel.id} ${selector} ${place}`, element]),
    );
    const top = scrollY;
    const scrolled = new Map(find(".scroll").map(([key, element]) => [key, [element.scrollLeft, element.scrollTop]]));
    const open = new Set(find("details").filter(([, element]) => element.open).map(([key]) => key));
    const active = document.activeElement;
    const alike = active?.closest("main .panel") ? [active.localName, ...active.classList].join(".") : null;
    const focused = alike && find(alike).find(([, element]) => element === active);
    return () => {
      for (const [key, element] of find(".scroll")) {
        [element.scrollLeft, element.scrollTop] = scrolled.get(key) || [0, 0];
      }
      for (const [key, element] of find("details")) {
        element.open ||= open.has(key);
      }
      const again = focused && find(alike).find(([key]) => key === focused[0]);
      again?.[1].focus({ preventScroll: true });
      scrollTo({ top, behavior: "instant" });
    };
  }

  function ago() {
    if (!state || state.last_row === null) {
      return "no row yet";
    }
    const seconds = Math.max(0, state.now - state.last_row + (performance.now() - heard) / 1000);
    if (seconds > 86400) {
      return `last row at ${rtrace.format.moment(state.last_row)} UTC`;
    }
    return `last row ${rtrace.format.seconds(Math.floor(seconds))} ago`;
  }

  /** How old the numbers are, if the file has more rows than they tell of: a large trace is told of seldom. */
  function behindBy() {
    const seconds = Math.floor((performance.now() - drawn) / 1000);
    const shown = rtrace.data?.doc.results.summary.rows;
    return seconds >= 3 && shown !== state.rows ? `numbers of ${rtrace.format.seconds(seconds)} ago · ` : "";
  }

  function say() {
    const now = paused ? "paused" : connected ? "live" : "lost";
    bar.dataset.state = now;
    const texts = { paused: "Paused", live: "Live", lost: "Connection lost, trying again" };
    const problem = state && (state.problem || (state.missing ? "the file is not there" : null));
    const behind = state && state.behind ? `${Math.ceil(state.behind / 1e6)} MB left to read` : null;
    const waits = held && !paused ? "new data waits until you are done" : null;
    const next = [texts[now], problem, behind, waits].filter(Boolean).join(" · ");
    if (words.textContent !== next) {
      words.textContent = next; // a screen reader is told only what changed
    }
    since.textContent = state ? ` · ${ago()} · ${behindBy()}` : " ";
  }

  rtrace.follow = follow;
  rtrace.live = () => ({ paused, connected, state, version: known.version });
})();
