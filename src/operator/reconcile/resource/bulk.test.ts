import { describe, expect, test } from '@jest/globals';
import { unusableID } from '../ownership/ownership.ts';
import { annotation, annotationOf, intentOf, isPaused } from './annotations.ts';
import { isWhole, withoutBulk, withoutForeign } from './bulk.ts';
import type { ManagedObject } from './resource.ts';

const KiB = 1024;

function resource(spec: ManagedObject['spec'], annotations?: Readonly<Record<string, string>>): ManagedObject {
  const labels = { team: 'x' };
  const metadata = { namespace: 'a', name: 'r', uid: 'u', resourceVersion: '7', labels };
  return {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'TlsEdgeTrafficPolicy',
    metadata: annotations === undefined ? metadata : { ...metadata, annotations },
    spec,
  };
}

describe('what is kept of a resource', () => {
  test('all of an ordinary spec', () => {
    const spec = { description: 'd', metadata: 'm'.repeat(4_096) };
    const kept = withoutBulk(resource(spec));
    expect(kept.spec).toEqual(spec);
    expect(isWhole(kept)).toBe(true);
    expect(kept.metadata.labels).toBeUndefined();
  });

  test.each([
    ['a policy', { policy: { inbound: [{ name: 'x'.repeat(64 * KiB) }] } }, { policy: {} }],
    ['a text', { text: 'x'.repeat(64 * KiB) }, { text: '' }],
    ['a list', { ids: Array.from({ length: 1_000 }, () => 'an-id-of-some-length') }, { ids: [] }],
  ])('of a spec with %s only that it is there', (_, large, kept) => {
    const small = { edgeID: 'edgtls_1', enabled: true };
    const slim = withoutBulk(resource({ ...small, ...large }));
    expect(slim.spec).toEqual({ ...small, ...kept });
    expect(isWhole(slim)).toBe(false);
    expect(isWhole({ ...slim })).toBe(false);
    expect(JSON.stringify(slim).length).toBeLessThan(400);
  });

  test('the longest name beside what is large, and no longer text', () => {
    const name = '\u4e00'.repeat(256);
    const large = { text: 'x'.repeat(KiB), list: ['x'.repeat(512)], more: 'x'.repeat(8 * KiB) };
    expect(withoutBulk(resource({ name, ...large })).spec).toEqual({ name, text: '', list: [], more: '' });
  });

  test('none of the annotations that mean nothing, but the name of one of our domain', () => {
    const own = { [annotation.externalID]: 'ra_1' };
    const foreign = {
      'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(64 * KiB),
      'edge-operator.dev/pause': 'x'.repeat(KiB),
      'edge-operator.dev/stop': 'x',
    };
    const kept = { ...own, 'edge-operator.dev/pause': '' };
    expect(withoutBulk(resource({}, { ...foreign, ...own })).metadata.annotations).toEqual(kept);
  });

  test.each(Object.values(annotation))(
    'all of %s, whatever else somebody writes, and of that the beginning',
    (name) => {
      const many = Array.from({ length: 90 }, (_, index) => [`edge-operator.dev/a${index}`, 'x'.repeat(64)]);
      const long = Object.values(annotation).map((each) => [each, 'x'.repeat(10 * KiB)]);
      const record = { [name]: 'r'.repeat(200) };
      const { annotations = {} } = withoutForeign(
        resource({}, { ...Object.fromEntries([...many, ...long]), ...record }),
      ).metadata;
      expect(annotations).toMatchObject(record);
      expect(new Set(Object.keys(annotations))).toEqual(
        new Set([...Object.values(annotation), 'edge-operator.dev/a0']),
      );
      expect(JSON.stringify(annotations).length).toBeLessThan(17 * KiB);
    },
  );

  test('no half of a character', () => {
    const kept = withoutBulk(resource({}, { [annotation.paused]: `x${'\u{1f511}'.repeat(200)}` })).metadata.annotations;
    expect(kept?.[annotation.paused]?.isWellFormed()).toBe(true);
  });

  test.each([300, 5 * KiB, 200 * KiB])('that somebody asks for something, in however many words: %d', (length) => {
    const asked = { [annotation.paused]: 'x'.repeat(length), [annotation.externalID]: 'a'.repeat(length) };
    const kept = withoutBulk(resource({}, asked));
    expect(isPaused(kept)).toBe(true);
    expect(unusableID(kept)).toContain('which is no id');
  });

  test('the whole of an address that is to be taken over from', () => {
    const asked = {
      [annotation.takeOver]: `https://api.example.test/${'x'.repeat(2_000)}`,
      [annotation.paused]: 'true',
    };
    expect(withoutBulk(resource({}, asked)).metadata.annotations).toEqual(asked);
  });

  test('that a create was begun, and a replay, where somebody made the record of it too long to be ours', () => {
    const long = { [annotation.createIntent]: 'x'.repeat(KiB), [annotation.recordOf]: 'u' };
    const kept = withoutBulk(resource({}, { ...long, [annotation.replayIntent]: 'x'.repeat(KiB) }));
    expect(intentOf(kept)).toEqual({});
    expect(annotationOf(kept, annotation.replayIntent)).toBeDefined();
  });
});
