/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table that can be sorted and searched. Of many rows some are shown at a time, so that a page
 * of 20 000 functions is as quick as one of twenty. */
"use strict";

const ROWS_AT_A_TIME = 100;

function tableState(table, rows) {
  return {
    table, columns: shownColumns(table), all: rows, rows, shown: ROWS_AT_A_TIME, sorted: null,
    descending: false, filter: "",
  };
}

function matches(state, row, words) {
  if (row.searched === undefined) {
    row.searched = state.columns.map((own) => own.text(row)).join("\n").toLowerCase();
  }
  return words.every((word) => row.searched.includes(word));
}

function select(state) {
  const words = state.filter.toLowerCase().split(/\s+/).filter((word) => word !== "");
  state.rows = words.length === 0 ? state.all
    : state.all.filter((row) => matches(state, row, words));
  if (state.sorted !== null) {
    state.rows = sortRows(state.rows, state.sorted, state.descending);
  }
}

/* Where a name leads: to the page of its function, known by the address beside it. */
const ADDRESS_OF = { caller: "caller_address", callee: "callee_address", function: "function_address" };

function linkOf(state, own, row) {
  const beside = ADDRESS_OF[own.name];
  let index = beside === undefined ? -1 : column(state.table, beside);
  if (index < 0 && own.name === "function") {
    const address = functionByName(row[own.index]);
    return address === undefined ? null : functionLink(address, own.text(row));
  }
  if (index < 0 || row[index] === null || row[own.index] === null) {
    return null;
  }
  return functionLink(row[index], own.text(row));
}

function cell(state, own, row) {
  const link = linkOf(state, own, row);
  const node = element("td", {}, link === null ? own.text(row) : link);
  node.className = own.number ? "number" : own.kind === "text" ? "name" : "";
  if (own.kind === "file" && row[own.index] !== null) {
    node.title = row[own.index];
  } else if (own.kind === "text" && row[own.index] !== null) {
    node.title = row[own.index];
  }
  return node;
}

function heading(state, own, refresh) {
  const button = element("button", { type: "button" }, own.title);
  if (own.unit) {
    button.append(element("small", {}, own.unit));
  }
  const node = element("th", { scope: "col" }, button);
  node.className = own.number ? "number" : "";
  button.addEventListener("click", () => {
    /* Numbers are asked for from the top, names from the start. */
    state.descending = state.sorted === own ? !state.descending : own.number;
    state.sorted = own;
    refresh();
  });
  return node;
}

function tableView(name, rows, label) {
  const state = tableState(report.tables[name], rows);
  const body = element("tbody");
  const status = element("span", { role: "status", class: "note" });
  const more = element("button", { type: "button", class: "more" }, "Show more");
  const search = element("input", {
    type: "search", placeholder: "Filter", "aria-label": "Filter: " + label,
  });
  const headings = [];
  const refresh = () => {
    select(state);
    const shownRows = state.rows.slice(0, state.shown);
    body.replaceChildren(...shownRows.map((row) =>
      element("tr", {}, ...state.columns.map((own) => cell(state, own, row)))));
    status.textContent = `${grouped(shownRows.length)} of ${grouped(state.rows.length)} rows` +
      (state.rows.length === state.all.length ? "" : `, of ${grouped(state.all.length)} in all`);
    more.hidden = shownRows.length === state.rows.length;
    headings.forEach((node, i) => node.setAttribute("aria-sort",
      state.sorted !== state.columns[i] ? "none" : state.descending ? "descending" : "ascending"));
  };
  headings.push(...state.columns.map((own) => heading(state, own, refresh)));
  search.addEventListener("input", () => {
    state.filter = search.value;
    state.shown = ROWS_AT_A_TIME;
    refresh();
  });
  more.addEventListener("click", () => {
    state.shown += 10 * ROWS_AT_A_TIME;
    refresh();
  });
  refresh();
  const tools = element("div", { class: "tools" }, search, status);
  const grid = element("table", {}, element("thead", {}, element("tr", {}, ...headings)), body);
  grid.setAttribute("aria-label", label);
  return element("div", { class: "table", "data-table": name }, tools,
                 element("div", { class: "scroll" }, grid), more);
}

/* A table under its heading, with what to know before one believes it. */
function tableSection(name) {
  const table = report.tables[name];
  const section = element("section", {}, element("h2", {}, table.title));
  if (table.note !== null) {
    section.append(element("p", { class: "note" }, table.note));
  }
  if (table.left_out !== 0) {
    section.append(element("p", { class: "note" },
                           `${grouped(table.left_out)} more rows are not in this page.`));
  }
  section.append(tableView(name, table.rows, table.title));
  return section;
}
