/** Puts the page together: which part is shown, live updates, keys, dark or light. */
import { $, call, element, publicURL } from './dom.js';
import { Requests } from './requests.js';
import { drawStatus } from './status.js';

const refreshMs = 2_000;
const requests = new Requests();
let events;
let served;

function go(path, push = true) {
  if (push) history.pushState(undefined, '', path);
  const onStatus = path.startsWith('/status');
  $('status').hidden = !onStatus;
  $('requests').hidden = onStatus;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.getAttribute('href') === (onStatus ? '/status' : '/')) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  refresh();
}

async function refresh() {
  if (document.hidden) return;
  try {
    if ($('status').hidden) await listTunnels();
    else await drawStatus();
  } catch {
    // The live mark says that the agent is away; the next round tries again.
  }
}

async function listTunnels() {
  const { tunnels } = await call('GET', '/api/tunnels');
  const names = tunnels.filter(({ proto }) => proto === 'http').map(({ name, uri }) => name || uri.split('/').pop());
  const known = [...$('tunnel').options].slice(1).map(({ value }) => value);
  for (const name of names) if (!known.includes(name)) $('tunnel').append(element('option', { value: name }, name));
  drawServed(tunnels);
}

/** Anew only where something changed: who is about to follow a link keeps it. */
function drawServed(tunnels) {
  const now = JSON.stringify(tunnels.map(({ public_url, config }) => [public_url, config.addr]));
  if (now === served) return;
  served = now;
  const rows = tunnels.map((tunnel) => element('li', {}, publicURL(tunnel), ` → ${tunnel.config.addr}`));
  $('served').replaceChildren(...rows);
}

/** Live updates while the page can be seen: hidden ones would use up the six connections a browser has for them all. */
function follow() {
  events?.close();
  events = undefined;
  if (document.hidden) return;
  events = new EventSource('/inspect/events');
  const live = (on) => {
    $('live').textContent = on ? 'live' : 'agent away';
    $('live').classList.toggle('on', on);
  };
  events.addEventListener('open', () => live(true));
  events.addEventListener('error', () => live(false));
  events.addEventListener('snapshot', ({ data }) => requests.snapshot(JSON.parse(data)));
  events.addEventListener('changed', ({ data }) => requests.changed(JSON.parse(data)));
}

function toggleTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = isDark ? 'light' : 'dark';
  localStorage.setItem('theme', root.dataset.theme);
}

const keys = {
  j: () => requests.move(1),
  ArrowDown: () => requests.move(1),
  k: () => requests.move(-1),
  ArrowUp: () => requests.move(-1),
  r: () => requests.detail.replay(),
  e: () => requests.detail.edit(),
  '/': () => $('filter').focus(),
  g: () => go('/'),
  s: () => go('/status'),
  t: toggleTheme,
  '?': () => $('help').showModal(),
};

document.addEventListener('keydown', (event) => {
  const typing = event.target.closest('input, textarea, select, dialog[open]') !== null;
  if (event.key === 'Escape' && event.target.id === 'filter') event.target.blur();
  if (event.key === 'Escape' && !typing) requests.deselect();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || keys[event.key] === undefined) return;
  event.preventDefault();
  keys[event.key]();
});
document.querySelector('nav').addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.getAttribute('href'));
});
addEventListener('popstate', () => go(location.pathname, false));
$('theme').addEventListener('click', toggleTheme);
$('keys').addEventListener('click', () => $('help').showModal());

const theme = localStorage.getItem('theme');
if (theme !== null) document.documentElement.dataset.theme = theme;
go(location.pathname, false);
follow();
document.addEventListener('visibilitychange', follow);
setInterval(refresh, refreshMs);
