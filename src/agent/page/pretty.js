import { layOut as layOutJSON } from './json.js';
import { layOut as layOutXML } from './xml.js';

/** A body as text for people, with notes of what is amiss: JSON, XML and forms laid out, other text as it is, bytes as hex. */
export function layOut({ text, encoding, contentType, truncated }, isComplete) {
  if (encoding === 'base64') return { text: hexDump(text), notes: [] };
  if (text === '') return { text, notes: [] };
  const isWhole = isComplete && !truncated;
  if (/[/+]json\s*(;|$)/i.test(contentType)) return laidOut(text, 'JSON', isWhole);
  if (/[/+]xml\s*(;|$)/i.test(contentType)) return laidOut(text, 'XML', isWhole);
  if (/x-www-form-urlencoded/i.test(contentType)) return { text: form(text), notes: [] };
  // Of what is not said to be JSON, nothing is amiss when it is none.
  return { text: /^\s*[{[]/.test(text) ? laidOut(text, 'JSON', false).text : text, notes: [] };
}

/** As it is where it cannot be laid out; where all of it is there, with the reason. */
function laidOut(text, language, isWhole) {
  try {
    return { text: language === 'JSON' ? layOutJSON(text) : layOutXML(text), notes: [] };
  } catch (error) {
    const why = error instanceof SyntaxError ? `not valid ${language}: ${error.message}` : error.message;
    return { text, notes: isWhole ? [why] : [] };
  }
}

const form = (text) => [...new URLSearchParams(text)].map(([name, value]) => `${name} = ${value}`).join('\n');

function hexDump(base64) {
  const all = Uint8Array.from(atob(base64.slice(0, 5464)), (character) => character.charCodeAt(0)).subarray(0, 4096);
  const lines = [];
  for (let at = 0; at < all.length; at += 16) {
    const part = [...all.subarray(at, at + 16)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const letters = part.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${letters}`);
  }
  return lines.join('\n');
}
