// What is known of the picked node.
const MANY = 30; // names in a list

function linksTo(list) {
  const box = el("div", { class: "links" });
  for (const i of list.slice(0, MANY)) box.append(el("a", { href: "#n" + i }, nodes[i].op, " ", el("small", {}, nodes[i].name)));
  if (list.length > MANY) box.append(`… ${list.length}`);
  return list.length ? box : el("span", { class: "dim" }, labels.none);
}

function facts(rows) {
  const list = el("dl");
  for (const [name, value] of rows) if (value !== "" && value !== null) list.append(el("dt", {}, name), el("dd", {}, value));
  return list;
}

function countsOf(range) {
  const parts = ["overflows", "vanishes", "subnormal", "nan", "infinite"].filter((name) => range[name] > 0);
  const box = el("ul", { class: "counts" });
  for (const name of parts) box.append(el("li", { class: name }, `${labels.counts[name]}: ${range[name]}`));
  return parts.length ? box : el("span", { class: "dim" }, labels.allHeld);
}

function rangeOf(node) {
  const { least, greatest, count } = node.range;
  return [el("h4", {}, labels.range), el("p", {}, `${figure(least)} … ${figure(greatest)} (${labels.values}: ${count})`),
    drawHistogram(node.range.histogram), el("p", { class: "dim" }, labels.sizes), limitsInWords(),
    ...(node.constant ? [el("p", {}, labels.constant)] : [])];
}

function inputsOf(node) {
  const names = node.odd.slice(0, MANY).map((at) => data.inputs[at]).join(", ");
  return node.odd.length > MANY ? `${names}, … (${node.odd.length})` : names;
}

function showPanel(i) {
  const node = nodes[i], panel = document.getElementById("panel");
  const roles = ["origin", "raised"].filter((role) => node[role]).map((role) => el("b", { class: "role " + role }, labels[role]));
  panel.replaceChildren(el("h3", {}, node.op, " ", el("small", {}, `${labels.node} ${i + 1}`)), el("p", { class: "full" }, node.name),
    ...roles);
  if (!node.range) panel.append(el("p", { class: "dim" }, labels.noFloats));
  else panel.append(
    facts([[labels.isolated, node.isolated[1]], [labels.cumulative, node.cumulative[1]], [labels.why, node.why],
      [labels.oddWith, inputsOf(node)]]),
    el("h4", {}, labels.notHeld), countsOf(node.range), ...rangeOf(node));
  panel.append(el("h4", {}, labels.reads), linksTo(node.reads), el("h4", {}, labels.readBy), linksTo(node.readBy));
  panel.scrollTop = 0;
}
