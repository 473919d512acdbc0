/** The status page: agent, charts of the last ten minutes, tunnels. */
import { drawChart } from './chart.js';
import { $, call, duration, element, publicURL } from './dom.js';

export async function drawStatus() {
  const [status, { tunnels }, { samples }] = await Promise.all([
    call('GET', '/api/status'),
    call('GET', '/api/tunnels'),
    call('GET', '/inspect/history'),
  ]);
  drawAgent(status, tunnels);
  drawTunnels(tunnels);
  drawCharts(samples);
}

function drawAgent({ status, agent_version, session, cloud }, tunnels) {
  const legs = session.legs.map(({ region, latency }) => `${region} (${latency})`).join(', ');
  const facts = {
    Status: status,
    Version: agent_version,
    Region: legs,
    Tunnels: String(tunnels.length),
    ...(cloud && { Cloud: cloudFact(cloud) }),
  };
  const items = Object.entries(facts).map(([name, value]) =>
    element('div', {}, element('dt', {}, name), element('dd', value === 'online' ? { class: 's2' } : {}, value)),
  );
  $('agent').replaceChildren(...items);
}

function cloudFact({ url, registered, error }) {
  const shows = `${url} shows ${registered} ${registered === 1 ? 'endpoint' : 'endpoints'}`;
  return error === undefined ? shows : `${shows}; it ${error}`;
}

/** Percentiles of nothing are not shown: 0 would read as very fast. */
function columnsOf(tunnel) {
  const { name, proto, config, metrics } = tunnel;
  const { conns, http } = metrics;
  const busy = proto === 'http' ? http : conns;
  return {
    text: { Name: name || '(unnamed)', 'Public URL': publicURL(tunnel), 'Forwards to': config.addr },
    numbers: {
      Open: conns.gauge,
      Connections: conns.count,
      Requests: proto === 'http' ? http.count : '–',
      'Per second, 1 min': busy.rate1.toFixed(2),
      p50: busy.p50 === 0 ? '–' : duration(busy.p50),
      p99: busy.p99 === 0 ? '–' : duration(busy.p99),
    },
  };
}

function drawTunnels(tunnels) {
  const [first] = tunnels.map(columnsOf);
  const head = (columns, attributes) => Object.keys(columns).map((name) => element('th', attributes, name));
  const heads = first === undefined ? [] : [...head(first.text, {}), ...head(first.numbers, { class: 'number' })];
  $('tunnels').tHead.replaceChildren(element('tr', {}, ...heads));
  const none = element('tr', {}, element('td', { class: 'hint' }, 'No tunnel is running.'));
  $('tunnels').tBodies[0].replaceChildren(...(tunnels.length === 0 ? [none] : tunnels.map(tunnelRow)));
}

function tunnelRow(tunnel) {
  const { text, numbers } = columnsOf(tunnel);
  const cells = (columns, attributes) =>
    Object.entries(columns).map(([name, value]) => element('td', { ...attributes, 'data-name': name }, value));
  return element('tr', {}, ...cells(text, {}), ...cells(numbers, { class: 'number' }));
}

function drawCharts(samples) {
  // Where nothing came there is no latency to draw.
  const latency = (of) => samples.map((sample) => (sample.rate === 0 ? undefined : sample[of]));
  const perSecond = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
  drawChart($('rate-chart'), [samples.map(({ rate }) => rate)], perSecond);
  drawChart($('latency-chart'), [latency('p50'), latency('p99')], duration);
  const last = samples.at(-1);
  $('rate-now').value = last === undefined ? '' : `${perSecond(last.rate)}/s`;
  $('latency-now').value = last === undefined || last.rate === 0 ? '' : `${duration(last.p50)}, ${duration(last.p99)}`;
}
