// The network as boxes and lines, coloured by error.
const picture = { stage: document.getElementById("picture"), groups: [], lines: [], picked: -1 };

function badges(node) {
  const words = [];
  if (node.origin) words.push(["origin", labels.origin]);
  if (node.raised) words.push(["raised", labels.raised]);
  if (node.odd.length) words.push(["odd", labels.odd]);
  let x = 4;
  return words.map(([kind, word]) => {
    const width = [...word].reduce((sum, sign) => sum + (sign.charCodeAt(0) > 255 ? 10.5 : 6), 8);
    const badge = svg("g", { class: "badge " + kind, transform: `translate(${x} -8)` },
      svg("rect", { width, height: 14, rx: 3 }), svg("text", { x: width / 2, y: 10.5 }, word));
    x += width + 3;
    return badge;
  });
}

function drawNode(i, box) {
  const node = nodes[i];
  const group = svg("g", { class: "node", "data-node": i,
    transform: `translate(${box.x - BOX.width / 2} ${box.y - BOX.height / 2})` });
  group.append(svg("title", {}, `${node.op}\n${node.name}`));
  if (node.origin)
    group.append(svg("rect", { class: "ring", x: -4, y: -4, width: BOX.width + 8, height: BOX.height + 8, rx: 7 }));
  group.append(
    svg("rect", { class: "box" + (node.raised ? " raised" : ""), width: BOX.width, height: BOX.height, rx: 4 }),
    svg("text", { class: "op", x: 8, y: 20 }, shortened(node.op, 22)),
    svg("text", { class: "name", x: 8, y: 35 }, shortened(node.name, 27)), ...badges(node));
  return group;
}

// `which`: "cumulative" or "isolated"
function colour(which) {
  picture.groups.forEach((group, i) => group.setAttribute("class", `node ${levelOf(nodes[i][which])}`));
  mark(picture.picked);
}

// Makes the node and its lines stand out; -1: none.
function mark(i) {
  picture.groups[picture.picked]?.classList.remove("picked");
  picture.picked = i;
  picture.groups[i]?.classList.add("picked");
  for (const { from, to, line } of picture.lines) line.classList.toggle("near", from === i || to === i);
}

function drawPicture() {
  const started = performance.now();
  const laid = layOut(nodes);
  picture.laid = laid;
  picture.layoutMs = performance.now() - started;
  picture.groups = nodes.map((_, i) => drawNode(i, laid.boxes[i]));
  picture.lines = laid.lines.map((row) => ({ ...row, line: svg("path", { class: "line", d: row.path }) }));
  picture.root = svg("g", {}, svg("g", {}, ...picture.lines.map((row) => row.line)), svg("g", {}, ...picture.groups));
  picture.svg = svg("svg", { width: "100%", height: "100%" }, picture.root);
  picture.stage.append(picture.svg);
  picture.stage.dataset.ms = Math.round(picture.layoutMs);
}
