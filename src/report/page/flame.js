/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who calls whom, as a picture: a function is as wide as the instructions that it and what it
 * calls executed. A callee's are shared out to its callers as their calls are: what branch
 * records tell is calls, not stacks. */
"use strict";

const FLAME_DEPTH = 16;
const FLAME_LEAST = 0.001; /* of all; narrower ones are not drawn */
const ROUNDS = 20;         /* of sharing out: longer chains of calls are rare */

/* By address: what a function executed itself, its calls out, its calls in. */
function callGraph() {
  const graph = new Map();
  for (const row of rowsOf("functions")) {
    graph.set(row.address, { address: row.address, name: row.function, own: row.executed,
                             out: [], into: 0, sum: row.executed });
  }
  for (const row of rowsOf("calls")) {
    const caller = graph.get(row.caller_address);
    const callee = graph.get(row.callee_address);
    if (caller !== undefined && callee !== undefined && caller !== callee) {
      caller.out.push({ callee, count: row.count });
      callee.into += row.count;
    }
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const node of graph.values()) {
      node.sum = node.out.reduce((sum, call) =>
        sum + call.callee.sum * (call.count / call.callee.into), node.own);
    }
  }
  return graph;
}

/* The tree below a call: `part` of the function is under it. A function that is on the way there
 * already is not entered again. */
function flameNode(node, part, way, all) {
  const result = { node, width: node.own * part, children: [] };
  if (way.length < FLAME_DEPTH) {
    for (const call of node.out) {
      const share = part * (call.count / call.callee.into);
      if (!way.includes(call.callee) && share * call.callee.sum >= FLAME_LEAST * all) {
        const child = flameNode(call.callee, share, [...way, call.callee], all);
        result.children.push(child);
        result.width += child.width;
      }
    }
  }
  result.children.sort((a, b) => b.width - a.width);
  return result;
}

function drawFlame(svg, tree, x, depth, scale) {
  const width = tree.width * scale;
  if (width < 1) {
    return depth;
  }
  const box = drawing("g", { class: "flame", role: "link", "aria-label": tree.node.name });
  const heat = 0.25 + 0.6 * (tree.node.own / (tree.node.sum + 1));
  box.append(drawing("rect", { x, y: 22 * depth, width, height: 21,
                               fill: `rgba(var(--heat), ${heat.toFixed(3)})` }));
  box.append(drawing("title", {}, `${tree.node.name}: ${grouped(Math.round(tree.width))} ` +
    `instructions, ${grouped(Math.round(tree.node.own))} of its own in all`));
  const letters = Math.floor(width / 7) - 1;
  if (letters >= 3) {
    const name = tree.node.name;
    box.append(textAt(x + 4, 22 * depth + 15,
                      name.length > letters ? name.slice(0, letters - 1) + "…" : name));
  }
  pressable(box, () => { location.hash = "function=" + tree.node.address; });
  svg.append(box);
  let deepest = depth;
  for (const child of tree.children) {
    deepest = Math.max(deepest, drawFlame(svg, child, x, depth + 1, scale));
    x += child.width * scale;
  }
  return deepest;
}

function addDrawn(tree, drawn) {
  drawn.add(tree.node);
  tree.children.forEach((child) => addDrawn(child, drawn));
}

/* Roots are functions that no other calls, then of those that call each other the busiest. */
function flameRoots(graph, all) {
  const nodes = [...graph.values()].filter((node) => node.sum >= FLAME_LEAST * all);
  nodes.sort((a, b) => (b.into === 0) - (a.into === 0) || b.own - a.own);
  const drawn = new Set();
  const roots = [];
  for (const node of nodes) {
    if (!drawn.has(node)) {
      const tree = flameNode(node, 1, [node], all);
      addDrawn(tree, drawn);
      roots.push(tree);
    }
  }
  return roots;
}

function flameView() {
  const graph = callGraph();
  const all = [...graph.values()].reduce((sum, node) => sum + node.own, 0);
  const roots = flameRoots(graph, all);
  if (roots.length === 0) {
    return null;
  }
  roots.sort((a, b) => b.width - a.width);
  const drawn = roots.reduce((sum, root) => sum + root.width, 0);
  const svg = canvas(1000, 22, "Calls: width is instructions executed");
  svg.id = "flame";
  let x = 0;
  let deepest = 0;
  for (const root of roots) {
    deepest = Math.max(deepest, drawFlame(svg, root, x, 0, 1000 / drawn));
    x += root.width * 1000 / drawn;
  }
  svg.setAttribute("viewBox", `0 0 1000 ${22 * (deepest + 1)}`);
  svg.setAttribute("height", 22 * (deepest + 1));
  return svg;
}
