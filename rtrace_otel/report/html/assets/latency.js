"use strict";
/** How long attempts run and groups wait for their last one: curves that show the tail. */
(() => {
  const { el } = rtrace;
  const { count, seconds } = rtrace.format;

  const CURVES = [
    ["sealed", "sealed attempts", "blue"],
    ["abandoned", "abandoned attempts", "orange"],
    ["stragglers", "straggler gap of groups", "green"],
  ];
  const present = (data) => CURVES.filter(([name]) => data.tables[name].rows > 0);

  /** Curves over the same seconds, as a chart needs them: of each, the share that lasted at least as long. */
  function joined(data) {
    const curves = present(data).map(([name]) => data.tables[name]);
    const all = new Set();
    curves.forEach((curve) => curve.seconds.forEach((value) => value > 0 && all.add(value)));
    const x = Float64Array.from(all).sort();
    const shares = curves.map((curve) => {
      const most = curve.left[0];
      let place = 0;
      return Array.from(x, (value) => {
        while (place < curve.rows && curve.seconds[place] < value) {
          place++;
        }
        return place < curve.rows ? curve.left[place] / most : null;
      });
    });
    return { x, shares };
  }

  function share(value) {
    return value === null || value === undefined || Number.isNaN(value) ? "-" : `${Number((100 * value).toPrecision(2))} %`;
  }

  rtrace.panel("latency", {
    title: "How many lasted longer",
    section: "latency",
    wanted: (data) => present(data).length > 0,
    draw(host, data) {
      const { x, shares } = joined(data);
      rtrace.lines(host, {
        label: "Share of attempts that ran at least so long, and of groups whose last attempt came so long after their median one; both axes are logarithmic.",
        height: 260,
        x: { label: "lasted at least", values: x, show: seconds, log: true, space: 80 },
        y: { label: "share", show: share, log: true },
        series: present(data).map(([, label, color], place) => ({ label, values: shares[place], color, width: 2, dash: place === 2 ? [6, 3] : undefined })),
      });
      const most = present(data).map(([name, label]) => `${count(data.tables[name].left[0])} ${label === "straggler gap of groups" ? "groups" : label}`);
      host.append(el("p", { class: "caption" }, `Of ${most.join(", ")}. With more than 1,000 values, a curve is at most 2 % off along its x axis.`));
    },
    state: () => Object.fromEntries(present(rtrace.data).map(([name]) => [name, rtrace.plain(rtrace.data.tables[name], ["seconds", "left"])])),
  });

  rtrace.panel("phases", {
    title: "From one stage to the next",
    section: "latency",
    draw(host, data) {
      host.append(...rtrace.blocks(data.doc.texts.latency));
    },
    state: () => rtrace.data.doc.results.latencies,
  });
})();
