"use strict";

// textual.js marks the body when the socket is open, when the first byte is there, and when it has closed.
window.addEventListener("DOMContentLoaded", () => {
  const focus = () => {
    const isClosed = document.body.classList.contains("-closed");
    const element = document.querySelector(isClosed ? "#ended a" : ".xterm-helper-textarea");
    if (element) element.focus();
  };
  new MutationObserver(focus).observe(document.body, { attributes: true, attributeFilter: ["class"] });
});
