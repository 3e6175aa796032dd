/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The page of one function: its figures, who calls it and whom it calls, its graph and code. */
"use strict";

const INSTRUCTIONS_AT_A_TIME = 400;

let namesKnown = null;

/* Address of the only function of that name; undefined where there is none, or several. */
function functionByName(name) {
  if (namesKnown === null) {
    namesKnown = new Map();
    for (const row of rowsOf("functions")) {
      namesKnown.set(row.function, namesKnown.has(row.function) ? undefined : row.address);
    }
  }
  return namesKnown.get(name);
}

function figures(name, row) {
  const list = element("div", { class: "cards" });
  shownColumns(report.tables.functions).forEach((own) => {
    if (own.number && own.name !== "rank") {
      const value = own.text(report.tables.functions.rows[row]);
      list.append(element("div", { class: "card" }, element("b", {}, value),
                          own.title + (own.unit ? ", " + own.unit : "")));
    }
  });
  return list;
}

function partOf(name, owner, address, heading) {
  const table = report.tables[name];
  const index = table === undefined ? -1 : column(table, owner);
  const rows = index < 0 ? [] : table.rows.filter((row) => row[index] === address);
  if (rows.length === 0) {
    return [];
  }
  return [element("h2", {}, heading), tableView(name, rows, heading)];
}

function sourceOf(row) {
  return row.file === null ? "" : `${baseName(row.file)}:${row.line === null ? "?" : row.line}`;
}

function blockHeading(block) {
  const share = block.share === null ? "" : `, ${percent(block.share)} of all instructions`;
  return element("tr", { class: "block", id: "block" + block.block },
    element("td", { colspan: "5" }, `block ${block.block} · ${grouped(block.count)} times${share}`));
}

function instructionRow(row, most) {
  const node = element("tr", { class: "hot" },
    element("td", {}, row.address), element("td", { class: "number" }, grouped(row.count)),
    element("td", { class: "code" }, row.text), element("td", { title: row.file || "" }, sourceOf(row)),
    element("td", { class: "name" }, row.inlined === null ? "" : row.inlined));
  node.style.setProperty("--warm", Math.sqrt(row.count / (most + 1)).toFixed(3));
  return node;
}

/* Instructions below the headings of their blocks; `show` brings a block into view. */
function codeView(blocks, instructions) {
  const most = greatest(instructions.map((row) => row.count));
  const known = new Map(blocks.map((block) => [block.block, block]));
  const body = element("tbody");
  const more = element("button", { type: "button", class: "more" }, "Show more");
  let done = 0;
  const add = (least) => {
    const end = Math.min(instructions.length, Math.max(done + INSTRUCTIONS_AT_A_TIME, least));
    for (; done < end; done++) {
      const row = instructions[done];
      if (done === 0 || instructions[done - 1].block !== row.block) {
        body.append(blockHeading(known.get(row.block)));
      }
      body.append(instructionRow(row, most));
    }
    more.hidden = done === instructions.length;
  };
  more.addEventListener("click", () => add(0));
  add(0);
  const headings = ["address", "times", "instruction", "source", "inlined from"];
  const table = element("table", { id: "code", "aria-label": "Instructions" },
    element("thead", {}, element("tr", {}, ...headings.map((text) =>
      element("th", { scope: "col" }, text)))), body);
  const show = (block) => {
    add(1 + instructions.findLastIndex((row) => row.block === block.block));
    const target = document.getElementById("block" + block.block);
    target.setAttribute("tabindex", "-1");
    target.scrollIntoView({ block: "center" });
    target.focus();
  };
  return { view: element("div", {}, element("div", { class: "scroll" }, table), more), show };
}

function sourceRow(row, most) {
  const count = row.count === null ? 0 : row.count;
  const node = element("tr", { class: "hot" },
    element("td", { title: row.file }, baseName(row.file) + ":" + row.line),
    element("td", { class: "number" }, row.count === null ? "" : grouped(count)),
    element("td", { class: "code" }, row.text === null ? "" : row.text));
  node.style.setProperty("--warm", Math.sqrt(count / (most + 1)).toFixed(3));
  return node;
}

/* Nothing where no source file was found. */
function sourceView(lines) {
  if (lines.every((row) => row.text === null)) {
    return [];
  }
  const most = greatest(lines.map((row) => row.count));
  const body = element("tbody");
  lines.forEach((row) => body.append(sourceRow(row, most)));
  const table = element("table", { id: "source", "aria-label": "Source lines" },
    element("thead", {}, element("tr", {}, ...["line", "times", "text"].map((text) =>
      element("th", { scope: "col" }, text)))), body);
  return [element("h2", {}, "Source lines"), element("div", { class: "scroll" }, table)];
}

function codeSections(address) {
  const of = (name) => rowsOf(name).filter((row) => row.function_address === address);
  const blocks = of("blocks");
  const instructions = of("instructions");
  if (blocks.length === 0) {
    return [element("p", { class: "note" }, "Only the hottest functions have their code in this " +
      "page. br2pgo report --function NAME --html FILE makes one with this function's.")];
  }
  const code = codeView(blocks, instructions);
  return [element("h2", {}, "Control-flow graph"), graphView(blocks, of("block_edges"), code.show),
          ...sourceView(of("source")), element("h2", {}, "Instructions"), code.view];
}

function functionPage(address) {
  const rows = rowsOf("functions");
  const index = rows.findIndex((row) => row.address === address);
  if (index < 0) {
    return element("p", {}, "No function that ran starts at " + address + ".");
  }
  const row = rows[index];
  const source = sourceOf(row);
  return element("article", {},
    element("h2", { id: "function" }, row.function),
    element("p", { class: "note" }, `${address} ${row.file === null ? "" : `${row.file}:${row.line}`}`),
    figures(source, index),
    ...partOf("calls", "callee_address", address, "Callers"),
    ...partOf("calls", "caller_address", address, "Callees"),
    ...codeSections(address));
}
