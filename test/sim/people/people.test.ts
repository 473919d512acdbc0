import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Act, endOf, type Manifest, type Story } from '../core/story.ts';
import { BareAPI } from './bare-api.fixture.ts';
import { apiKeys, revokedKey } from './cloud-keys.ts';
import { ownerIn } from './content.ts';
import { makeStory, names, type TroubleKind } from './index.ts';
import { pairings } from './pairings.ts';

const trouble: TroubleKind = { about: 'nothing', plan: (chance) => ({ forMs: chance.int(1_000, 60_000) }) };
const troubles = { 'lost-answers': trouble, 'kube-restored': trouble, crashes: trouble };

const seeds = Array.from({ length: 300 }, (_, seed) => seed);
const stories = seeds.map((seed) => makeStory(seed, { troubles }));
const told = JSON.stringify(stories);

const kinds = [
  ...['Namespace', 'Secret', 'ConfigMap', 'CloudAccount', 'ReservedAddr', 'BotUser', 'HttpsRouteModules'],
  ...['HttpsEdgeModules', 'TlsEdgeTrafficPolicy', 'Agent', 'AgentTunnel', 'RequestReplay'],
];

function refOf(act: Act) {
  if (act.do === 'apply' || act.do === 'replace') return { kind: act.object.kind, ...act.object.metadata };
  if (act.do === 'copy') return { ...act.to, kind: act.from.kind };
  return act.do === 'patch' || act.do === 'delete' ? act.ref : undefined;
}

const manifestsIn = ({ acts }: Story): readonly Manifest[] =>
  acts.flatMap((act) => (act.do === 'apply' && act.refused === undefined ? [act.object] : []));

describe('300 stories', () => {
  test('are JSON, and the same each time', () => {
    expect(JSON.parse(JSON.stringify(stories.slice(0, 30)))).toStrictEqual(stories.slice(0, 30));
    expect(JSON.stringify(seeds.map((seed) => makeStory(seed, { troubles }))) === told).toBe(true);
  });

  test('tell of kinds that there are, at times that there are, of a size that people can read', () => {
    const sizes = stories.map(({ acts }) => acts.length).toSorted((a, b) => a - b);
    expect(sizes[0]).toBeGreaterThan(5);
    expect(sizes[150]).toBeLessThan(60);
    const acts = stories.flatMap((story) => story.acts);
    expect(acts.filter(({ at }) => !Number.isInteger(at) || at < 0)).toEqual([]);
    const strange = acts.filter((act) => !kinds.includes(refOf(act)?.kind ?? 'Secret'));
    expect(strange).toEqual([]);
  });

  test('end with operators as they are meant to be, and after all troubles', () => {
    for (const { acts, installations } of stories) {
      for (const { name } of installations) {
        const last = acts.findLast((act) => 'installation' in act && act.installation === name);
        expect(last?.do).toBe('start');
        expect(Object.keys(last ?? {})).not.toEqual(expect.arrayContaining(['settings']));
      }
    }
  });

  test('tell again what a restore undid, after all troubles', () => {
    const isWrite = (act: Act) => refOf(act) !== undefined;
    for (const { acts } of stories) {
      const [lost] = acts.filter((act) => act.do === 'trouble' && act.name === 'kube-restored');
      if (lost === undefined) continue;
      const over = endOf({ acts: acts.filter((act) => act.do === 'trouble') });
      const deeds = (those: readonly Act[]) => those.map(({ at: _, ...deed }) => JSON.stringify(deed));
      const first = acts.slice(0, acts.findLastIndex((act) => act.do === 'trouble') + 1);
      const undone = first.filter((act) => isWrite(act) && act.at >= lost.at);
      const again = acts.filter((act) => isWrite(act) && act.at > over);
      expect(deeds(again)).toEqual(expect.arrayContaining(deeds(undone)));
    }
  });

  test('say whose each object is, but where they are meant to be alike', () => {
    const strange = stories.flatMap(manifestsIn).filter(({ kind, metadata: { namespace, name }, spec }) => {
      if (!['ReservedAddr', 'BotUser'].includes(kind) || name.includes('{{n}}')) return false;
      const { description, name: called } = spec as Readonly<Record<string, string>>;
      const owner = ownerIn((kind === 'BotUser' ? called : description) ?? '');
      return owner !== (/^(twin|same)-/.test(name) ? undefined : `${namespace}/${name}`);
    });
    expect(strange).toEqual([]);
  });

  test('leave two accounts that share a key no keys of their own', () => {
    const sharing = seeds.map((seed) => makeStory(seed, { only: ['shared-key', 'edits'], troubles }));
    const strange = sharing.filter((story) => {
      const last = new Map(
        manifestsIn({ ...story, acts: story.acts.toSorted((a, b) => a.at - b.at) }).flatMap(
          ({ metadata, stringData }) =>
            metadata.name.startsWith('shared-') && stringData !== undefined
              ? [[metadata.name, stringData] as const]
              : [],
        ),
      );
      return new Set([...last.values()].map((data) => JSON.stringify(data))).size !== 1;
    });
    expect(strange.map(({ seed }) => seed)).toEqual([]);
  });

  test('have CANARY in every secret, and no key that opens nothing but the revoked one', () => {
    const known = apiKeys.map((entry) => entry.split('=')[1] ?? '');
    const bare = stories.flatMap(manifestsIn).flatMap(({ kind, stringData = {}, spec }): readonly string[] => {
      const { saml } = (spec ?? {}) as { readonly saml?: { readonly idpMetadata?: string } };
      const secrets = Object.entries(kind === 'Secret' ? (stringData as Readonly<Record<string, string>>) : {});
      const strangers = secrets.filter(
        ([key, value]) => key === 'api-key' && ![...known, revokedKey, ''].includes(value),
      );
      const values = [...secrets.map(([, value]) => value), saml?.idpMetadata ?? ''];
      return [...strangers.flat(), ...values.filter((value) => value !== '' && !/CANARY-\d/.test(value))];
    });
    expect(bare).toEqual([]);
  });
});

