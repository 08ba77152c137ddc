"use strict";
/** How numbers are shown; the same rules as `report/numbers.py`. */
(() => {
  const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);
  const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

  function count(value) {
    return known(value) ? grouped.format(value) : "-";
  }

  /** A large number in few characters: `950`, `12.3k`, `4.5M`. */
  function short(value) {
    if (!known(value)) {
      return "-";
    }
    for (const [limit, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
      if (Math.abs(value) >= limit) {
        return `${Number((value / limit).toPrecision(3))}${letter}`;
      }
    }
    return String(Number(value.toPrecision(3)));
  }

  function age(value) {
    return known(value) ? value.toFixed(3) : "-";
  }

  function percent(value) {
    return known(value) ? `${(100 * value).toFixed(0)} %` : "-";
  }

  function seconds(value) {
    if (!known(value)) {
      return "-";
    }
    if (Math.round(1000 * value) < 1000) {
      return `${(1000 * value).toFixed(0)} ms`;
    }
    if (Math.round(10 * value) < 600) {
      return `${value.toFixed(1)} s`;
    }
    const whole = Math.round(value);
    if (whole < 3600) {
      return `${Math.floor(whole / 60)} min ${whole % 60} s`;
    }
    const minutes = Math.floor(whole / 60);
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  /** A round duration for an axis: `30 min`, `2 h`, `1 h 30 min`. */
  function roundSeconds(value) {
    if (value < 60) {
      return value < 1 && value > 0 ? `${Number((1000 * value).toPrecision(3))} ms` : `${Number(value.toPrecision(3))} s`;
    }
    return seconds(value).replace(/ 0 (s|min)$/, "");
  }

  /** A point in time, in UTC, to the second. */
  function moment(value) {
    return known(value) ? new Date(1000 * value).toISOString().slice(0, 19).replace("T", " ") : "-";
  }

  rtrace.format = { known, count, short, age, percent, seconds, roundSeconds, moment };
})();
