/** Puts the page together: which part is shown, what the address names, keys, dark or light. */
import { $, call, element, nameOf, publicURL } from './dom.js';
import { drawEmpty } from './empty.js';
import { listen } from './keys.js';
import { Requests } from './requests.js';
import { drawStatus } from './status.js';

const refreshMs = 2_000;
/** Undefined until the agent has told of them. */
let tunnels;
let served;
let listState;

const requests = new Requests({
  onChange: (state) => {
    listState = state;
    drawEmpty(listState, tunnels);
  },
  onSelect: showInAddress,
});

function go(path, push = true) {
  if (push) history.pushState(undefined, '', path === '/' ? addressOf(requests.selected) : path);
  const onStatus = path.startsWith('/status');
  $('status').hidden = !onStatus;
  $('requests').hidden = onStatus;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.getAttribute('href') === (onStatus ? '/status' : '/')) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  refresh();
}

const addressOf = (id) => (id === undefined ? '/' : `/#${id}`);

/** The address leads to the chosen request again; going back leads to the list, not through all that were looked at. */
function showInAddress(id) {
  const address = addressOf(id);
  if ($('requests').hidden || location.pathname + location.hash === address) return;
  if (location.hash === '') history.pushState(undefined, '', address);
  else history.replaceState(undefined, '', address);
}

function followAddress() {
  go(location.pathname, false);
  const id = location.hash.slice(1);
  if ($('requests').hidden || id === (requests.selected ?? '')) return;
  if (id === '') requests.deselect();
  else requests.select(id);
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
  ({ tunnels } = await call('GET', '/api/tunnels'));
  const names = tunnels.filter(({ proto }) => proto === 'http').map(nameOf);
  const known = [...$('tunnel').options].slice(1).map(({ value }) => value);
  for (const name of names) if (!known.includes(name)) $('tunnel').append(element('option', { value: name }, name));
  for (const name of names) requests.addTunnel(name);
  drawServed();
  drawEmpty(listState, tunnels);
}

/** Anew only where something changed: who is about to follow a link keeps it. */
function drawServed() {
  const now = JSON.stringify(tunnels.map(({ public_url, config }) => [public_url, config.addr]));
  if (now === served) return;
  served = now;
  const rows = tunnels.map((tunnel) => element('li', {}, publicURL(tunnel), ` → ${tunnel.config.addr}`));
  $('served').replaceChildren(...rows);
}

function toggleTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = isDark ? 'light' : 'dark';
  localStorage.setItem('theme', root.dataset.theme);
}

listen({
  moved: (isDown) => $('status').hidden && requests.move(isDown),
  left: () => $('status').hidden && requests.deselect(),
  pressed: {
    r: () => $('status').hidden && requests.detail.replay(),
    e: () => $('status').hidden && requests.detail.edit(),
    c: () => $('status').hidden && requests.detail.copyCurl(),
    '/': () => $('filter').focus(),
    g: () => go('/'),
    s: () => go('/status'),
    t: toggleTheme,
    '?': () => $('help').showModal(),
  },
});
document.querySelector('nav').addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.getAttribute('href'));
});
addEventListener('popstate', followAddress);
$('theme').addEventListener('click', toggleTheme);
$('keys').addEventListener('click', () => $('help').showModal());

const theme = localStorage.getItem('theme');
if (theme !== null) document.documentElement.dataset.theme = theme;
followAddress();
setInterval(refresh, refreshMs);
