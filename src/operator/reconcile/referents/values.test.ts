import { expect, test } from '@jest/globals';
import { contentOf, type DataObject, keptValue, sameValue } from './values.ts';

const bytes = (...values: readonly number[]) => Buffer.from(values).toString('base64');
const utf16 = Buffer.from('\ufeff<EntityDescriptor/>', 'utf16le').toString('base64');
const of = (kind: 'Secret' | 'ConfigMap', fields: Pick<DataObject, 'data' | 'binaryData'>): DataObject => ({
  ...{ apiVersion: 'v1', kind, metadata: { name: 'a' } },
  ...fields,
});
const kept = (object: DataObject) => keptValue(contentOf(object, 'k'));

test.each([
  ['a Secret', of('Secret', { data: { k: Buffer.from('schlüssel \ufffd').toString('base64') } }), 'schlüssel \ufffd'],
  ['a ConfigMap', of('ConfigMap', { data: { k: 'Zm9v' } }), 'Zm9v'],
  ['binary data of a ConfigMap', of('ConfigMap', { binaryData: { k: 'Zm9v' } }), 'foo'],
])('text of %s', (_, object, text) => expect(kept(object)).toEqual({ kind: 'text', text, digest: text }));

test.each([
  ['a Secret', of('Secret', { data: { k: bytes(0x66, 0xff) } })],
  ['a text in UTF-16', of('ConfigMap', { binaryData: { k: utf16 } })],
])('%s that is no UTF-8 is not read as what it is not', (_, object) => {
  expect(kept(object)).toMatchObject({ kind: 'refused', problem: 'is no text in UTF-8' });
});

test('values that are no text are told apart', () => {
  const [one, other] = [0xfe, 0xff].map((byte) => kept(of('Secret', { data: { k: bytes(byte) } })));
  expect([one && sameValue(one, one), one && other && sameValue(one, other)]).toEqual([true, false]);
});
