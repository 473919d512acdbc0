/** The dialog that changes a captured request and sends it. */
import { $, base64, call, element, nameOf, withoutFraming } from './dom.js';

let current;

export async function edit(shown, onSent) {
  const { tunnels } = await call('GET', '/api/tunnels');
  const { method, uri, request } = shown;
  const { encoding, charset, decoded, problem, text, truncated } = request.body;
  const isText = encoding === 'utf8' && [charset, decoded, problem].every((what) => what === undefined);
  $('edit-method').value = method;
  $('edit-uri').value = uri;
  $('edit-headers').value = headerLines(request.headers).join('\n');
  $('edit-body').value = isText ? text : '';
  $('edit-body').disabled = !isText;
  $('edit-note').textContent = noteOf(isText, truncated);
  // As the text field has it: with line feeds only.
  current = { shown, onSent, body: $('edit-body').value };
  $('edit-error').textContent = '';
  const names = tunnels.filter(({ proto }) => proto === 'http').map(nameOf);
  $('edit-tunnel').replaceChildren(...names.map((name) => element('option', { value: name }, name)));
  $('edit-tunnel').value = shown.tunnel;
  $('edit').showModal();
}

$('edit-cancel').addEventListener('click', () => $('edit').close());
$('edit').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { shown, onSent, body } = current;
  try {
    const sent = await call('POST', '/inspect/replays/edited', edited(shown.id, body));
    $('edit').close();
    onSent(sent);
  } catch (error) {
    $('edit-error').textContent = error.message;
  }
});

/** A body that nobody touched is sent from the capture. */
function edited(id, before) {
  const body = $('edit-body').value;
  return {
    id,
    tunnel_name: $('edit-tunnel').value,
    method: $('edit-method').value.trim(),
    uri: $('edit-uri').value.trim(),
    headers: readHeaders($('edit-headers').value),
    ...(body === before ? {} : { body: base64(new TextEncoder().encode(body)) }),
  };
}

function noteOf(isText, truncated) {
  if (!isText) return '(not plain text in UTF-8: it is sent as it was captured)';
  return truncated ? '(only its beginning: once it is changed, the rest is not sent)' : '';
}

/** The agent sets the others. */
const headerLines = (headers) => withoutFraming(headers).map(([name, value]) => `${name}: ${value}`);

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
