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
  const most = Math.max(...rows.map((row) => row.executions));
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

/* Bars of { from, to, count, peak }, to the scale of the highest. */
function histogram(bars, label, unit) {
  const most = Math.max(...bars.map((bar) => bar.count));
  const svg = canvas(640, 180, label);
  svg.classList.add("histogram");
  const width = 600 / bars.length;
  bars.forEach((bar, i) => {
    const height = 140 * bar.count / most;
    const box = drawing("rect", {
      class: bar.peak ? "bar peak" : "bar", x: 30 + i * width, y: 150 - height,
      width: Math.max(width - 1, 0.5), height,
    });
    box.append(drawing("title", {}, `${bar.from === bar.to ? bar.from : bar.from + "–" + bar.to} ` +
      `${unit}: ${grouped(bar.count)}`));
    svg.append(box);
    if (i % Math.ceil(bars.length / 12) === 0) {
      svg.append(textAt(30 + i * width, 165, String(bar.from)));
    }
  });
  svg.append(drawing("path", { class: "axis", d: "M30 5V150H635" }));
  return svg;
}
