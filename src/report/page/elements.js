/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Elements of the page. Texts of the report only ever become text, never markup. */
"use strict";

function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick") {
      node.addEventListener("click", value);
    } else {
      node.setAttribute(name, value);
    }
  }
  node.append(...children);
  return node;
}

function drawing(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function canvas(width, height, label) {
  return drawing("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label,
  });
}

function textAt(x, y, text, anchor) {
  return drawing("text", { x, y, "text-anchor": anchor || "start" }, text);
}

/* Enter and space do what a click does. */
function pressable(node, action) {
  node.setAttribute("tabindex", "0");
  node.addEventListener("click", action);
  node.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      action();
    }
  });
  return node;
}

function functionLink(address, name) {
  return element("a", { href: "#function=" + address }, name);
}
