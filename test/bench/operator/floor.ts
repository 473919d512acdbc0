/**
 * The floor: `floor.ts KUBE_URL TOKEN CLOUD_URL KEY COUNT IN_FLIGHT` lists the ReservedAddrs and sends for each the calls
 * that a crash-safe create cannot do without, and nothing else: a mark, the create, a record of the id, the status. It
 * knows nothing of watches, conflicts, budgets or failures: any of these ends it.
 */
import { Pool } from 'undici';

const [kubeURL = '', token = '', cloudURL = '', key = '', count = '0', inFlight = '16'] = process.argv.slice(2);
const connections = Number(inFlight);
const kube = new Pool(kubeURL, { connections, connect: { rejectUnauthorized: false } });
const cloud = new Pool(cloudURL, { connections });
const collection = '/apis/edge-operator.dev/v1alpha1/namespaces/default/reservedaddrs';

interface Resource {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly description: string; readonly metadata: string; readonly region: string };
}

async function send<T>(pool: Pool, method: 'GET' | 'POST' | 'PATCH', path: string, sent?: object): Promise<T> {
  const { statusCode, body } = await pool.request({
    ...{ method, path },
    headers: {
      authorization: `Bearer ${pool === kube ? token : key}`,
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      'service-version': '2',
    },
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
  });
  if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${await body.text()}`);
  return (await body.json()) as T;
}

async function create({ metadata: { name }, spec: { description, metadata, region } }: Resource): Promise<void> {
  const path = `${collection}/${name}`;
  const domain = 'edge-operator.dev';
  const mark = { [`${domain}/create-intent`]: new Date().toISOString(), [`${domain}/account`]: 'default' };
  await send(kube, 'PATCH', path, {
    metadata: { finalizers: [`${domain}/external-resource`], annotations: mark },
  });
  const body = { description, metadata, region };
  const { id, uri, addr } = await send<Record<'id' | 'uri' | 'addr', string>>(cloud, 'POST', '/reserved_addrs', body);
  const record = { [`${domain}/create-intent`]: null, [`${domain}/external-id`]: id };
  await send(kube, 'PATCH', path, { metadata: { annotations: record } });
  const said = { type: 'Ready', status: 'True', reason: 'Available', message: 'created', observedGeneration: 1 };
  const conditions = [{ ...said, lastTransitionTime: new Date().toISOString() }];
  await send(kube, 'PATCH', `${path}/status`, { status: { id, uri, addr, region, conditions, observedGeneration: 1 } });
}

const { items } = await send<{ readonly items: Resource[] }>(kube, 'GET', collection);
const left = items.slice(0, Number(count));
const worker = async () => {
  for (let next = left.pop(); next !== undefined; next = left.pop()) await create(next);
};
await Promise.all(Array.from({ length: connections }, worker));
// Whoever measures reads what it has used, and ends it.
setInterval(() => {}, 60_000);
