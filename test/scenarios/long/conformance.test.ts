import { describe, expect, test } from '@jest/globals';
import { annotation } from '../../../src/operator/reconcile/resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../../../src/operator/reconcile/resource/resource.ts';
import { until } from '../../support/until.ts';
import { nextSecond } from '../../support/world.ts';
import { type ExternalCase, identifiedCases, kindCases, specOf } from '../kinds.ts';
import { byPath, changesOf, useStage } from '../stage.ts';

/* What every kind must do, by the exact calls it makes. */

const stage = useStage();
const idOf = (object: ManagedObject) => object.status?.id as string;
const readyOf = (object: ManagedObject) => conditionOf(object, 'Ready');
const pick = (from: Readonly<Record<string, unknown>>, keys: readonly string[]) =>
  Object.fromEntries(keys.map((key) => [key, from[key]]));

/** What the service assigns ids to: it is made by a POST, changed by a PATCH, and looked at in one list of all. */
const collections = () => identifiedCases.flatMap(({ externals }) => externals.map(({ path }) => path(stage.parents)));

describe.each(kindCases)('$kind', (row) => {
  const { kind, label, externals } = row;
  const identified = label !== undefined;
  const spec = (more: object = {}) => ({ ...specOf(row, stage.parents, externals), ...more });
  const apply = (name: string, fields: object = spec(), annotations: object = {}) =>
    stage.world.apply(kind, stage.namespace, name, fields, annotations);
  const available = async (name: string, fields?: object, annotations?: object) =>
    stage.world.reason(await apply(name, fields, annotations), 'Available');
  const gone = async (object: ManagedObject) => {
    await stage.world.delete(object);
    await stage.world.gone(object);
  };
  const conditions = (object: ManagedObject) =>
    externals.map(({ condition }) => conditionOf(object, condition)?.reason);
  const all = <T>(value: T): T[] => externals.map(() => value);

  /** What the operator asked, but for the lists of all objects of an account. */
  const calls = () =>
    identified
      ? stage.requests().filter(({ method, path }) => method !== 'GET' || !collections().includes(path))
      : stage.calls();
  const mutations = () => changesOf(calls());
  const rounds = (count: number) => stage.rounds(externals, count);

  const at = ({ path }: ExternalCase, object: ManagedObject) =>
    identified ? `${path(stage.parents)}/${idOf(object)}` : path(stage.parents);
  const made = (more: object = {}) =>
    byPath(
      externals.map(({ path, sent }) => ({
        method: identified ? 'POST' : 'PUT',
        path: path(stage.parents),
        body: { ...sent, ...more },
      })),
    );
  const changed = (external: ExternalCase, object: ManagedObject, body: object) => ({
    method: identified ? 'PATCH' : 'PUT',
    path: at(external, object),
    body: identified ? body : { ...external.sent, ...body },
  });
  const putBack = (object: ManagedObject) =>
    byPath(externals.map((each) => changed(each, object, pick(each.sent, Object.keys(each.drift.body)))));
  const removed = (object: ManagedObject) =>
    byPath(externals.map((each) => ({ method: 'DELETE', path: at(each, object) })));

  const eachOf = async (method: string, object: ManagedObject) =>
    Promise.all(externals.map(async (each) => (await stage.world.cloud.call(method, at(each, object))).status));
  const statuses = (object: ManagedObject) => eachOf('GET', object);
  const drift = async (object: ManagedObject) => {
    for (const each of externals) {
      const { method, path, body } = changed(each, object, each.drift.body);
      expect((await stage.world.cloud.call(method, path, body)).status).toBe(200);
    }
  };
  const [first] = externals as readonly [ExternalCase];
  /** Somebody else makes what the spec asks for. Gives the annotations by which a resource finds it. */
  const makeElsewhere = async (more: object = {}): Promise<Readonly<Record<string, string>>> => {
    const answers = [];
    for (const { method, path, body } of made(more)) answers.push(await stage.world.cloud.call(method, path, body));
    stage.world.cloud.clearRequests();
    return identified ? { [annotation.externalID]: answers[0]?.body.id } : {};
  };
  const sharing = (object: ManagedObject) => (identified ? { [annotation.externalID]: idOf(object) } : {});
  /** Content that nothing else in the account has, so that a look-up finds what this test made and nothing more. */
  const unique = () => {
    const text = `unique ${stage.namespace} ${Math.random()}`;
    return identified ? { inSpec: { [label.spec]: text }, inBody: { [label.body]: text } } : { inSpec: {}, inBody: {} };
  };
  const lose = (count: number) => {
    for (const { method, path } of made()) stage.world.cloud.fault(`${method} ${path} drop count=${count}`);
  };

  test('create: one call for each external object, then status and conditions', async () => {
    const object = await available('a');
    expect(mutations()).toEqual(made());
    for (const { method, headers } of calls()) {
      const body = method === 'GET' ? {} : { 'content-type': 'application/json' };
      const agent = expect.stringMatching(/^edge-operator\//);
      expect(headers).toMatchObject({ 'service-version': '2', 'user-agent': agent, ...body });
    }
    expect(conditions(object)).toEqual(all('Available'));
    expect(object.status?.observedGeneration).toBe(object.metadata.generation);
    for (const each of externals) {
      const { body } = await stage.world.cloud.call('GET', at(each, object));
      const status = each.name === undefined ? object.status : object.status?.[each.name];
      expect(status).toMatchObject({ ...each.status(body), ...(each.name === undefined ? {} : { applied: true }) });
    }
    await stage.notesOf(object, 'Created', externals.length);
    expect((await stage.world.events(object)).map(({ reason }) => reason)).toEqual(all('Created'));
  });

  test('steady state: no write to the cloud or to Kubernetes, over three checks', async () => {
    const before = await available('a');
    stage.world.cloud.clearRequests();
    // A list of all objects may be under way already.
    await rounds(identified ? 4 : 3);
    expect((await stage.world.get(before))?.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(mutations()).toEqual([]);
    if (identified) expect(calls()).toEqual([]);
  });

  test('what is there already, and as asked, is taken over without a write', async () => {
    const object = await available('a', spec(), await makeElsewhere());
    await rounds(1);
    expect(mutations()).toEqual([]);
    await gone(object);
    expect(mutations()).toEqual(removed(object));
  });

  const changes = externals.flatMap((external) =>
    external.changes.map((change) => ({ external, of: external.name ?? kind, ...change })),
  );
  test.each(changes)('a changed $field of $of is one call that changes it', async ({ external, field, spec, sent }) => {
    const fields = (more: object) => specOf(row, stage.parents, [external], (each) => ({ ...each.spec, ...more }));
    const object = await available('a', fields({}));
    stage.world.cloud.clearRequests();
    await available('a', fields(spec));
    expect(mutations()).toEqual([changed(external, object, sent)]);
    expect(await stage.notesOf(object, 'Updated')).toEqual([expect.stringContaining(`updated ${field} of `)]);
  });

  test('drift is put back, with one event for each external object that names the field', async () => {
    const object = await available('a');
    stage.world.cloud.clearRequests();
    await drift(object);
    await until('the drift to be put back', () => mutations().length >= externals.length);
    await rounds(2);
    expect(mutations()).toEqual(putBack(object));
    const notes = await stage.notesOf(object, 'DriftCorrected', externals.length);
    expect(notes).toHaveLength(externals.length);
    const expected = externals.map(({ drift }) => expect.stringContaining(`put back ${drift.field} of `));
    expect(notes).toEqual(expect.arrayContaining(expected));
  });

  test('what vanished behind our back is made again, once', async () => {
    const object = await available('a');
    stage.world.cloud.clearRequests();
    expect(await eachOf('DELETE', object)).toEqual(all(204));
    await until('it to be made again', () => mutations().length >= externals.length);
    await rounds(2);
    expect(mutations()).toEqual(made());
    expect(await stage.notesOf(object, 'DriftCorrected', externals.length)).toHaveLength(externals.length);
    await until('the status to show what is there', async () => {
      const found = await stage.world.get(object);
      return found && (await statuses(found)).every((status) => status === 200);
    });
  });

  test('an answer that was lost after the work was done: nothing is sent again', async () => {
    lose(1);
    const own = unique();
    const object = await available('a', spec(own.inSpec));
    expect(mutations()).toEqual(made(own.inBody));
    if (identified) await stage.notesOf(object, 'Adopted');
  });

  test('delete: one DELETE for each external object, and only then the resource goes', async () => {
    const object = await available('a');
    stage.world.cloud.clearRequests();
    await gone(object);
    expect(mutations()).toEqual(removed(object));
    expect(await statuses(object)).toEqual(all(404));
  });

  test('delete: a DELETE that fails keeps the resource, and is sent again', async () => {
    const object = await available('a');
    // Twice, so that the pause in which it shows is one that a busy machine does not miss.
    stage.world.cloud.fault(`DELETE ${at(first, object)} status=500 count=2`);
    await stage.world.delete(object);
    await until('the failed delete to show', async () => {
      const found = await stage.world.get(object);
      return found && readyOf(found)?.message.startsWith('deleting:');
    });
    await stage.world.gone(object);
    const deletes = calls().filter(({ method, path }) => method === 'DELETE' && path === at(first, object));
    expect(deletes.map(({ status }) => status)).toEqual([500, 500, 204]);
    expect(await statuses(object)).toEqual(all(404));
  });

  test('delete: what is gone already counts as deleted', async () => {
    const object = await available('a', spec({ resyncIntervalSeconds: 3_600 }));
    expect(await eachOf('DELETE', object)).toEqual(all(204));
    await gone(object);
  });

  test('Retain leaves what is external', async () => {
    const object = await available('a', spec({ deletionPolicy: 'Retain' }));
    stage.world.cloud.clearRequests();
    await gone(object);
    expect(mutations()).toEqual([]);
    expect(await statuses(object)).toEqual(all(200));
    const notes = await stage.notesOf(object, 'Orphaned');
    expect(notes).toEqual([expect.stringMatching(/ is left behind: deletionPolicy is Retain$/)]);
  });

  test('Observe sends no mutating call, reports drift and lets go without deleting', async () => {
    const annotations = await makeElsewhere();
    const object = await available('a', spec({ managementPolicy: 'Observe' }), annotations);
    await drift(object);
    const drifted = await until('all drift to be reported', async () => {
      const found = await stage.world.get(object);
      return found && conditions(found).every((reason) => reason === 'DriftDetected') && found;
    });
    for (const { drift } of externals) expect(readyOf(drifted)?.message).toContain(drift.field);
    expect(conditionOf(drifted, 'Stalled')?.status).toBe('True');
    await gone(object);
    expect(mutations()).toEqual([]);
    expect(await stage.notesOf(object, 'Orphaned', 0)).toEqual([]);
  });

  test('Observe of nothing says so', async () => {
    const object = await stage.world.reason(
      await apply('a', spec({ managementPolicy: 'Observe' })),
      'ExternalNotFound',
    );
    expect(conditions(object)).toEqual(all('ExternalNotFound'));
    if (identified) expect(readyOf(object)?.message).toContain(annotation.externalID);
    expect(mutations()).toEqual([]);
  });

  test('paused: no call until the annotation goes', async () => {
    const object = await apply('a', spec(), { [annotation.paused]: 'true' });
    await stage.world.reason(object, 'Paused');
    expect(calls()).toEqual([]);
    await stage.world.annotate(object, { [annotation.paused]: null });
    await stage.world.reason(object, 'Available');
    expect(mutations()).toEqual(made());
  });

  test('reconcile-at asks for a look now and is echoed', async () => {
    const object = await available('a', spec({ resyncIntervalSeconds: 3_600 }));
    await drift(object);
    stage.world.cloud.clearRequests();
    await stage.world.annotate(object, { [annotation.reconcileAt]: 'now' });
    const handled = async () => (await stage.world.get(object))?.status?.lastHandledReconcileAt === 'now';
    await until('the annotation to be echoed', handled);
    expect(mutations()).toEqual(putBack(object));
  });

  test('two resources on the same: the older has it, the other takes over when it goes', async () => {
    const older = await available('a', spec({ deletionPolicy: 'Retain' }));
    await nextSecond(older);
    stage.world.cloud.clearRequests();
    const loser = await stage.world.reason(await apply('b', spec(), sharing(older)), 'Conflict');
    expect(conditions(loser)).toEqual(all('Conflict'));
    expect(readyOf(loser)?.message).toContain(`${stage.namespace}/a`);
    expect(conditionOf(loser, 'Stalled')?.status).toBe('True');
    await stage.world.delete(older);
    expect(idOf(await stage.world.reason(loser, 'Available'))).toBe(idOf(older));
    expect(mutations()).toEqual([]);
  });

  test('a loser that is deleted leaves the external objects to the winner', async () => {
    const older = await available('a');
    await nextSecond(older);
    const loser = await stage.world.reason(await apply('b', spec(), sharing(older)), 'Conflict');
    stage.world.cloud.clearRequests();
    await gone(loser);
    await rounds(1);
    expect(mutations()).toEqual([]);
  });

  test('force-orphan lets go without a call, and says what is left behind', async () => {
    const object = await available('a');
    stage.world.cloud.clearRequests();
    for (const each of externals) stage.world.cloud.fault(`DELETE ${at(each, object)} status=401`);
    await stage.world.annotate(object, { [annotation.forceOrphan]: 'true' });
    await gone(object);
    expect(mutations()).toEqual([]);
    const [orphaned] = await stage.world.eventsOf(object, 'Orphaned');
    const left = identified ? idOf(object) : row.ids(stage.parents).edgeID;
    expect(orphaned).toMatchObject({ type: 'Warning', note: expect.stringContaining(String(left)) });
  });

  if (!identified) return;
  /* Only what the service assigns an id to can be lost with its id. */

  test('create: the id is recorded, and the intent is not left behind', async () => {
    const { metadata, status } = await available('a');
    expect(metadata.annotations?.[annotation.externalID]).toBe(status?.id);
    expect(metadata.annotations?.[annotation.createIntent]).toBeUndefined();
  });

  test('a replacement that wipes finalizer and annotations loses nothing', async () => {
    const object = await available('a');
    stage.world.cloud.clearRequests();
    await stage.world.replace(object, spec({ resyncIntervalSeconds: 30 }));
    const found = await until('the records to be back', async () => {
      const { metadata } = (await stage.world.get(object)) as ManagedObject;
      return (
        metadata.annotations?.[annotation.createdID] !== undefined && metadata.finalizers?.length === 1 && metadata
      );
    });
    expect(found.annotations).toEqual(object.metadata.annotations);
    await gone(object);
    expect(mutations().map(({ method }) => method)).toEqual(['DELETE']);
  });

  test('a list that is refused, as when its cursor has just been deleted, stalls nobody', async () => {
    const object = await available('a');
    // Until it is told: between one look at the status and the next it may be over, and others list as well.
    stage.world.cloud.fault(`GET ${first.path(stage.parents)} status=400`);
    const told = await stage.world.reason(object, 'Unreachable');
    stage.world.cloud.clearFaults();
    expect(conditionOf(told, 'Stalled')).toBeUndefined();
    await stage.world.reason(object, 'Available');
  });

  test('an id set by hand imports an existing object', async () => {
    const annotations = await makeElsewhere(first.drift.body);
    const object = await available('a', spec(), annotations);
    expect(idOf(object)).toBe(annotations[annotation.externalID]);
    expect(mutations()).toEqual(putBack(object));
    await Promise.all(['Adopted', 'Updated'].map((reason) => stage.world.eventsOf(object, reason)));
    expect((await stage.world.events(object)).map((event) => event.reason).sort()).toEqual(['Adopted', 'Updated']);
  });

  test('an imported object that does not exist is reported, not created', async () => {
    const object = await apply('a', spec(), { [annotation.externalID]: 'x_nothing' });
    await stage.world.reason(object, 'ExternalNotFound');
    expect(mutations()).toEqual([]);
    await gone(object);
  });

  test('twins whose creates were lost together get an object each', async () => {
    lose(3);
    const own = spec(unique().inSpec);
    const objects = await Promise.all(['a', 'b', 'c'].map((name) => apply(name, own)));
    const ready = await Promise.all(objects.map((object) => stage.world.reason(object, 'Available', 25_000)));
    expect(new Set(ready.map(idOf)).size).toBe(3);
    expect(mutations().filter((request) => request.method === 'POST')).toHaveLength(3);
  });

  test('a create that may be one of several stops and names them', async () => {
    const own = unique();
    const lasting = spec({ ...own.inSpec, resyncIntervalSeconds: 3_600 });
    // Just before the create, by clocks that may differ: made after it, the operator might not see it in time.
    const foreign = await makeElsewhere(own.inBody);
    lose(1);
    const object = await stage.world.reason(await apply('a', lasting), 'AmbiguousCreate');
    expect(readyOf(object)?.message).toContain(foreign[annotation.externalID]);
    await stage.world.annotate(object, foreign);
    expect(idOf(await stage.world.reason(object, 'Available'))).toBe(foreign[annotation.externalID]);
  });

  test('a restored resource, without its status, sends no POST', async () => {
    const object = await available('a', spec({ deletionPolicy: 'Retain' }));
    const kept = object.metadata.annotations ?? {};
    await gone(object);
    stage.world.cloud.clearRequests();
    expect(idOf(await available('a', spec(), kept))).toBe(idOf(object));
    expect(mutations()).toEqual([]);
  });

  test('a wiped annotation is put back from the status', async () => {
    const object = await available('a');
    stage.world.cloud.clearRequests();
    await stage.world.annotate(object, { [annotation.externalID]: null, [annotation.createdID]: null });
    await until(
      'the annotation',
      async () => (await stage.world.get(object))?.metadata.annotations?.[annotation.externalID] === idOf(object),
    );
    expect(mutations()).toEqual([]);
  });
});
