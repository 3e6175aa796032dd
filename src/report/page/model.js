/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the report says, and how a value is shown. Rows are arrays, in the order of the columns. */
"use strict";

const report = JSON.parse(document.getElementById("data").textContent);

/* Index of a column; -1 where the table has none of that name. */
function column(table, name) {
  return table.columns.findIndex((c) => c.name === name);
}

/* The rows as objects, for code that asks for columns by name. */
function rowsOf(name) {
  const table = report.tables[name];
  if (table === undefined) {
    return [];
  }
  if (table.objects === undefined) {
    table.objects = table.rows.map((row) => {
      const object = {};
      table.columns.forEach((c, i) => { object[c.name] = row[i]; });
      return object;
    });
  }
  return table.objects;
}

function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

function percent(share) {
  return (100 * share).toFixed(1) + " %";
}

function shown(kind, value) {
  if (value === null) {
    return "–";
  }
  switch (kind) {
  case "count":
    return grouped(value);
  case "share":
  case "low":
  case "high":
    return percent(value);
  case "number":
    return value.toFixed(2);
  default:
    return String(value);
  }
}

/* Not Math.max(...values): of so many values as a large function has, no function takes one each. */
function greatest(values) {
  return values.reduce((most, value) => Math.max(most, value), -Infinity);
}

function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

/* Columns as they are shown: an interval, and a file with its line, are one. */
function shownColumns(table) {
  const result = [];
  table.columns.forEach((c, i) => {
    if (c.kind === "high" || c.kind === "line") {
      return;
    }
    const own = { index: i, unit: c.unit, title: c.name.replace(/_/g, " "), kind: c.kind, name: c.name };
    own.number = ["count", "share", "low", "number"].includes(c.kind);
    own.text = (row) => shown(c.kind, row[i]);
    if (c.kind === "low") {
      own.title = "95 % interval";
      own.text = (row) => (row[i] === null ? "–"
        : (100 * row[i]).toFixed(1) + "–" + percent(row[i + 1]));
    }
    if (c.kind === "file") {
      own.title = "source";
      own.text = (row) => (row[i] === null ? "–"
        : baseName(row[i]) + (row[i + 1] === null ? "" : ":" + row[i + 1]));
    }
    result.push(own);
  });
  return result;
}

/* What a row is sorted by; what is unknown comes last either way. */
function sortKey(own, row) {
  const value = row[own.index];
  if (value === null) {
    return null;
  }
  return own.kind === "address" ? parseInt(value, 16) : value;
}

function compareKeys(a, b) {
  if (typeof a === "string" || typeof b === "string") {
    return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
  }
  return a - b;
}

function sortRows(rows, own, descending) {
  const keyed = rows.map((row, i) => ({ row, i, key: sortKey(own, row) }));
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) {
      return (a.key === null) - (b.key === null) || a.i - b.i;
    }
    const order = compareKeys(a.key, b.key);
    return (descending ? -order : order) || a.i - b.i;
  });
  return keyed.map((k) => k.row);
}
