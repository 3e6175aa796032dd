/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sections, and which of them is shown: the part of the address behind '#' says it. */
"use strict";

const view = document.getElementById("view");

/* In the order of the report; tables of code are shown on the pages of functions. */
function sections() {
  const names = [];
  for (const table of Object.values(report.tables)) {
    if (table.section !== "code" && table.section !== "source" && !names.includes(table.section)) {
      names.push(table.section);
    }
  }
  return ["summary", ...names];
}

function card(value, label) {
  return element("div", { class: "card" }, element("b", {}, value), label);
}

function hottest() {
  return rowsOf("functions").slice(0, 10).map((row) => element("li", {},
    functionLink(row.address, row.function), ` ${percent(row.share || 0)}`));
}

function summary() {
  const box = element("div", {}, element("div", { class: "cards" },
    card(grouped(report.samples), "samples"), card(grouped(report.branch_records), "branch records"),
    card(grouped(rowsOf("functions").length), "functions that ran"),
    card(report.image.build_id === null ? "none" : report.image.build_id.slice(0, 12), "build-id")));
  const functions = hottest();
  if (functions.length !== 0) {
    box.append(element("h2", {}, "Hottest functions"), element("ol", {}, ...functions));
  }
  const flame = flameView();
  if (flame !== null) {
    box.append(element("h2", {}, "Calls"), element("p", { class: "note" },
      "Width: instructions executed by a function and what it calls, shared out to its callers as " +
      "their calls are; not what whole stacks would say."), element("div", { class: "scroll" }, flame));
  }
  return box;
}

function extras(section) {
  const plot = section === "branches" ? probabilityPlot() : distributionView(section);
  const title = section === "branches" ? "Taken and mispredicted" : "Distributions";
  return plot === null ? [] : [element("h2", {}, title), plot];
}

function sectionPage(section) {
  const names = Object.keys(report.tables).filter((name) => report.tables[name].section === section);
  return element("div", {}, ...extras(section), ...names.map(tableSection));
}

/* What somebody typed may be no address of anything. */
function chosenHash() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

function route() {
  const hash = chosenHash();
  const tab = hash.startsWith("function=") ? "functions" : sections().includes(hash) ? hash : "summary";
  for (const button of document.querySelectorAll("#tabs button")) {
    const selected = button.dataset.section === tab;
    button.setAttribute("aria-selected", String(selected));
    button.tabIndex = selected ? 0 : -1;
  }
  view.replaceChildren(hash.startsWith("function=") ? functionPage(hash.slice(9))
    : tab === "summary" ? summary() : sectionPage(tab));
  view.dataset.shown = hash === "" ? "summary" : hash;
}

/* Arrow keys go from tab to tab, as readers of tab lists expect. */
function moveTab(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const buttons = [...document.querySelectorAll("#tabs button")];
  const at = buttons.indexOf(document.activeElement);
  if (step !== undefined && at >= 0) {
    const next = buttons[(at + step + buttons.length) % buttons.length];
    next.focus();
    location.hash = next.dataset.section;
  }
}

function addTabs() {
  const tabs = document.getElementById("tabs");
  for (const section of sections()) {
    const button = element("button", { type: "button", role: "tab", "data-section": section,
      onclick: () => { location.hash = section; } }, section[0].toUpperCase() + section.slice(1));
    tabs.append(button);
  }
  tabs.addEventListener("keydown", moveTab);
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
}

document.getElementById("title").textContent = baseName(report.image.path);
document.title = baseName(report.image.path) + " – br2pgo report";
document.getElementById("recording").textContent =
  `${report.image.path}, br2pgo ${report.br2pgo}`;
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); /* the address says what is shown */
  view.focus();
});
document.getElementById("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
});
document.addEventListener("keydown", (event) => {
  const search = document.querySelector("#view input[type=search]");
  if (event.key === "/" && search !== null && document.activeElement.tagName !== "INPUT") {
    event.preventDefault();
    search.focus();
  }
});
addTabs();
window.addEventListener("hashchange", () => {
  route();
  window.scrollTo(0, 0);
});
route();