describe('what a name switches on', () => {
  test.each(names)('%s does something', (name) => {
    const plain = makeStory(5, { only: [], troubles });
    const story = makeStory(5, { only: [name], troubles });
    expect(story.acts.length).toBeGreaterThan(plain.acts.length);
  });

  test.each(names)('%s does the same whatever else is on', (name) => {
    // What comes to be by itself comes as soon as somebody needs it.
    const isOwn = (act: Act) =>
      !['Secret', 'ConfigMap', 'Namespace'].includes(refOf(act)?.kind ?? '') && act.do !== 'start';
    const acts = (only: readonly string[]) => makeStory(7, { only, troubles }).acts.filter(isOwn);
    const others = names.filter((each) => each !== name && each !== 'two-operators').slice(0, 6);
    const all = new Set(acts([name, ...others]).map((act) => JSON.stringify(act)));
    // Two names, so that it brings nobody with it.
    for (const act of acts([name, 'edits'])) expect(all).toContain(JSON.stringify(act));
  });

  test('a trouble alone brings what it goes with', () => {
    const story = makeStory(1, { only: ['lost-answers'], troubles });
    expect(story.acts.filter((act) => act.do === 'trouble').length).toBeGreaterThan(1);
    expect(story.acts.some((act) => act.do === 'delete')).toBe(true);
  });

  test('an unknown one is an error', () => {
    expect(() => makeStory(1, { only: ['edit'], troubles })).toThrow('nobody knows "edit"');
  });

  test('pairings name habits that there are', () => {
    const known = [...names, ...Object.keys(pairings)];
    for (const partner of Object.values(pairings).flat()) expect(known).toContain(partner);
  });
});

describe('Kubernetes', () => {
  const kube = new BareAPI();
  beforeEach(() => kube.reset());
  afterAll(() => kube.close());

  /** Those that refer to something that is not there, or wait for somebody. */
  function leftUndone(): readonly string[] {
    const has = (kind: string, namespace: string | undefined, name: unknown) =>
      kube.all(kind).some((each) => each.metadata.namespace === namespace && each.metadata.name === name);
    return kinds.slice(3).flatMap((kind) =>
      kube.all(kind).flatMap(({ metadata: { namespace, name, annotations = {} }, spec }) => {
        const text = JSON.stringify(spec);
        const { accountRef, agentRef, apiKeySecretRef } = spec as Readonly<Record<string, { readonly name: string }>>;
        const missing = [
          accountRef !== undefined && !has('CloudAccount', namespace, accountRef.name),
          agentRef !== undefined && !has('Agent', namespace, agentRef.name),
          apiKeySecretRef !== undefined && !has('Secret', namespace, apiKeySecretRef.name),
          /"(secretRef|secretKeyRef)"/.test(text) && !has('Secret', namespace, 'hooks'),
          text.includes('configMapKeyRef') && !has('ConfigMap', namespace, 'documents'),
          annotations['edge-operator.dev/paused'] === 'true',
        ];
        return missing.includes(true) ? [`${kind} ${namespace}/${name} ${missing}`] : [];
      }),
    );
  }

  async function tell({ seed, acts }: Story): Promise<void> {
    for (const act of acts.toSorted((a, b) => a.at - b.at)) {
      const code = await kube.do(act);
      const isMeant = 'refused' in act && act.refused === true;
      const isRight = isMeant
        ? code === 422 || code === 404
        : code === undefined || (code === 404 && act.do !== 'apply');
      if (!isRight) throw new Error(`seed ${seed}: ${code} to ${JSON.stringify(act)}`);
    }
    await kube.rest();
    expect([seed, leftUndone()]).toEqual([seed, []]);
  }

  test('admits what it is meant to admit, and nothing is left undone: everything at once', async () => {
    for (const story of stories.slice(0, 40)) {
      kube.reset();
      await tell(story);
    }
  });

  test.each(names)('admits what it is meant to admit, and nothing is left undone: %s', async (name) => {
    for (const seed of [1, 2, 3]) {
      kube.reset();
      await tell(makeStory(seed, { only: [name], troubles }));
    }
  });
});
