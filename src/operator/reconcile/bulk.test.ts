import { describe, expect, test } from '@jest/globals';
import { annotation, intentOf, isPaused } from './annotations.ts';
import { isWhole, withoutBulk, withoutForeign } from './bulk.ts';
import { unusableID } from './ownership.ts';
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

  test('our own annotations, as far as they can be ours', () => {
    const own = { 'edge-operator.dev/external-id': 'ra_1', 'edge-operator.dev/record': 'r' };
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`edge-operator.dev/a${index}`, 'x'.repeat(100)]),
    );
    const foreign = { 'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(64 * KiB) };
    const long = { 'edge-operator.dev/reconcile-at': 'x'.repeat(200 * KiB) };
    const begun = { 'edge-operator.dev/reconcile-at': 'x'.repeat(256) };
    expect(withoutBulk(resource({}, { ...foreign, ...own, ...long })).metadata.annotations).toEqual({
      ...own,
      ...begun,
    });
    const kept = withoutForeign(resource({}, { ...many, ...own })).metadata.annotations ?? {};
    expect(kept['edge-operator.dev/external-id']).toBe('ra_1');
    expect(JSON.stringify(kept).length).toBeLessThan(10 * KiB);
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

  test('our records, however long somebody makes what else is of ours', () => {
    const long = 'x'.repeat(4 * KiB);
    const records = { [annotation.createIntent]: '{"at":"2030-01-01T00:00:00Z"}', [annotation.recordOf]: 'u' };
    const others = { [annotation.appliedParts]: long, [annotation.forceOrphan]: long, [annotation.heldSecret]: long };
    const kept = withoutBulk(resource({}, { ...others, ...records }));
    expect(intentOf(kept)).toEqual({ at: '2030-01-01T00:00:00Z' });
  });
});
