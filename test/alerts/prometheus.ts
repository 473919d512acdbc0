import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { claimPorts } from '../support/ports.ts';
import { prometheusTool } from '../support/prometheus-tools.ts';
import { until } from '../support/until.ts';

/** Undefined where there is none: on the PATH, or where .ci/packages puts it. */
export const prometheusPath = prometheusTool('prometheus');

/** Each minute of the rules' time, at the largest scale. */
const interval = '1s';

export interface ActiveAlert {
  readonly state: 'pending' | 'firing';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A real Prometheus with the rules and targets of as many releases as there are. */
export class Prometheus {
  readonly #url: string;
  readonly #dir: string;
  readonly #stop: () => Promise<void>;
  /** Of the rules: one at a time, for a file that goes while they are read is an error. */
  #changed: Promise<void> = Promise.resolve();

  private constructor(url: string, dir: string, stop: () => Promise<void>) {
    this.#url = url;
    this.#dir = dir;
    this.#stop = stop;
  }

  static async start(): Promise<Prometheus> {
    if (prometheusPath === undefined) throw new Error('needs Prometheus');
    const dir = mkdtempSync(join(tmpdir(), 'prometheus-'));
    for (const folder of ['rules', 'targets']) mkdirSync(join(dir, folder));
    const config = join(dir, 'prometheus.yml');
    writeFileSync(config, stringify(configuration(dir)));
    const { ports, release } = await claimPorts(1);
    const address = `127.0.0.1:${ports[0]}`;
    const flags = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=${address}`,
      '--web.enable-lifecycle',
    ];
    const child = spawn(prometheusPath, flags, { stdio: 'ignore' });
    const exited = once(child, 'exit');
    const prometheus = new Prometheus(`http://${address}`, dir, async () => {
      child.kill('SIGKILL');
      await exited;
      await release();
      rmSync(dir, { recursive: true, force: true });
    });
    await until('Prometheus', async () => (await fetch(`http://${address}/-/ready`)).ok);
    return prometheus;
  }

  /** Scrapes these addresses as the release's from now on, in place of others. */
  scrape(release: Readonly<Record<string, string>>, addresses: readonly string[]): void {
    const file = join(this.#dir, 'targets', `${release.job}.json`);
    writeFileSync(file, JSON.stringify([{ targets: addresses, labels: release }]));
  }

  load(name: string, rules: string): Promise<void> {
    return this.#change(() => writeFileSync(join(this.#dir, 'rules', `${name}.yaml`), rules));
  }

  unload(name: string): Promise<void> {
    return this.#change(() => {
      rmSync(join(this.#dir, 'rules', `${name}.yaml`), { force: true });
      rmSync(join(this.#dir, 'targets', `${name}.json`), { force: true });
    });
  }

  /** Of one release. */
  async active(job: string): Promise<readonly ActiveAlert[]> {
    const { alerts } = await this.#get<{ alerts: readonly ActiveAlert[] }>('alerts');
    return alerts.filter(({ labels }) => labels.job === job);
  }

  async has(query: string): Promise<boolean> {
    const { result } = await this.#get<{ result: readonly unknown[] }>(`query?query=${encodeURIComponent(query)}`);
    return result.length > 0;
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  #change(files: () => void): Promise<void> {
    const changed = this.#changed.then(async () => {
      files();
      const response = await fetch(`${this.#url}/-/reload`, { method: 'POST' });
      if (!response.ok) throw new Error(await response.text());
    });
    this.#changed = changed.catch(() => {});
    return changed;
  }

  async #get<T>(path: string): Promise<T> {
    const response = await fetch(`${this.#url}/api/v1/${path}`);
    return ((await response.json()) as { data: T }).data;
  }
}

function configuration(dir: string): object {
  return {
    global: { scrape_interval: interval, evaluation_interval: interval },
    rule_files: [join(dir, 'rules/*.yaml')],
    scrape_configs: [
      {
        job_name: 'releases',
        file_sd_configs: [{ files: [join(dir, 'targets/*.json')], refresh_interval: '1s' }],
      },
    ],
  };
}
