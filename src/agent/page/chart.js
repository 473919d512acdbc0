const height = 160;
const [left, right, top, bottom] = [52, 4, 8, 18];

/** Lines over the last ten minutes in an SVG element, as wide as it is; `undefined` in a series is a gap. */
export function drawChart(svg, series, written) {
  const width = svg.clientWidth || 600;
  const most = Math.max(0, ...series.flat().filter((value) => value !== undefined)) || 1;
  const scale = {
    x: (at, count) => left + ((width - left - right) * at) / Math.max(count - 1, 1),
    y: (value) => top + (height - top - bottom) * (1 - value / most),
  };
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.replaceChildren(
    ...grid(most, width, scale, written),
    shape('text', { x: left, y: height - 2 }, '10 min ago'),
    shape('text', { x: width - right, y: height - 2, 'text-anchor': 'end' }, 'now'),
    ...series.flatMap((values, at) => lines(values, scale, at === 0 ? 'one' : 'two')),
  );
}

function grid(most, width, { y }, written) {
  return [0, most / 2, most].flatMap((value) => [
    shape('line', { class: 'grid', x1: left, x2: width - right, y1: y(value), y2: y(value) }),
    shape('text', { x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, written(value)),
  ]);
}

/** A line for each run of values without a gap; one value alone is a dot. */
function lines(values, { x, y }, name) {
  const runs = [];
  for (const [at, value] of values.entries()) {
    if (value === undefined) continue;
    const point = `${x(at, values.length).toFixed(1)},${y(value).toFixed(1)}`;
    if (at > 0 && values[at - 1] !== undefined) runs.at(-1).push(point);
    else runs.push([point]);
  }
  return runs.map((points) => {
    const drawn = points.length === 1 ? [...points, ...points] : points;
    return shape('polyline', { class: name, points: drawn.join(' ') });
  });
}

function shape(name, attributes, text = '') {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}
