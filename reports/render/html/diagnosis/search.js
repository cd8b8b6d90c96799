// Finds nodes by a part of their name or operator.
const search = { field: document.getElementById("search"), list: document.getElementById("matches"), found: [], at: 0, most: 12 };

function findNodes(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const rank = (node) => {
    const name = node.name.toLowerCase(), op = node.op.toLowerCase();
    if (name === wanted || op === wanted) return 0;
    return name.includes(wanted) ? 1 : op.includes(wanted) ? 2 : 3;
  };
  const ranked = nodes.map((node, i) => [rank(node), i]).filter(([at]) => at < 3);
  return ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, i]) => i);
}

function showMatches() {
  const shown = search.found.slice(0, search.most);
  search.list.replaceChildren(...shown.map((i, at) => el("li", { role: "option", id: "match" + at, "data-node": i,
    "aria-selected": at === search.at }, el("b", {}, nodes[i].op), " ", nodes[i].name)));
  if (search.found.length > shown.length)
    search.list.append(el("li", { class: "dim", role: "presentation" }, `… ${search.found.length}`));
  const open = document.activeElement === search.field && search.field.value.trim() !== "";
  if (open && !shown.length) search.list.append(el("li", { class: "dim", role: "presentation" }, labels.noMatch));
  search.list.hidden = !open;
  search.field.setAttribute("aria-expanded", open);
  search.field.setAttribute("aria-activedescendant", shown.length ? "match" + search.at : "");
}

function closeMatches() {
  search.list.hidden = true;
  search.field.setAttribute("aria-expanded", false);
}

function addSearch(pick) {
  const take = (i) => {
    closeMatches();
    if (i !== undefined) pick(i);
  };
  search.field.addEventListener("input", () => {
    search.found = findNodes(search.field.value);
    search.at = 0;
    showMatches();
  });
  search.field.addEventListener("keydown", (event) => {
    const last = Math.min(search.most, search.found.length) - 1;
    if (event.key === "Enter") take(search.found[search.at]);
    else if (event.key === "Escape") closeMatches();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      search.at = Math.max(0, Math.min(last, search.at + (event.key === "ArrowDown" ? 1 : -1)));
      showMatches();
    } else return;
    event.preventDefault();
  });
  search.field.addEventListener("blur", closeMatches);
  search.list.addEventListener("pointerdown", (event) => {
    event.preventDefault(); // the field keeps the focus
    const row = event.target.closest("[data-node]");
    if (row) take(+row.dataset.node);
  });
}
