/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The control-flow graph of a function: blocks in layers, each below what leads to it. */
"use strict";

const BLOCKS_DRAWN = 150; /* the hottest; more make no picture */
const BLOCK_WIDTH = 156;
const BLOCK_HEIGHT = 40;
const COLUMN = 184;
const LAYER = 84;
const ROW_MAX = 8;

/* Blocks in an order in which edges lead on, but for those that close a loop: the reverse of the
 * order in which a search in depth leaves them. */
function flowOrder(blocks, edges) {
  const out = new Map(blocks.map((block) => [block.block, []]));
  edges.forEach((edge) => out.get(edge.from_block).push(edge.to_block));
  const order = [];
  const seen = new Set();
  for (const block of blocks) {
    const stack = seen.has(block.block) ? [] : [[block.block, 0]];
    seen.add(block.block);
    while (stack.length !== 0) {
      const top = stack[stack.length - 1];
      const next = out.get(top[0])[top[1]++];
      if (next === undefined) {
        order.push(top[0]);
        stack.pop();
      } else if (!seen.has(next)) {
        seen.add(next);
        stack.push([next, 0]);
      }
    }
  }
  return order.reverse();
}

/* Layers by the longest way from where the search began. */
function layersOf(blocks, edges) {
  const rank = new Map(flowOrder(blocks, edges).map((block, i) => [block, i]));
  const layer = new Map(blocks.map((block) => [block.block, 0]));
  const forward = edges.filter((edge) => rank.get(edge.to_block) > rank.get(edge.from_block));
  forward.sort((a, b) => rank.get(a.from_block) - rank.get(b.from_block));
  for (const edge of forward) {
    layer.set(edge.to_block, Math.max(layer.get(edge.to_block), layer.get(edge.from_block) + 1));
  }
  return layer;
}

/* The blocks of each layer, in rows that are not too wide to look at. */
function rowsOfBlocks(blocks, edges) {
  const layer = layersOf(blocks, edges);
  const layers = [];
  for (const block of blocks) {
    (layers[layer.get(block.block)] ||= []).push(block);
  }
  const rows = [];
  for (const blocksOfLayer of layers) {
    for (let i = 0; i < blocksOfLayer.length; i += ROW_MAX) {
      rows.push(blocksOfLayer.slice(i, i + ROW_MAX));
    }
  }
  return rows;
}

/* Sets x and y of each block; gives the size of the whole. */
function placeBlocks(blocks, edges) {
  const rows = rowsOfBlocks(blocks, edges);
  const widest = Math.max(...rows.map((row) => row.length));
  rows.forEach((row, y) => row.forEach((block, i) => {
    block.x = 40 + (i + (widest - row.length) / 2) * COLUMN;
    block.y = 10 + y * LAYER;
  }));
  return { width: 80 + widest * COLUMN, height: 20 + rows.length * LAYER };
}

function edgePath(from, to) {
  const x1 = from.x + BLOCK_WIDTH / 2;
  const y1 = from.y + BLOCK_HEIGHT;
  const x2 = to.x + BLOCK_WIDTH / 2;
  if (to.y > from.y) {
    return `M${x1} ${y1}C${x1} ${y1 + 24} ${x2} ${to.y - 24} ${x2} ${to.y}`;
  }
  const side = Math.min(from.x, to.x) - 24;
  return `M${x1 - 24} ${y1}C${side} ${y1 + 34} ${side} ${to.y - 34} ${x2 - 24} ${to.y}`;
}

function drawEdge(svg, edge, blocks, most) {
  const from = blocks.get(edge.from_block);
  const to = blocks.get(edge.to_block);
  const back = to.y <= from.y;
  const path = drawing("path", {
    class: back ? "flow back" : "flow", d: edgePath(from, to),
    "stroke-width": (1 + 5 * Math.sqrt(edge.count / most)).toFixed(2), "marker-end": "url(#tip)",
  });
  const share = edge.probability === null ? "" : `, ${percent(edge.probability)}`;
  path.append(drawing("title", {}, `${edge.kind}: ${grouped(edge.count)}${share}`));
  const middle = (from.x + to.x + BLOCK_WIDTH) / 2 - (back ? 60 : 0);
  const y = back ? (from.y + to.y + BLOCK_HEIGHT) / 2 : (from.y + BLOCK_HEIGHT + to.y) / 2;
  svg.append(path, textAt(middle + 4, y, grouped(edge.count)));
}

function drawBlock(svg, block, most, onOpen) {
  const warm = (0.08 + 0.8 * Math.sqrt(block.count / most)).toFixed(3);
  const label = `block ${block.block} at ${block.start}, ${grouped(block.count)} times`;
  const node = drawing("g", { class: "node", role: "button", "aria-label": label });
  node.append(
    drawing("rect", { x: block.x, y: block.y, width: BLOCK_WIDTH, height: BLOCK_HEIGHT, rx: 4,
                      fill: `rgba(var(--heat), ${warm})` }),
    textAt(block.x + 6, block.y + 16, `${block.start}  ×${grouped(block.count)}`),
    textAt(block.x + 6, block.y + 31, `${block.instructions} instructions` +
      (block.line === null ? "" : `, line ${block.line}`)));
  node.append(drawing("title", {}, label));
  svg.append(pressable(node, () => onOpen(block)));
}

/* `onOpen` is told the block that was chosen. */
function graphView(allBlocks, allEdges, onOpen) {
  const ran = allBlocks.filter((block) => block.count > 0);
  const drawn = [...ran].sort((a, b) => b.count - a.count).slice(0, BLOCKS_DRAWN);
  drawn.sort((a, b) => a.block - b.block);
  const known = new Map(drawn.map((block) => [block.block, block]));
  const edges = allEdges.filter((edge) => known.has(edge.from_block) && known.has(edge.to_block));
  const box = element("div", {});
  if (drawn.length === 0) {
    return box;
  }
  const size = placeBlocks(drawn, edges);
  const svg = canvas(size.width, size.height, "Control-flow graph");
  svg.id = "flow";
  svg.setAttribute("role", "group");
  svg.append(drawing("defs", {}, drawing("marker", {
    id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8,
    markerUnits: "userSpaceOnUse", orient: "auto",
  }, drawing("path", { d: "M0 0L8 4L0 8Z", fill: "currentColor" }))));
  const most = greatest(drawn.map((block) => block.count));
  edges.forEach((edge) => drawEdge(svg, edge, known, most));
  drawn.forEach((block) => drawBlock(svg, block, most, onOpen));
  box.append(element("p", { class: "note" },
    `${grouped(drawn.length)} of ${grouped(allBlocks.length)} blocks: ` +
    (drawn.length < ran.length ? "the hottest of " + grouped(ran.length) + " that ran"
      : "those that ran") + ". Dashed edges lead back."));
  box.append(element("div", { class: "graph" }, svg));
  return box;
}
