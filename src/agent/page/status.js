/** The status page: agent, charts of the last ten minutes, tunnels. */
import { $, call, duration, element } from './dom.js';

const columns = [
  'Name',
  'Public URL',
  'Forwards to',
  'Open',
  'Connections',
  'Requests',
  'Per second, 1 min',
  'p50',
  'p99',
];
const [width, height, left, bottom] = [600, 160, 46, 16];

export async function drawStatus() {
  const [status, { tunnels }, { samples }] = await Promise.all([
    call('GET', '/api/status'),
    call('GET', '/api/tunnels'),
    call('GET', '/inspect/history'),
  ]);
  drawAgent(status);
  drawTunnels(tunnels);
  drawCharts(samples);
}

function drawAgent({ status, agent_version, session, cloud }) {
  const legs = session.legs.map(({ region, latency }) => `${region} (${latency})`).join(', ');
  const facts = { Status: status, Version: agent_version, Region: legs, ...(cloud && { Cloud: cloudFact(cloud) }) };
  const items = Object.entries(facts).flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]);
  $('agent').replaceChildren(...items);
}

function cloudFact({ url, registered, error }) {
  const shows = `${url} shows ${registered} ${registered === 1 ? 'endpoint' : 'endpoints'}`;
  return error === undefined ? shows : `${shows}; it ${error}`;
}

function drawTunnels(tunnels) {
  const head = element('tr', {}, ...columns.map((name, at) => element('th', at > 2 ? { class: 'number' } : {}, name)));
  $('tunnels').tHead.replaceChildren(head);
  $('tunnels').tBodies[0].replaceChildren(...tunnels.map(tunnelRow));
}

function tunnelRow({ name, proto, public_url, config, metrics: { conns, http } }) {
  const busy = proto === 'http' ? http : conns;
  const link = proto === 'http' ? element('a', { href: public_url, rel: 'noreferrer' }, public_url) : public_url;
  const numbers = [conns.gauge, conns.count, http.count, busy.rate1.toFixed(2), duration(busy.p50), duration(busy.p99)];
  return element(
    'tr',
    {},
    element('td', {}, name || '(unnamed)'),
    element('td', {}, link),
    element('td', {}, config.addr),
    ...numbers.map((value) => element('td', { class: 'number' }, String(value))),
  );
}

function drawCharts(samples) {
  const rates = samples.map(({ rate }) => rate);
  drawChart($('rate-chart'), [rates], (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0)));
  drawChart($('latency-chart'), [samples.map(({ p50 }) => p50), samples.map(({ p99 }) => p99)], duration);
  const last = samples.at(-1);
  $('rate-now').value = last === undefined ? '' : `${last.rate.toFixed(1)}/s`;
  $('latency-now').value = last === undefined || last.rate === 0 ? '' : `${duration(last.p50)}, ${duration(last.p99)}`;
}

function drawChart(svg, series, written) {
  const top = Math.max(...series.flat()) || 1;
  const x = (at, count) => left + ((width - left) * at) / Math.max(count - 1, 1);
  const y = (value) => 6 + (height - bottom - 6) * (1 - value / top);
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  const grid = [0, top / 2, top].flatMap((value) => [
    shape('line', { class: 'grid', x1: left, x2: width, y1: y(value), y2: y(value) }),
    shape('text', { x: left - 4, y: y(value) + 3, 'text-anchor': 'end' }, written(value)),
  ]);
  const times = [
    shape('text', { x: left, y: height - 3 }, '10 min ago'),
    shape('text', { x: width, y: height - 3, 'text-anchor': 'end' }, 'now'),
  ];
  const lines = series.map((values, at) => {
    const points = values.map((value, index) => `${x(index, values.length).toFixed(1)},${y(value).toFixed(1)}`);
    return shape('polyline', { class: at === 0 ? 'one' : 'two', points: points.join(' ') });
  });
  svg.replaceChildren(...grid, ...times, ...lines);
}

function shape(name, attributes, text = '') {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}
