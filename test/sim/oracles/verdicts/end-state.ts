import { accountsOf } from '../witness/accounts.ts';
import { cloudModelOf, type Thing } from '../witness/cloud-model.ts';
import { type Expectation, missing, strange } from '../witness/expectation.ts';
import { impliedModules, impliedObject } from '../witness/implied.ts';
import { installationsOf } from '../witness/installations.ts';
import { type Fields, textOf } from '../witness/json.ts';
import { kubeModelOf } from '../witness/kube-model.ts';
import { moduleOwnershipOf, names, partOf } from '../witness/module-ownership.ts';
import type { Resource, Status, Version } from '../witness/resource.ts';
import { wasTroubled } from '../witness/troubled.ts';
import { installationOf } from '../witness/who.ts';
import type { Witness } from '../witness/witness.ts';
import { servants } from './look.ts';

/** What became of a resource: how it stands, and what its spec sets in the cloud, without ids and times. */
export interface EndState {
  readonly reason: string | undefined;
  /** Ready and the conditions of parts, by type. */
  readonly conditions: Readonly<Record<string, string>>;
  /** By the path below its own, what the service shows of the fields that the spec sets. */
  readonly content: Fields;
}

export function endStateOf(world: Witness, resource: Resource): EndState {
  const conditions = (resource.status?.conditions ?? []).filter(({ type }) => type.endsWith('Ready'));
  return {
    reason: resource.ready?.reason,
    conditions: Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`])),
    content: contentOf(world, resource),
  };
}

function contentOf(world: Witness, resource: Resource): Fields {
  const { kind, version, status, namespace } = resource;
  const [installation] = servants(world, resource);
  const account = installation && accountsOf(world).now(installation, resource)?.account;
  if (account === undefined) return {};
  const { now } = world.scheduler;
  const cloud = cloudModelOf(world);
  const object = impliedObject(kind, version.spec);
  if (object !== undefined)
    return shown(cloud.thing(account, textOf(status?.fields.id) ?? '')?.content, object.content);
  const read = (of: 'Secret' | 'ConfigMap', name: string, key: string) =>
    kubeModelOf(world).valuesOf(of, namespace, name, key, now, now);
  return Object.fromEntries(
    impliedModules(kind, version.spec, read).map(({ part, path, content }) => [
      part,
      moduleContent(world, resource, cloud.thing(account, path), content),
    ]),
  );
}

/**
 * With what the spec leaves out, where the operator alone put it: the service has chosen that then, and nobody else. What a person
 * changed, or what was there before the resource named it, keeps that: only what a spec sets is compared. So does what was asked for after the backup
 * from which Kubernetes was restored: nobody remembers it.
 */
function moduleContent(
  world: Witness,
  resource: Resource,
  module: Thing | undefined,
  expectation: Expectation,
): Fields {
  const content = module?.content;
  const last = module?.edits.at(-1);
  if (module === undefined || content === undefined || last?.installation === undefined)
    return shown(content, expectation);
  const part = partOf(resource, module.name) ?? '';
  const namedAt = resource.versions.all.find((version) => names(version, part))?.at ?? resource.createdAt;
  const isOlder = module.edits.some((edit) => edit.installation === undefined || edit.sentAt < namedAt);
  const isLeft =
    moduleOwnershipOf(world).wasPutWithWrongKey(module, resource) ||
    wasChangedElsewhere(world, module, resource) ||
    module.edits.some(({ sentAt }) => wasTroubled(world, 'kube-restored', sentAt));
  if (isOlder || isLeft) return shown(content, expectation);
  return Object.fromEntries(
    Object.entries(expectation).map(([field, { shown: of }]) => [
      field,
      of === undefined ? (content[field] ?? '') : of(content),
    ]),
  );
}

/** It asked for something else than was put, and that was done where another key led: of what is here nobody remembers. */
function wasChangedElsewhere(world: Witness, { name, account, edits }: Thing, resource: Resource): boolean {
  return edits.some(({ sentAt, body }, index) => {
    const until = edits[index + 1]?.sentAt ?? Number.POSITIVE_INFINITY;
    const change = resource.versions.all.find((version) => {
      if (version.at <= sentAt) return false;
      const asked = moduleOwnershipOf(world).asked(resource, version, name, [version.at, version.at])?.content;
      return asked !== undefined && strange(body, asked).length + missing(body, asked).length > 0;
    });
    const isDone = (status: Status, of: Version) => status.at >= of.at && status.at < until && saysDone(status, of);
    const done = change && resource.statuses.all.find((status) => isDone(status, change));
    const installation = installationsOf(world).get(installationOf(done?.by ?? '') ?? '');
    const access = done && installation && accountsOf(world).at(installation, resource, done.at);
    return access?.account !== undefined && access.account !== account;
  });
}

/** Of some part at least. */
function saysDone({ conditions }: Status, { generation }: Version): boolean {
  return conditions.some(
    ({ type, status, observedGeneration = 0 }) =>
      type.endsWith('Ready') && status === 'True' && observedGeneration >= generation,
  );
}

function shown(content: Fields | undefined, expectation: Expectation): Fields {
  if (content === undefined) return {};
  return Object.fromEntries(
    Object.entries(expectation)
      .filter(([, { oneOf }]) => !oneOf.every((each) => each === undefined))
      .map(([field, { shown: of }]) => [field, of === undefined ? (content[field] ?? '') : of(content)]),
  );
}
