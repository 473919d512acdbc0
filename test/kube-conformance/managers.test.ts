import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type Body, type Cluster, startCluster, widget } from './cluster.ts';

/* When a manager of fields wrote last. Times have seconds, so that those of before are set back to a day long ago. */

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const longAgo = '2020-01-01T00:00:00Z';

/** Who owns fields, in order, and whether they wrote now. */
function managers({ body }: Answer): readonly string[] {
  const entries: readonly Body[] = body.metadata.managedFields ?? [];
  return entries.map(({ manager, operation, subresource, time }) => {
    const when = time === undefined ? 'at no time' : time === longAgo ? 'long ago' : 'now';
    return `${manager} ${operation}${subresource === undefined ? '' : ` of ${subresource}`} ${when}`;
  });
}

const status = (generation: number) => ({ status: { observedGeneration: generation } });

/** Created and labelled long ago; `one` applied its note then. */
async function aged(): Promise<string> {
  const collection = await cluster.fresh();
  const path = `${collection}/a`;
  await cluster.send('POST', collection, widget('a', { size: 4 }));
  await cluster.merge(`${path}?fieldManager=other`, { metadata: { labels: { a: 'b', c: 'd', e: 'f' } } });
  await cluster.merge(`${path}/status`, status(1));
  const { body } = await cluster.apply(path, 'one', widget('a', { note: 'n' }));
  // With a change that makes nobody an owner: a change of times alone is none.
  await cluster.send('PUT', path, setBack(body, { a: 'b', c: 'd' }));
  return path;
}

function setBack(object: Body, labels: object): Body {
  const managedFields = object.metadata.managedFields.map((entry: object) => ({ ...entry, time: longAgo }));
  return { ...object, metadata: { ...object.metadata, labels, managedFields } };
}

const others = ['other Update long ago', 'suite Update long ago', 'suite Update of status long ago'];
const one = 'one Apply long ago';

describe('the time of a manager', () => {
  test('is kept when it writes nothing', async () => {
    const path = await aged();
    expect(managers(await cluster.merge(path, { spec: { size: 4 } }))).toEqual([one, ...others]);
    const again = await cluster.apply(path, 'one', widget('a', { note: 'n' }));
    expect(managers(again)).toEqual([one, ...others]);
  });

  test('is now when it gives a field that it owns another value', async () => {
    const path = await aged();
    const patched = await cluster.merge(path, { spec: { size: 5 } });
    expect(managers(patched)).toEqual([one, others[0], others[2], 'suite Update now']);
    const applied = await cluster.apply(path, 'one', widget('a', { note: 'm' }));
    expect(managers(applied)).toEqual(['one Apply now', others[0], others[2], 'suite Update now']);
  });

  test('is now of that subresource alone', async () => {
    const path = await aged();
    const patched = await cluster.merge(`${path}/status`, status(2));
    expect(managers(patched)).toEqual([one, others[0], others[1], 'suite Update of status now']);
  });

  test('is kept when it only takes something away, of its own or of others', async () => {
    const path = await aged();
    const own = await cluster.merge(`${path}?fieldManager=other`, { metadata: { labels: { c: null } } });
    expect(managers(own)).toEqual([one, ...others]);
    const theirs = await cluster.merge(path, { metadata: { labels: { a: null } } });
    expect(managers(theirs)).toEqual([one, others[1], others[2]]);
  });

  test('is now when it takes over a field, and kept of who lost it', async () => {
    const path = await aged();
    const patched = await cluster.merge(path, { metadata: { labels: { a: 'x' } } });
    expect(managers(patched)).toEqual([one, others[0], others[2], 'suite Update now']);
  });

  test('is now when an apply leaves out what it had', async () => {
    const path = await aged();
    expect(managers(await cluster.apply(path, 'one', widget('a')))).toEqual(['one Apply now', ...others]);
  });

  test('is not known when an apply changes nothing but owners', async () => {
    const path = await aged();
    const shared = await cluster.apply(path, 'two', widget('a', { note: 'n' }));
    expect(managers(shared)).toEqual(['two Apply at no time', one, ...others]);
    const written = await cluster.apply(path, 'two', widget('a', { note: 'n', size: 4, labels: { x: 'y' } }));
    expect(managers(written)).toEqual([one, 'two Apply now', ...others]);
  });
});

test('times alone are not set back', async () => {
  const collection = await cluster.fresh();
  const { body } = await cluster.send('POST', collection, widget('a', {}, { metadata: { labels: { a: 'b' } } }));
  const put = await cluster.send('PUT', `${collection}/a`, setBack(body, { a: 'b' }));
  expect([put.code, ...managers(put)]).toEqual([200, 'suite Update now']);
});

test('who gave up all ownership is not tracked before the next apply, which owns the rest', async () => {
  const path = await aged();
  expect(managers(await cluster.merge(path, { metadata: { managedFields: [{}] } }))).toEqual([]);
  expect(managers(await cluster.merge(path, { spec: { size: 5 } }))).toEqual([]);
  const refused = await cluster.apply(path, 'one', widget('a', { size: 6 }));
  expect([refused.code, refused.body.message]).toEqual([
    409,
    'Apply failed with 1 conflict: conflict with "before-first-apply" using test.example.com/v1: .spec.size',
  ]);
  const applied = await cluster.apply(path, 'one', widget('a', { size: 6 }), '&force=true');
  expect(managers(applied)).toEqual(['one Apply now', 'before-first-apply Update now']);
});

test('of more than ten managers that update, those of long ago become one', async () => {
  const path = await aged();
  let last: Answer | undefined;
  for (let manager = 0; manager < 9; manager += 1) {
    last = await cluster.merge(`${path}?fieldManager=m${manager}`, { metadata: { labels: { [`l${manager}`]: 'x' } } });
  }
  const recent = Array.from({ length: 9 }, (_, manager) => `m${manager} Update now`);
  expect(last && managers(last)).toEqual([one, 'ancient-changes Update long ago', ...recent]);
});
