"use strict";
/**
 * The filter of the timeline: words that must all hold.
 *
 * `prompt:17 step:3-9 reason:"server error"`. A word without a key is looked for in all ids and in the reason.
 */
(() => {
  const { runOf, groupOf, promptOf } = rtrace.timeline;

  const same = (text) => (value) => value !== null && value === text;
  const head = (text) => (value) => value !== null && value.startsWith(text);
  const plain = (text) => text.toLowerCase().replace(/[_-]/g, " ");
  const part = (text) => (value) => value !== null && plain(value).includes(plain(text));

  /** A test of numbers: `7`, `3-9`, `>4`, `<4`. */
  function range(text) {
    const two = /^(-?[\d.]+)-([\d.]+)$/.exec(text);
    const side = /^([<>])(-?[\d.]+)$/.exec(text);
    if (two) {
      return (value) => value >= Number(two[1]) && value <= Number(two[2]);
    }
    if (side) {
      return side[1] === "<" ? (value) => value < Number(side[2]) : (value) => value > Number(side[2]);
    }
    const wanted = text === "" ? NaN : Number(text);
    return Number.isNaN(wanted) ? null : (value) => value === wanted;
  }

  /** What a key looks at, and how. */
  const KEYS = {
    prompt: [same, promptOf],
    group: [head, groupOf],
    run: [head, runOf],
    attempt: [head, (model, row) => model.columns.id[row]],
    server: [head, (model, row) => model.columns.instance[row]],
    reason: [part, (model, row) => model.columns.reason[row]],
    outcome: [head, (model, row) => model.states[model.state[row]]],
    fate: [head, (model, row) => (model.fate[row] < 0 ? null : model.found.fates[model.fate[row]])],
    step: [range, (model, row) => model.columns.step[row]],
    generation: [range, (model, row) => model.columns.generation[row]],
    version: [range, (model, row) => model.version[row]],
    tokens: [range, (model, row) => model.columns.tokens[row]],
    seconds: [range, (model, row) => model.end[row] - model.start[row]],
    refusals: [range, (model, row) => model.columns.refusals[row]],
  };
  const ANYWHERE = ["prompt", "group", "run", "attempt", "reason"];

  /** The words of a filter: `[key or null, text]`. */
  function words(text) {
    return [...text.matchAll(/(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g)].map((found) => {
      const value = found[2] === undefined ? found[3] : found[2];
      const known = found[1] !== undefined && found[1] in KEYS;
      return known || found[1] === undefined ? [found[1] || null, value] : [null, `${found[1]}:${value}`];
    });
  }

  function testOf([key, text]) {
    if (key === null) {
      const tests = ANYWHERE.map((name) => [KEYS[name][0](text), KEYS[name][1]]);
      return (model, row) => tests.some(([test, value]) => test(value(model, row)));
    }
    const test = KEYS[key][0](text);
    return test && ((model, row) => test(KEYS[key][1](model, row)));
  }

  /**
   * Which attempts match.
   * @returns {{mask: Uint8Array, count: number, problem: string|null}}
   */
  function apply(model, text, hidden) {
    const parsed = words(text);
    const tests = parsed.map(testOf);
    const wrong = parsed.find((_, place) => tests[place] === null);
    const unknown = parsed.map(([key, word]) => key === null && /^([a-z]+):/.exec(word)).find(Boolean);
    const good = tests.filter((test) => test !== null);
    const mask = new Uint8Array(model.rows);
    let count = 0;
    for (let row = 0; row < model.rows; row++) {
      if (!hidden.has(model.states[model.state[row]]) && good.every((test) => test(model, row))) {
        mask[row] = 1;
        count++;
      }
    }
    return { mask, count, problem: problemOf(wrong, count === 0 && unknown) };
  }

  /** What is wrong with a filter. An id may look like a key that there is not, so that is wrong only if nothing matches. */
  function problemOf(wrong, unknown) {
    if (wrong) {
      return `${wrong[0]}: takes a number or a range such as 3-9, not ${wrong[1]}`;
    }
    return unknown ? `nothing matches, and ${unknown[1]} is no key: ${Object.keys(KEYS).join(", ")}` : null;
  }

  /** A word for a filter, quoted if need be. */
  const word = (key, text) => `${key}:${/\s/.test(text) ? `"${text}"` : text}`;

  Object.assign(rtrace.timeline, { KEYS: Object.keys(KEYS), filter: apply, filterWord: word });
})();
