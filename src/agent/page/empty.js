/** What stands in the place of an empty list: why it is, and what fills it. */
import { copyButton } from './copy.js';
import { $, element, nameOf } from './dom.js';
import { quoted } from './shell.js';

const usualAgent = 'http://127.0.0.1:4040';
let drawn;

/** Anew only where something changed: who is about to press a button keeps it. */
export function drawEmpty({ isEmpty, isFiltered, isCapturing }, tunnels) {
  $('none').hidden = !isEmpty || tunnels === undefined;
  if ($('none').hidden) return;
  const parts = isFiltered ? [['None matches.']] : explained(isCapturing, tunnels);
  const now = JSON.stringify(parts);
  if (now === drawn) return;
  drawn = now;
  $('none').replaceChildren(
    ...parts.map(([text, command]) => (command === undefined ? element('p', {}, text) : commandLine(text, command))),
  );
}

/** Texts, each alone or with a command that it is about. */
function explained(isCapturing, tunnels) {
  if (!isCapturing)
    return [['Capturing is off: inspect_db_size is -1 in agent.yml. What comes through is not shown here.']];
  if (tunnels.length === 0)
    return [['No tunnel is running.'], ['To forward to port 8080 of this machine:', startCommand()]];
  const ofHttp = tunnels.filter(({ proto }) => proto === 'http');
  if (ofHttp.length === 0) {
    return [['Only http tunnels are captured, and none is running.'], ['To start one:', startCommand()]];
  }
  const captured = ofHttp.filter(({ config }) => config.inspect);
  if (captured.length === 0) return [['No tunnel is captured: each of them has inspect: false.']];
  return [
    ['No requests yet: they appear here as they come.'],
    ...captured.map((tunnel) => [`Through ${nameOf(tunnel)}:`, `curl ${quoted(`${tunnel.public_url}/`)}`]),
  ];
}

function startCommand() {
  const where = location.origin === usualAgent ? '' : ` --agent-url ${quoted(location.origin)}`;
  return `edge-operator agent tunnels start 8080 --name web${where}`;
}

function commandLine(text, command) {
  const copied = copyButton('Copy', 'Command', () => command);
  return element(
    'div',
    {},
    element('p', {}, text),
    element('div', { class: 'command' }, element('code', {}, command), copied),
  );
}
