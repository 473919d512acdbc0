import { type Report, run } from '../core/run.ts';
import type { Act, Manifest, Story } from '../core/story.ts';
import { isDoubtful } from './verdicts/doubts.ts';
import { type EndState, endStateOf } from './verdicts/end-state.ts';
import { isForged, isLeftInTrouble, isMadeElsewhere, isRefusedByService, pathsOf } from './verdicts/excuses.ts';
import { isOfAgents, servants } from './verdicts/look.ts';
import { contested, namedBy } from './verdicts/strangers.ts';
import { accountsOf } from './witness/accounts.ts';
import { cloudModelOf } from './witness/cloud-model.ts';
import { canonical, type Fields, fieldsOf } from './witness/json.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { moduleOwnershipOf } from './witness/module-ownership.ts';
import { mutationsOf } from './witness/mutations.ts';
import {
  annotationNames,
  domain,
  externalIDOf,
  isKind,
  isObserved,
  isPaused,
  type Resource,
} from './witness/resource.ts';
import { sightingsOf } from './witness/sightings.ts';
import { minute, perWorld, second, type Witness } from './witness/witness.ts';

/** More would take too long. */
const mostResources = 60;
const settleMs = 3 * minute;
const callsOfResource = 3;

/** Nothing certain can be said of how they end: it depends on who came first, or on what was there before. */
const uncertain = ['Conflict', 'AmbiguousCreate', 'ExternalNotFound', 'DriftDetected', 'Paused', 'OutcomeUnknown'];
const underway = ['Creating', 'Updating', 'Deleting', 'RateLimited', undefined];

/**
 * At rest everything is as if only what people want in the end had been applied to a world without troubles. Resources
 * that import something, and those of agents, are left out; so is everything where there is a great deal of it.
 */
export function sameAsFresh(world: Witness, report: Report) {
  mutationsOf(world);
  sightingsOf(world);
  const written = writtenByOperators(world);
  return {
    atRest: async () => {
      const resources = uncontested(world).filter((each) => isComparable(world, each));
      if (resources.length === 0 || kubeModelOf(world).live.size > mostResources) return;
      const fresh = await endOfFresh(freshStory(world, written), resources);
      for (const resource of resources) {
        const [here, there] = [endStateOf(world, resource), fresh.get(keyOf(resource))];
        const difference = there && differenceOf(here, there);
        if (difference !== undefined) report('same-as-fresh', `${resource.key} ${difference}`);
      }
    },
  };
}

/** Those that could be kept apart from all others, in that world. */
function uncontested(world: Witness): readonly Resource[] {
  const ofStrangers = contested(world);
  return [...kubeModelOf(world).live.values()].filter((each) => !namedBy(each).some((name) => ofStrangers.has(name)));
}

/** ConfigMaps of mirrors are no wish of anybody's. */
const writtenByOperators = perWorld((world) => {
  const names = new Set<string>();
  kubeModelOf(world).writes.add(({ kind, namespace, name, by }) => {
    if (kind === 'ConfigMap' && by !== undefined) names.add(`${namespace}/${name}`);
  });
  return names;
});

function isComparable(world: Witness, resource: Resource): boolean {
  const { version, ready } = resource;
  if (isOfAgents(resource) || version.deleting || isPaused(version) || isObserved(version)) return false;
  if (servants(world, resource).length !== 1 || isImport(resource) || hadModulesOfOthers(world, resource)) return false;
  if (uncertain.includes(ready?.reason ?? '')) return false;
  if (ready?.status !== 'True' && isLeftInTrouble(world, resource)) return false;
  if (ready?.reason === 'Unreachable' && isDoubtful(world, resource)) return false;
  if (ready?.reason === 'DependencyNotReady' && isForged(resource)) return false;
  if (ready?.reason !== 'Rejected') return true;
  return isRefusedByService(world, resource) && !isMadeElsewhere(world, resource);
}

/** With two keys of one account each of two resources has a module for its own, which nobody can know (docs/reliability.md). */
function hadModulesOfOthers(world: Witness, resource: Resource): boolean {
  const paths = pathsOf(resource);
  return [...cloudModelOf(world).things].some(({ name, account, edits }) => {
    const naming = paths.includes(name) ? moduleOwnershipOf(world).naming(name) : [];
    const used = edits.flatMap(({ installation, key }) => (installation === undefined ? [] : key));
    const inForce = naming.flatMap((each) => keysNow(world, each, account));
    return naming.length > 1 && new Set([...used, ...inForce]).size > 1;
  });
}

function keysNow(world: Witness, resource: Resource, account: string): readonly string[] {
  const accesses = servants(world, resource).map((each) => accountsOf(world).now(each, resource));
  return accesses.flatMap((access) => (access?.account === account ? access.key : []));
}

