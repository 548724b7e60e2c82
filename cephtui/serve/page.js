"use strict";

const COLUMNS = 80, ROWS = 24;
const COLUMN_EM = 0.603, ROW_EM = 1.32; // of the widest and of the highest of the fonts
const LEAST_PIXELS = 6;

// In a small window the font is so small that all fits. textual.js takes its size when the page is loaded.
const fitFont = () => {
  const terminal = document.querySelector("#terminal");
  const most = Math.min(terminal.clientWidth / COLUMNS / COLUMN_EM, terminal.clientHeight / ROWS / ROW_EM);
  terminal.dataset.fontSize = Math.max(LEAST_PIXELS, Math.min(terminal.dataset.fontSize, Math.floor(most)));
};

// textual.js marks the body when the socket is open, when the first byte is there, and when it has closed.
window.addEventListener("DOMContentLoaded", () => {
  fitFont();
  const focus = () => {
    const isClosed = document.body.classList.contains("-closed");
    const element = document.querySelector(isClosed ? "#ended a" : ".xterm-helper-textarea");
    if (element) element.focus();
  };
  new MutationObserver(focus).observe(document.body, { attributes: true, attributeFilter: ["class"] });
});
