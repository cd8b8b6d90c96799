"use strict";
// A link to a fold opens it and all that it lies in.
function openTarget() {
  let at = document.getElementById(location.hash.slice(1));
  const target = at;
  for (; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
}
window.addEventListener("hashchange", openTarget);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link && link.hash === location.hash) openTarget();
});
// On a phone a table is a list, in which each cell names its column.
for (const table of document.querySelectorAll("table:not(.matrix):not(.facts)")) {
  const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  for (const row of table.tBodies[0].rows)
    for (const cell of [...row.cells].slice(1)) cell.dataset.column = names[cell.cellIndex];
}
// Buttons are made here: without scripts they could do nothing.
const tools = document.createElement("p");
tools.className = "tools";
const nav = document.querySelector("nav");
for (const [text, open] of [[nav.dataset.open, true], [nav.dataset.close, false]]) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.addEventListener("click", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = open;
  });
  tools.append(button, " ");
}
nav.append(tools);
openTarget();
