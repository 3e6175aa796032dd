/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Plots: probability against mispredictions, histograms. */
"use strict";

const DOTS_MAX = 1500;

/* Conditional branches: how often taken, how often mispredicted; the area is how often they ran. */
function probabilityPlot() {
  const rows = rowsOf("branches").filter((row) =>
    row.taken_probability !== null && row.mispredict_rate !== null).slice(0, DOTS_MAX);
  if (rows.length === 0) {
    return null;
  }
  const most = greatest(rows.map((row) => row.executions));
  const svg = canvas(640, 340, "Taken probability against mispredict rate of conditional branches");
  svg.id = "probability";
  svg.append(drawing("path", { class: "axis", d: "M50 20V290H620" }));
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(textAt(50 + 560 * share, 308, percent(share), "middle"));
    svg.append(textAt(44, 294 - 270 * share, percent(share), "end"));
  }
  svg.append(textAt(330, 330, "taken probability", "middle"));
  svg.append(textAt(54, 14, "mispredicted, of taken"));
  for (const row of rows) {
    const dot = drawing("circle", {
      class: "dot", cx: 50 + 560 * row.taken_probability, cy: 290 - 270 * row.mispredict_rate,
      r: 2 + 12 * Math.sqrt(row.executions / most),
    });
    dot.append(drawing("title", {}, `${row.function} ${row.address}: ` +
      `${grouped(row.executions)} times, ${percent(row.taken_probability)} taken, ` +
      `${percent(row.mispredict_rate)} mispredicted`));
    svg.append(dot);
  }
  return svg;
}

/* Which tables are distributions: of what, along which value, in whose colours. */
const DISTRIBUTIONS = {
  latency: { table: "cycle_histograms", keys: ["of", "start", "end"], value: "cycles",
             counts: ["count"] },
  loops: { table: "trip_counts", keys: ["header"], value: "trips", counts: ["complete", "cut"] },
};
const BARS_MAX = 120; /* values beyond are added up in bars of several */

/* Bars of { from, to, counts } from the least value to the most. */
function barsOf(rows, kind) {
  const values = rows.map((row) => row[kind.value]);
  const least = values.reduce((low, value) => Math.min(low, value), Infinity);
  const step = Math.ceil((greatest(values) - least + 1) / BARS_MAX);
  const bars = [];
  for (const row of rows) {
    const i = Math.floor((row[kind.value] - least) / step);
    const from = least + i * step;
    bars[i] ||= { from, to: from + step - 1, counts: kind.counts.map(() => 0) };
    kind.counts.forEach((name, k) => { bars[i].counts[k] += row[name]; });
  }
  return Array.from(bars, (bar, i) => bar ||
    { from: least + i * step, to: least + (i + 1) * step - 1, counts: kind.counts.map(() => 0) });
}

/* To the scale of the highest bar; what is counted second stands on the first. */
function histogram(bars, kind, label) {
  const most = greatest(bars.map((bar) => bar.counts.reduce((sum, count) => sum + count, 0)));
  const svg = canvas(640, 180, label);
  svg.classList.add("histogram");
  const width = Math.min(600 / bars.length, 40);
  bars.forEach((bar, i) => {
    let y = 150;
    bar.counts.forEach((count, k) => {
      const height = 140 * count / most;
      y -= height;
      const box = drawing("rect", { class: k === 0 ? "bar" : "bar second", x: 30 + i * width, y,
                                    width: Math.max(width - 1, 0.5), height });
      box.append(drawing("title", {}, `${bar.from === bar.to ? bar.from : bar.from + "–" + bar.to} ` +
        `${kind.value}: ${grouped(count)} ${kind.counts[k] === "count" ? "times" : kind.counts[k]}`));
      svg.append(box);
    });
    if (i % Math.ceil(bars.length / 12) === 0) {
      svg.append(textAt(30 + (i + 0.5) * width, 165, String(bar.from), "middle"));
    }
  });
  svg.append(drawing("path", { class: "axis", d: "M30 5V150H635" }),
             textAt(635, 178, kind.value, "end"));
  return svg;
}

/* One distribution at a time, chosen from those there are; they come with the busiest first. */
function distributionView(section) {
  const kind = DISTRIBUTIONS[section];
  const groups = new Map();
  for (const row of kind === undefined ? [] : rowsOf(kind.table)) {
    const key = kind.keys.map((name) => row[name]).join(" ");
    if (!groups.has(key)) {
      groups.set(key, []);
    }
    groups.get(key).push(row);
  }
  if (groups.size === 0) {
    return null;
  }
  const label = "Distribution of " + kind.value;
  const choice = element("select", { "aria-label": label }, ...[...groups].map(([key, rows]) =>
    element("option", { value: key }, `${rows[0].function}: ${key}`)));
  const place = element("div", {});
  const draw = () => place.replaceChildren(
    histogram(barsOf(groups.get(choice.value), kind), kind, `${label}: ${choice.value}`));
  choice.addEventListener("change", draw);
  draw();
  return element("div", { id: "distribution" }, element("div", { class: "tools" }, choice), place);
}
