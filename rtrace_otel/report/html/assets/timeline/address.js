"use strict";
/** Keeps what is looked at in the address of the page, so that it can be linked to. */
(() => {
  const AFTER_MS = 250;

  /**
   * Gives a function that puts what is looked at into the address: as a step back for what was decided, in place, and a
   * moment later, for what only moved.
   * @param {() => string} hash what is looked at now
   */
  function address(hash) {
    let remembering = 0;
    return (keep) => {
      clearTimeout(remembering);
      const write = () => {
        const now = hash();
        if (now !== location.hash) {
          history[keep ? "pushState" : "replaceState"](null, "", now);
        }
      };
      if (keep) {
        write();
      } else {
        remembering = setTimeout(write, AFTER_MS);
      }
    };
  }

  Object.assign(rtrace.timeline, { address });
})();
