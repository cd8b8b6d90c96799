// Where the boxes of a network stand, and the lines between them.
//
// dagre needs time that grows with the square of what it lays out, and much of it for lines that pass many layers. So
// it gets bands of few layers, cut where the fewest lines cross. The bands stand below each other, and in columns where
// they would be far higher than wide. Lines between bands are drawn here.
const BOX = { width: 176, height: 42 };
const GAP = { x: 18, y: 34, column: 110 };
const BAND = 40; // what a band holds at most: boxes, and layers that its lines pass
const COLUMN = 2600; // the least height that is worth a second column

// The layer of each node: below all that it reads; what reads nothing, just above its first reader.
function layersOf(nodes) {
  const layers = nodes.map(() => 0);
  nodes.forEach((node, i) => {
    for (const from of node.reads) layers[i] = Math.max(layers[i], layers[from] + 1);
  });
  const first = nodes.map(() => Infinity);
  nodes.forEach((node, i) => {
    for (const from of node.reads) first[from] = Math.min(first[from], layers[i]);
  });
  return layers.map((layer, i) => (nodes[i].reads.length === 0 && first[i] < Infinity ? first[i] - 1 : layer));
}

// How many nodes have readers in layer `at` or below and stand above it, for each layer.
function crossings(nodes, layers, count) {
  const last = layers.slice();
  nodes.forEach((node, i) => {
    for (const from of node.reads) last[from] = Math.max(last[from], layers[i]);
  });
  const change = new Array(count + 1).fill(0);
  nodes.forEach((node, i) => {
    change[layers[i] + 1] += 1;
    change[Math.min(last[i], count - 1) + 1] -= 1;
  });
  let sum = 0;
  return change.map((by) => (sum += by));
}

// The first layer of each band.
function bandStarts(nodes, layers, count) {
  const cost = crossings(nodes, layers, count);
  const rows = Array.from({ length: count }, () => []);
  nodes.forEach((node, i) => rows[layers[i]].push(i));
  const starts = [0];
  for (let start = 0, at = 0, held = 0; at < count; ++at) {
    const weight = rows[at].reduce((sum, i) => sum + nodes[i].reads.reduce(
      (passed, from) => passed + (layers[from] >= start ? layers[i] - layers[from] - 1 : 0), 1), 0);
    held += weight;
    if (held <= BAND || at === start) continue;
    let best = at;
    for (let cut = at; cut > start; --cut) if (cost[cut] < cost[best]) best = cut;
    starts.push(best);
    start = best;
    at = best - 1;
    held = 0;
  }
  return starts;
}

function bandsOf(nodes) {
  const layers = layersOf(nodes);
  const count = layers.reduce((most, layer) => Math.max(most, layer + 1), 0);
  const starts = bandStarts(nodes, layers, count);
  const bandOfLayer = [];
  starts.forEach((start, band) => {
    for (let at = start; at < (starts[band + 1] ?? count); ++at) bandOfLayer[at] = band;
  });
  const bands = starts.map(() => []);
  const bandOf = layers.map((layer) => bandOfLayer[layer]);
  bandOf.forEach((band, i) => bands[band].push(i));
  return { bands, bandOf };
}

// One band: the centre of each of its boxes, its size, and the corners of the lines within it.
function layBand(nodes, members, bandOf) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: GAP.x, ranksep: GAP.y, edgesep: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const i of members) graph.setNode(i, { ...BOX });
  for (const i of members)
    for (const from of nodes[i].reads) if (bandOf[from] === bandOf[i]) graph.setEdge(from, i);
  dagre.layout(graph);
  return {
    members, width: graph.graph().width, height: graph.graph().height,
    at: new Map(members.map((i) => [i, graph.node(i)])),
    lines: graph.edges().map((edge) => ({ from: +edge.v, to: +edge.w, points: graph.edge(edge).points })),
  };
}

// How far a band moves to the right, so that what it reads stands above it.
function shiftOf(band, nodes, boxes) {
  let sum = 0, count = 0;
  for (const i of band.members) {
    for (const from of nodes[i].reads) {
      if (!boxes[from] || band.at.has(from)) continue;
      sum += boxes[from].x - band.at.get(i).x;
      ++count;
    }
  }
  return count ? sum / count : 0;
}

