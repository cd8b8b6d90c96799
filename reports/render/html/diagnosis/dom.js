"use strict";
// What all scripts of the page use: the data, and elements made without markup, so that no name becomes any.
const data = JSON.parse(document.getElementById("data").textContent);
const labels = data.labels;
const nodes = data.nodes;
nodes.forEach((node, i) => {
  node.reads = [...new Set(node.reads)].filter((from) => from < i);
  node.readBy = [];
  for (const from of node.reads) nodes[from].readBy.push(i);
});

function fill(at, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) at.setAttribute(name, value);
  at.append(...children);
  return at;
}
// el("p", {class: "dim"}, "text", another element)
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}
function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// The end of a name says more than its beginning.
function shortened(text, most) {
  const signs = [...text];
  return signs.length <= most ? text : "…" + signs.slice(signs.length - most + 1).join("");
}

// Few digits, and an exponent only where there would be many zeros.
function figure(value, digits = 4) {
  const size = Math.abs(value);
  return size > 0 && (size < 1e-3 || size >= 1e9) ? value.toExponential(digits - 2) : String(Number(value.toPrecision(digits)));
}

// A value's error is [a number, or null where values are lost; in words].
const STEPS = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1];
function levelOf(error) {
  if (!error) return "plain";
  if (error[0] === null) return "lost";
  return "e" + STEPS.filter((step) => error[0] >= step).length;
}
