// Joins the parts: a node that is picked anywhere is shown everywhere.
function pick(i, move = true) {
  if (!nodes[i]) return;
  mark(i);
  showPanel(i);
  markChart(i);
  if (move) centre(i);
  try {
    history.replaceState(null, "", "#n" + i);
  } catch {} // some viewers allow no address
}

// A link of the page, or of its address.
function pickTarget() {
  const at = /^#n(\d+)$/.exec(location.hash);
  if (!at) return false;
  pick(+at[1]);
  return true;
}

function clicked(target) {
  const group = target.closest?.("[data-node]");
  if (group && picture.stage.contains(group)) pick(+group.dataset.node, false);
}

// Along the lines, and through the network in its order.
function keyed(event) {
  const at = picture.picked, node = nodes[at];
  const steps = { ArrowUp: node?.reads[0], ArrowDown: node?.readBy[0] ?? 0, ArrowLeft: at - 1, ArrowRight: at + 1 };
  if (event.key in steps) pick(steps[event.key] ?? at);
  else if (event.key === "+" || event.key === "=") zoom(1.4, middle());
  else if (event.key === "-") zoom(1 / 1.4, middle());
  else if (event.key === "0") fitAll();
  else return;
  event.preventDefault();
}

function start() {
  drawPicture();
  colour("cumulative");
  addPointers(clicked);
  addZoom();
  addSearch(pick);
  addChart((i) => pick(i));
  drawChart(-1);
  for (const choice of document.querySelectorAll("input[name=colour]"))
    choice.addEventListener("change", () => colour(choice.value));
  picture.stage.addEventListener("keydown", keyed);
  window.addEventListener("resize", () => drawChart(picture.picked));
  window.addEventListener("hashchange", pickTarget);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#n']");
    if (!link) return;
    if (link.hash === location.hash) pickTarget();
    if (!picture.stage.parentElement.contains(link)) picture.stage.scrollIntoView({ block: "nearest" });
  });
  fitAll();
  const origin = nodes.findIndex((node) => node.origin);
  if (!pickTarget() && origin >= 0) pick(origin);
}
start();