// The bands of each column: the picture becomes about as wide as high.
function columnsOf(bands) {
  const height = bands.reduce((sum, band) => sum + band.height + GAP.y, 0);
  const width = bands.reduce((most, band) => Math.max(most, band.width), 0) + GAP.column;
  const wanted = Math.max(COLUMN, Math.sqrt(height * width) * 0.9);
  const count = Math.max(1, Math.round(height / wanted));
  const columns = [[]];
  let used = 0;
  for (const band of bands) {
    // A band stands in the column that its middle belongs to, so that all columns become about as high.
    const number = Math.floor(((used + band.height / 2) / height) * count);
    if (number >= columns.length && columns[columns.length - 1].length) columns.push([]);
    columns[columns.length - 1].push(band);
    used += band.height + GAP.y;
  }
  return columns;
}

// Puts a column's bands below each other, at the picture's left edge; gives its boxes and its size.
function layColumn(column, nodes) {
  const boxes = [], moved = [];
  let y = 0, left = 0, right = 0;
  for (const band of column) {
    const shift = moved.length ? shiftOf(band, nodes, boxes) : 0;
    for (const [i, at] of band.at) boxes[i] = { x: at.x + shift, y: at.y + y };
    moved.push({ band, shift, y });
    left = Math.min(left, shift);
    right = Math.max(right, shift + band.width);
    y += band.height + GAP.y;
  }
  return { boxes, moved, left, width: right - left, height: y - GAP.y };
}

function curve(from, to) {
  const y0 = from.y + BOX.height / 2, y1 = to.y - BOX.height / 2, half = Math.min(60, (y1 - y0) / 2);
  return `M${from.x} ${y0}C${from.x} ${y0 + half} ${to.x} ${y1 - half} ${to.x} ${y1}`;
}

// A line that passes many boxes goes around them at the side of its column, or between two columns.
function detour(from, to, side) {
  const y0 = from.y + BOX.height / 2, y1 = to.y - BOX.height / 2;
  return `M${from.x} ${y0}V${y0 + 10}H${side}V${y1 - 10}H${to.x}V${y1}`;
}

function through(points) {
  const [first, ...rest] = points.map((point) => `${point.x} ${point.y}`);
  return `M${first}L${rest.join("L")}`;
}

// {boxes: [{x, y, column}] the centres, lines: [{from, to, path}], width, height}
function layOut(nodes) {
  const { bands, bandOf } = bandsOf(nodes);
  const laid = bands.map((members) => layBand(nodes, members, bandOf));
  const boxes = [], lines = [], sides = [];
  let x = 0, height = 0;
  columnsOf(laid).forEach((column, number) => {
    const done = layColumn(column, nodes);
    done.boxes.forEach((box, i) => {
      boxes[i] = { x: box.x + x - done.left, y: box.y, column: number };
    });
    for (const { band, shift, y } of done.moved) {
      for (const { from, to, points } of band.lines) {
        const move = (point) => ({ x: point.x + shift + x - done.left, y: point.y + y });
        lines.push({ from, to, path: through(points.map(move)) });
      }
    }
    x += done.width + GAP.column;
    sides.push(x - GAP.column);
    height = Math.max(height, done.height);
  });
  addOutside(nodes, bandOf, boxes, sides, lines);
  return { boxes, lines, width: x - GAP.column, height };
}

// The lines between bands. Each that goes around gets a way of its own, as long as there is room.
function addOutside(nodes, bandOf, boxes, sides, lines) {
  const used = sides.map(() => 0);
  nodes.forEach((node, i) => {
    for (const from of new Set(node.reads)) {
      if (bandOf[from] === bandOf[i]) continue;
      const near = boxes[from].column === boxes[i].column && boxes[i].y - boxes[from].y < 4 * (BOX.height + GAP.y);
      const column = boxes[from].column;
      const side = sides[column] + 12 + ((used[column] += near ? 0 : 1) * 9) % (GAP.column - 24);
      lines.push({ from, to: i, path: near ? curve(boxes[from], boxes[i]) : detour(boxes[from], boxes[i], side) });
    }
  });
}
