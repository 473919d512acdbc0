/**
 * The floor: `floor.ts KUBE_URL TOKEN CLOUD_URL KEY COUNT IN_FLIGHT` lists the ReservedAddrs and sends for each the calls
 * that a crash-safe create cannot do without, and nothing else: a mark, the create, a record of the id, the status. What
 * it leaves is what the operator leaves, for the API server takes longer over larger resources. It knows nothing of
 * watches, conflicts, budgets or failures: any of these ends it.
 */
import { Pool } from 'undici';

const [kubeURL = '', token = '', cloudURL = '', key = '', count = '0', inFlight = '16'] = process.argv.slice(2);
const connections = Number(inFlight);
const kube = new Pool(kubeURL, { connections, connect: { rejectUnauthorized: false } });
const cloud = new Pool(cloudURL, { connections });
const installation = 'default-00000000';
const keyMark = '0000-00000000';
const collection = '/apis/edge-operator.dev/v1alpha1/namespaces/default/reservedaddrs';

interface Resource {
  readonly metadata: { readonly name: string; readonly uid: string };
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

async function create({ metadata: { name, uid }, spec: { description, metadata, region } }: Resource): Promise<void> {
  const path = `${collection}/${name}`;
  const own = (records: Record<string, string | null>) =>
    Object.fromEntries(Object.entries(records).map(([record, value]) => [`edge-operator.dev/${record}`, value]));
  const place = { account: 'default', 'api-url': cloudURL, installation, 'key-mark': keyMark, 'record-of': uid };
  const annotations = own({ 'create-intent': new Date().toISOString(), ...place });
  await send(kube, 'PATCH', path, {
    metadata: { finalizers: Object.keys(own({ 'external-resource': '' })), annotations },
  });
  const body = { description, metadata, region };
  const made = await send<Record<'id' | 'uri' | 'addr' | 'created_at', string>>(cloud, 'POST', '/reserved_addrs', body);
  const { id, uri, addr, created_at: createdAt } = made;
  const record = own({ 'create-intent': null, 'external-id': id, 'created-id': id });
  await send(kube, 'PATCH', path, { metadata: { annotations: record } });
  const message = `reserved address ${id} is as the spec asks`;
  const said = { type: 'Ready', status: 'True', reason: 'Available', message, observedGeneration: 1 };
  const conditions = [{ ...said, lastTransitionTime: new Date().toISOString() }];
  const [host, port] = addr.split(':');
  const ownership = { account: 'default', apiURL: cloudURL, how: 'Created', id, installation };
  const observed = { id, uri, addr, host, port: Number(port), region, createdAt, ownership };
  await send(kube, 'PATCH', `${path}/status`, { status: { ...observed, conditions, observedGeneration: 1 } });
}

const { items } = await send<{ readonly items: Resource[] }>(kube, 'GET', collection);
const left = items.slice(0, Number(count));
const worker = async () => {
  for (let next = left.pop(); next !== undefined; next = left.pop()) await create(next);
};
await Promise.all(Array.from({ length: connections }, worker));
// Whoever measures reads what it has used, and ends it.
setInterval(() => {}, 60_000);
