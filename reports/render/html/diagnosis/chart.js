// The errors of all nodes in the order of the network.
const chart = { box: document.getElementById("chart"), height: 280, left: 70, right: 12, top: 28, bottom: 34, least: 1e-7 };

const chartX = (i) => chart.left + ((i + 0.5) / nodes.length) * (chart.width - chart.left - chart.right);
function chartY(part) {
  const floor = Math.log10(chart.least), top = Math.log10(chart.most);
  const at = (Math.log10(Math.max(part, chart.least)) - floor) / (top - floor);
  return chart.height - chart.bottom - Math.min(1, at) * (chart.height - chart.top - chart.bottom);
}
// Lost values stand above all numbers.
const errorY = (error) => (error[0] === null ? chart.top - 14 : chartY(error[0]));

function gridLines() {
  const group = svg("g", { class: "grid" });
  const add = (y, text) => group.append(svg("path", { d: `M${chart.left} ${y}H${chart.width - chart.right}` }),
    svg("text", { x: chart.left - 6, y: y + 4, "text-anchor": "end" }, text));
  for (let power = Math.log10(chart.least); power <= Math.log10(chart.most) + 0.01; power += 2)
    add(chartY(10 ** power), `${Number((100 * 10 ** power).toPrecision(1))} %`);
  add(chart.top - 14, labels.lostShort);
  const step = 10 ** Math.max(0, Math.floor(Math.log10(nodes.length / 3)));
  for (let i = 0; i < nodes.length; i += step * (nodes.length / step > 6 ? 2 : 1))
    group.append(svg("text", { x: chartX(i), y: chart.height - 16, "text-anchor": chartX(i) > chart.width - 30 ? "end" : "middle" }, i + 1));
  group.append(svg("text", { x: chart.width - chart.right, y: chart.height - 3, "text-anchor": "end" }, labels.order));
  return group;
}

function lineThrough(which) {
  let path = "", open = false;
  nodes.forEach((node, i) => {
    if (!node[which]) return;
    path += `${open ? "L" : "M"}${chartX(i).toFixed(1)} ${errorY(node[which]).toFixed(1)}`;
    open = true;
  });
  return svg("path", { class: which, d: path });
}

function dots(which) {
  const group = svg("g", { class: which });
  nodes.forEach((node, i) => {
    if (!node[which]) return;
    group.append(svg("circle", { cx: chartX(i).toFixed(1), cy: errorY(node[which]).toFixed(1), r: nodes.length > 300 ? 1.7 : 2.6 }));
  });
  return group;
}

function originMarks() {
  const group = svg("g", { class: "origins" });
  nodes.forEach((node, i) => {
    if (!node.origin) return;
    const x = chartX(i), y = chart.height - chart.bottom, atRim = x > chart.width - 90;
    group.append(svg("path", { class: "stem", d: `M${x} ${chart.top - 14}V${y}` }), svg("path", { d: `M${x} ${y}l-6 11h12z` }),
      svg("text", { x: atRim ? x - 5 : x + 5, y: chart.top + 4, "text-anchor": atRim ? "end" : "start" }, labels.origin));
  });
  return group;
}

function markChart(i) {
  if (i >= 0) chart.cursor?.setAttribute("d", `M${chartX(i)} ${chart.top - 18}V${chart.height - chart.bottom}`);
}

function nearest(event) {
  const at = event.clientX - chart.box.getBoundingClientRect().left;
  const span = (chart.width - chart.left - chart.right) / nodes.length;
  return Math.min(nodes.length - 1, Math.max(0, Math.floor((at - chart.left) / span)));
}

function drawChart(picked) {
  chart.width = Math.max(280, chart.box.clientWidth);
  const parts = nodes.flatMap((node) => [node.cumulative?.[0] ?? 0, node.isolated?.[0] ?? 0]);
  const largest = parts.reduce((a, b) => Math.max(a, b), 1);
  chart.most = 10 ** Math.min(4, Math.ceil(Math.log10(largest)));
  chart.cursor = svg("path", { class: "cursor" });
  const bound = svg("path", { class: "bound", d: `M${chart.left} ${chartY(data.bound)}H${chart.width - chart.right}` },
    svg("title", {}, labels.bound));
  chart.box.replaceChildren(svg("svg", { width: chart.width, height: chart.height, role: "img", "aria-label": labels.chart },
    gridLines(), bound, originMarks(), lineThrough("cumulative"), dots("isolated"), chart.cursor));
  markChart(picked);
}

function addChart(pick) {
  const readout = document.getElementById("readout");
  chart.box.addEventListener("click", (event) => nodes.length && pick(nearest(event)));
  chart.box.addEventListener("pointermove", (event) => {
    const node = nodes[nearest(event)];
    if (node) readout.textContent = `${node.op} ${node.name}` + (node.range ? `: ${node.isolated[1]} / ${node.cumulative[1]}` : "");
  });
}
