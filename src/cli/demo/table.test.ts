import { expect, test } from '@jest/globals';
import { LiveTable, type Row } from './table.ts';

const bot: Row = {
  kind: 'BotUser',
  name: 'deployer',
  ready: 'True',
  reason: 'DependencyNotReady',
  id: 'bot_VL9IVK7M981un7AiBdEtJ8JjEcR',
};
const policy: Row = { kind: 'TlsEdgeTrafficPolicy', name: 'mail', ready: 'Unknown', reason: '', id: '' };

/** Each after the sequence that empties its line. */
const linesIn = (text: string) =>
  text
    .split('\u001b[2K')
    .slice(1)
    .map((line) => line.trimEnd());

function drawn(columns: number | undefined, ...shown: readonly (readonly Row[])[]): readonly string[] {
  const written: string[] = [];
  const table = new LiveTable({ isTTY: true, columns: () => columns, write: (text) => written.push(text) });
  for (const rows of shown) table.show(rows);
  return written;
}

test('no line goes over the edge of the terminal, for the next drawing counts lines', () => {
  const [first = '', second = ''] = drawn(80, [bot, policy], [bot, { ...policy, ready: 'True' }]);
  for (const line of [...linesIn(first), ...linesIn(second)]) expect(line.length).toBeLessThanOrEqual(80);
  expect(linesIn(first)[1]).toMatch(/^BotUser .* bot_VL9.*…$/);
  expect(second.startsWith('\u001b[3A')).toBe(true);
});

test('where it is not known how wide the terminal is, all is shown', () => {
  for (const columns of [undefined, 0]) expect(linesIn(drawn(columns, [bot])[0] ?? '')[1]).toMatch(/JjEcR$/);
});
