import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kubeRequests, startTestKubeApi } from '../../support/kube-api.ts';
import { startChild } from './child.ts';

/** How often something was asked for, by name: `PATCH reservedaddrs/status`, `POST reserved_addrs`. */
export type Counts = Readonly<Record<string, number>>;

export interface Kube {
  readonly kind: 'real' | 'embedded';
  readonly url: string;
  readonly token: string;
  readonly kubeconfig: string;
  /** Writes so far, by method, type and subresource. */
  writes(): Promise<Counts>;
  stop(): Promise<void>;
}

/** The API server of TEST_KUBE_APISERVER, else the embedded one, with the project's definitions. */
export async function startKube(folder: string): Promise<Kube> {
  return process.env.TEST_KUBE_APISERVER ? startReal() : startEmbedded(folder);
}

async function startEmbedded(folder: string): Promise<Kube> {
  type Ready = { url: string; token: string; kubeconfig: string };
  const { ready, ask, stop } = await startChild<Ready, Counts>('kube-process.ts', []);
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, ready.kubeconfig, { mode: 0o600 });
  return { ...ready, kubeconfig, kind: 'embedded', writes: ask, stop };
}

async function startReal(): Promise<Kube> {
  const { url, token, kubeconfig, stop } = await startTestKubeApi({ crds: 'project' });
  const request = kubeRequests(url, token);
  return {
    kind: 'real',
    url,
    token,
    kubeconfig,
    stop,
    writes: async () => writesIn(await (await request('/metrics')).text()),
  };
}

/** As the API server counts them. */
function writesIn(metrics: string): Counts {
  const counts: Record<string, number> = {};
  for (const [, labels = '', value] of metrics.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const subresource = label('subresource') === '' ? '' : `/${label('subresource')}`;
    const [verb, type] = [label('verb'), label('resource')];
    if (type === '' || !['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE'].includes(verb)) continue;
    const name = `${verb} ${type}${subresource}`;
    counts[name] = (counts[name] ?? 0) + Number(value);
  }
  return counts;
}

export interface Cloud {
  readonly url: string;
  readonly key: string;
  /** Calls since the last time that this was asked, without the bench's own, and when each came, in ms since the epoch. */
  calls(): Promise<{ readonly calls: Counts; readonly arrivals: readonly (readonly [name: string, at: number])[] }>;
  stop(): Promise<void>;
}

/** The reference cloud, which takes its time over every call. */
export async function startCloud(latencyMs: number): Promise<Cloud> {
  const key = 'bench-key';
  const { ready, ask, stop } = await startChild<string, Awaited<ReturnType<Cloud['calls']>>>('cloud-process.ts', [
    key,
    String(latencyMs),
  ]);
  return { url: ready, key, calls: ask, stop };
}

/** What came on top. */
export function since(before: Counts, after: Counts): Counts {
  const more = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)] as const);
  return Object.fromEntries(more.filter(([, count]) => count !== 0).sort());
}
