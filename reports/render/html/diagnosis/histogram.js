// The sizes of a node's values beside what the format holds.
const FIRST = -40, LAST = 40; // the powers of two that the document counts; the ends hold all beyond

function binClass(power, format) {
  const size = 2 ** power;
  if (size > format.greatest) return "over";
  if (2 * size <= format.vanishes) return "gone";
  return size < format.normal ? "weak" : "held";
}

function drawHistogram(bins) {
  const width = 320, height = 110, base = 78;
  const limits = [["greatest", data.format.greatest], ["normal", data.format.normal], ["vanishes", data.format.vanishes]]
    .map(([name, value]) => [name, Math.log2(value)]).filter(([, at]) => at >= FIRST && at <= LAST);
  const powers = [...bins.map(([power]) => power), ...limits.map(([, at]) => Math.floor(at))];
  const low = Math.min(...powers) - 2, high = Math.max(...powers) + 3;
  const x = (power) => ((power - low) / (high - low)) * width;
  const most = Math.max(1, ...bins.map(([, count]) => Math.log10(count + 1)));
  const picture = svg("svg", { class: "histogram", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": labels.sizes });
  for (const [power, count] of bins) {
    const tall = Math.max(2, (Math.log10(count + 1) / most) * (base - 16));
    picture.append(svg("rect", { class: binClass(power, data.format), x: x(power), y: base - tall,
      width: Math.max(1.5, x(power + 1) - x(power) - 0.6), height: tall }, svg("title", {}, `2^${power}: ${count}`)));
  }
  picture.append(svg("path", { class: "axis", d: `M0 ${base}H${width}` }));
  for (const [name, at] of limits)
    picture.append(svg("path", { class: "limit " + name, d: `M${x(at)} 4V${base + 4}` }));
  const step = Math.max(4, 4 * Math.ceil((high - low) / 32));
  for (let power = Math.ceil(low / step) * step; power <= high; power += step)
    picture.append(svg("text", { x: x(power), y: base + 14 }, "2", svg("tspan", { dy: -4, "font-size": 8 }, power)));
  return picture;
}

function limitsInWords() {
  return el("ul", { class: "limits" }, ...["greatest", "normal", "vanishes"].map((name) =>
    el("li", { class: name }, `${labels[name]}: ${figure(data.format[name], 5)}`)));
}
