"use strict";
/** Who waited for whom: where the wall time went. */
(() => {
  rtrace.panel("flow", {
    title: "",
    section: "flow",
    draw(host, data) {
      host.append(...rtrace.blocks(data.doc.texts.flow));
    },
    state: () => rtrace.data.doc.texts.flow,
  });
})();