/** A person named an object, now or once. */
function isImport({ versions }: Resource): boolean {
  const all = versions.all;
  return all.some((version, index) => {
    const id = externalIDOf(version);
    const before = all[index - 1];
    return version.by === undefined && id !== undefined && (before === undefined || externalIDOf(before) !== id);
  });
}

function differenceOf(here: EndState, there: EndState): string | undefined {
  if (underway.includes(there.reason) || uncertain.includes(there.reason ?? '')) return undefined;
  if (canonical(here.conditions) !== canonical(there.conditions))
    return `is ${canonical(here.conditions)}; from the start it would be ${canonical(there.conditions)}`;
  const [has, would] = [inBoth(here.content, there.content), inBoth(there.content, here.content)].map(canonical);
  if (here.reason !== 'Available' || has === would) return undefined;
  return `has ${has}; from the start it would be ${would}`;
}

/** Of a module of which less is known in one of two worlds only that; what is missing as a whole is missing. */
function inBoth(content: Fields, other: Fields): Fields {
  return Object.fromEntries(
    Object.entries(content).map(([part, fields]) => {
      const known = other[part];
      if (!isFields(fields) || !isFields(known)) return [part, fields];
      return [part, Object.fromEntries(Object.entries(fields).filter(([field]) => field in known))];
    }),
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}

async function endOfFresh(story: Story, resources: readonly Resource[]): Promise<ReadonlyMap<string, EndState>> {
  const ends = new Map<string, EndState>();
  const keys = new Set(resources.map(keyOf));
  const capture = (world: Witness) => {
    mutationsOf(world);
    return {
      atRest: () => {
        for (const each of uncontested(world))
          if (keys.has(keyOf(each))) ends.set(keyOf(each), endStateOf(world, each));
      },
    };
  };
  await run(story, { oracles: [capture], troubles: {} });
  return ends;
}

const keyOf = ({ kind, namespace, name }: Resource): string => `${kind} ${namespace}/${name}`;

/** All that people want in the end, at once. */
function freshStory(world: Witness, written: ReadonlySet<string>): Story {
  const { story, scheduler } = world;
  const installations = story.installations.map(({ replicas: _, ...spec }) => spec);
  const starts = installations.flatMap(({ name }): Act[] => {
    const acts = story.acts.filter((act) => (act.do === 'start' || act.do === 'stop') && act.installation === name);
    const last = acts.toSorted((a, b) => a.at - b.at).at(-1);
    return last?.do === 'start' && last.at <= scheduler.now ? [{ ...last, at: 0 }] : [];
  });
  const objects = [...world.kube.snapshot().objects].map(([, { object }]) => object as unknown as Manifest);
  const wanted = objects.filter((object) => isWish(object, written)).toSorted(byAge);
  const acts = wanted.map((object): Act => ({ at: second, do: 'apply', object: wishOf(object) }));
  return { ...story, installations, acts: [...starts, ...acts], settleMs: settleMs + budgetMs(wanted), calmMs: 0 };
}

/** What the poorest account makes those who use it wait. */
function budgetMs(wanted: readonly Manifest[]): number {
  const accounts = wanted.filter(({ kind }) => kind === 'CloudAccount');
  const waits = accounts.map(({ metadata: { namespace, name }, spec }) => {
    const users = wanted.filter(
      (each) => each.metadata.namespace === namespace && fieldsOf(fieldsOf(each.spec).accountRef).name === name,
    );
    return ((users.length + 1) * callsOfResource * minute) / Number(fieldsOf(spec).requestsPerMinute ?? 120);
  });
  return Math.max(0, ...waits);
}

function isWish({ kind, metadata }: Manifest, written: ReadonlySet<string>): boolean {
  const { namespace, name, deletionTimestamp } = metadata as Fields & Manifest['metadata'];
  if (deletionTimestamp !== undefined) return false;
  if (kind === 'ConfigMap') return !written.has(`${namespace}/${name}`);
  return isKind(kind) || kind === 'Secret';
}

/** What is referred to first, then in the order in which it came to be. */
function byAge(a: Manifest, b: Manifest): number {
  const rank = ({ kind, metadata }: Manifest) =>
    `${isKind(kind) ? (kind === 'CloudAccount' ? 1 : 2) : 0} ${String(fieldsOf(metadata).creationTimestamp)}`;
  return rank(a) < rank(b) ? -1 : 1;
}

/** Without what servers and operators added. */
function wishOf({ apiVersion, kind, metadata, spec, data, type }: Manifest): Manifest {
  const { name, namespace, labels, annotations = {} } = metadata;
  const wishes: readonly string[] = Object.values(annotationNames);
  const own = Object.entries(annotations).filter(
    ([key]) => !key.startsWith(`${domain}/`) || (wishes.includes(key) && key !== annotationNames.externalID),
  );
  return {
    ...{ apiVersion, kind },
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      annotations: Object.fromEntries(own),
    },
    ...Object.fromEntries(Object.entries({ spec, data, type }).filter(([, value]) => value !== undefined)),
  };
}
