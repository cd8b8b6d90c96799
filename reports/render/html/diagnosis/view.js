// Which part of the picture is seen: it is dragged, and zoomed by wheel, buttons, keys or two fingers.
const view = { x: 0, y: 0, scale: 1, least: 0.02, most: 3 };

function showView() {
  picture.root.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
  picture.svg.classList.toggle("far", view.scale < 0.35);
}

// Zooms about a point of the stage.
function zoom(factor, at) {
  const scale = Math.min(view.most, Math.max(view.least, view.scale * factor));
  view.x = at.x - ((at.x - view.x) * scale) / view.scale;
  view.y = at.y - ((at.y - view.y) * scale) / view.scale;
  view.scale = scale;
  showView();
}

function middle() {
  return { x: picture.stage.clientWidth / 2, y: picture.stage.clientHeight / 2 };
}

function fitAll() {
  const { width, height } = picture.laid, rim = 30;
  const stage = picture.stage;
  view.scale = Math.min(1, stage.clientWidth / (width + 2 * rim), stage.clientHeight / (height + 2 * rim));
  view.least = view.scale / 2;
  view.x = (stage.clientWidth - width * view.scale) / 2;
  view.y = Math.max(rim * view.scale, (stage.clientHeight - height * view.scale) / 2);
  showView();
}

function centre(i) {
  const box = picture.laid.boxes[i], at = middle();
  view.scale = Math.max(view.scale, 0.8);
  view.x = at.x - box.x * view.scale;
  view.y = at.y - box.y * view.scale;
  showView();
}

function pointOf(event) {
  const frame = picture.stage.getBoundingClientRect();
  return { x: event.clientX - frame.left, y: event.clientY - frame.top };
}

// One pointer drags, two zoom; one that stays where it is clicks.
function addPointers(click) {
  const down = new Map();
  let moved = 0;
  picture.stage.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    if (!down.size) moved = 0;
    down.set(event.pointerId, pointOf(event));
  });
  window.addEventListener("pointermove", (event) => {
    const old = down.get(event.pointerId);
    if (!old) return;
    const now = pointOf(event), others = [...down.entries()].filter(([id]) => id !== event.pointerId);
    moved += Math.hypot(now.x - old.x, now.y - old.y);
    down.set(event.pointerId, now);
    if (moved < 5) return;
    const other = others[0]?.[1];
    if (other) {
      const far = (point) => Math.max(1, Math.hypot(point.x - other.x, point.y - other.y));
      zoom(far(now) / far(old), other);
      return;
    }
    view.x += now.x - old.x;
    view.y += now.y - old.y;
    showView();
  });
  window.addEventListener("pointerup", (event) => {
    if (down.delete(event.pointerId) && moved < 5) click(event.target);
  });
  window.addEventListener("pointercancel", (event) => down.delete(event.pointerId));
}

function addZoom() {
  picture.stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), pointOf(event));
  }, { passive: false });
  document.getElementById("closer").addEventListener("click", () => zoom(1.4, middle()));
  document.getElementById("farther").addEventListener("click", () => zoom(1 / 1.4, middle()));
  document.getElementById("whole").addEventListener("click", fitAll);
}
