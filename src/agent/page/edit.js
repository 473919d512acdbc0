/** The dialog that changes a captured request and sends it. */
import { $, call, element } from './dom.js';

/** Headers that the agent sets for the body that is sent. */
const framing = ['content-length', 'transfer-encoding', 'trailer', 'expect'];

let current;

export async function edit(shown, onSent) {
  const { tunnels } = await call('GET', '/api/tunnels');
  current = { shown, onSent };
  const { request, requestHeaders, requestBody } = shown;
  const isText =
    requestBody.encoding === 'utf8' && requestBody.decoded === undefined && requestBody.problem === undefined;
  $('edit-method').value = request.method;
  $('edit-uri').value = request.uri;
  $('edit-headers').value = headerLines(requestHeaders).join('\n');
  $('edit-body').value = isText ? requestBody.text : '';
  $('edit-body').disabled = !isText;
  $('edit-note').textContent = isText ? '' : '(not plain text: it is sent as it was captured)';
  $('edit-error').textContent = '';
  const names = tunnels.filter(({ proto }) => proto === 'http').map(({ name, uri }) => name || uri.split('/').pop());
  $('edit-tunnel').replaceChildren(...names.map((name) => element('option', { value: name }, name)));
  $('edit-tunnel').value = shown.tunnel;
  $('edit').showModal();
}

$('edit-cancel').addEventListener('click', () => $('edit').close());
$('edit').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { shown, onSent } = current;
  try {
    const { id } = await call('POST', '/inspect/replays', edited(shown));
    $('edit').close();
    onSent(id);
  } catch (error) {
    $('edit-error').textContent = error.message;
  }
});

function edited({ id, requestBody }) {
  const body = $('edit-body').value;
  // A text field has line feeds only: a body that nobody touched is sent from the capture.
  const unchanged = $('edit-body').disabled || body === requestBody.text.replaceAll('\r\n', '\n');
  return {
    id,
    tunnel_name: $('edit-tunnel').value,
    method: $('edit-method').value.trim(),
    uri: $('edit-uri').value.trim(),
    headers: readHeaders($('edit-headers').value),
    ...(unchanged ? {} : { body: base64(body) }),
  };
}

function headerLines(headers) {
  const lines = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (!framing.includes(headers[at].toLowerCase())) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  }
  return lines;
}

function readHeaders(text) {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new Error(`a header is written "Name: value", not "${line}"`);
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    });
}

function base64(text) {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
