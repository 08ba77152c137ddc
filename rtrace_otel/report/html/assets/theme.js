"use strict";
/** Sets the colours that the reader's system prefers before anything is painted. */
document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
