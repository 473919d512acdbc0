import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import type { Incident } from './incident.ts';
import { incidents } from './incidents/index.ts';
import { type ActiveAlert, Prometheus, prometheusPath } from './prometheus.ts';
import { Release } from './release.ts';
import { scaledRules } from './scaled-rules.ts';
import { differences, record, type Story } from './table.ts';

/*
 * The chart's rules in a real Prometheus that scrapes real processes. Each incident has a release of its own, and the
 * rules of that release, in a hurry: see scaled-rules.ts. Its alert fires, no other does, and is over once the incident
 * was put right.
 */

const isShort = process.env.TEST_ALERTS === 'short';
const chosen = incidents.filter(({ inShort }) => !isShort || inShort === true);
const hurry = 60;
const stories = new Map<Incident, Story>();

let started: Promise<Prometheus> | undefined;
const prometheus = () => (started ??= Prometheus.start());
afterAll(async () => (await started)?.stop());

const firing = (alerts: readonly ActiveAlert[]) => alerts.filter(({ state }) => state === 'firing');
const namesOf = (alerts: readonly ActiveAlert[]) => [...new Set(alerts.map(({ labels }) => labels.alertname))];

/** With its rules at work for as long as `use` takes. */
async function withRelease(
  name: string,
  { factor, cloud = {} }: { readonly factor: number; readonly cloud?: Incident['cloud'] },
  use: (release: Release, rules: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const server = await prometheus();
  const release = await Release.start(name, server, cloud);
  try {
    await use(release, () => server.load(name, scaledRules(release.labels, factor)));
  } finally {
    await server.unload(name);
    await release.stop();
  }
}

const textOf = (names: Incident['names'] = {}) =>
  Object.entries(names)
    .map(([label, value]) => `${label} ${value instanceof RegExp ? 'by name' : value}`)
    .join(', ');

/** On a machine so busy that scrapes are missed, again, with rules that are in less of a hurry. */
async function suffer(incident: Incident, number: number): Promise<void> {
  const { factor = hurry } = incident;
  await attempt(incident, `incident-${number}`, factor).catch((error: unknown) => {
    console.info(`${incident.what}: ${error instanceof Error ? error.message : String(error)}; once more`);
    return attempt(incident, `incident-${number}-again`, factor / 2);
  });
}

async function attempt(incident: Incident, job: string, factor: number): Promise<void> {
  const { alert, arrange, names = {}, cloud } = incident;
  const server = await prometheus();
  await withRelease(job, { factor, cloud }, async (release, rules) => {
    const cause = await arrange(release);
    await rules();
    const others = new Set<string>();
    const look = async () => {
      const found = firing(await server.active(job));
      for (const name of namesOf(found)) if (name !== undefined && name !== alert) others.add(name);
      return found.filter(({ labels }) => labels.alertname === alert);
    };
    expect(await look()).toEqual([]);
    const begun = performance.now();
    const end = await cause();
    const [fired] = await until(
      `${alert} to fire`,
      async () => {
        const found = await look();
        return found.length > 0 && found;
      },
      120_000,
    );
    const firedAfterMs = (performance.now() - begun) * factor;
    for (const [label, value] of Object.entries(names)) {
      const given = fired?.labels[label];
      if (value instanceof RegExp) expect(given).toMatch(value);
      else expect([label, given]).toEqual([label, value]);
    }
    // What is filled in is filled in.
    expect(`${fired?.annotations.summary} ${fired?.annotations.description}`).not.toMatch(/\{\{|no value|NaN/);
    const ended = performance.now();
    await end();
    await until(`${alert} to be over`, async () => (await look()).length === 0, 90_000);
    const resolvedAfterMs = (performance.now() - ended) * factor;
    expect([...others]).toEqual([]);
    stories.set(incident, { what: incident.what, alert, named: textOf(incident.names), firedAfterMs, resolvedAfterMs });
  });
}

/** Nothing fires from now on for so long. */
async function quiet(server: Prometheus, job: string, ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(250))
    expect(namesOf(firing(await server.active(job)))).toEqual([]);
}

const describeIf = prometheusPath === undefined ? describe.skip : describe;

describeIf('in Prometheus', () => {
  test.concurrent.each(
    chosen.map((incident, number): [string, string, Incident, number] => {
      return [incident.what, incident.alert, incident, number];
    }),
  )('%s: %s fires and is over', async (_what, _alert, incident, number) => suffer(incident, number));

  const seconds = isShort ? 20 : 62;
  test.concurrent(`nothing fires in ${isShort ? 'a part of ' : ''}a healthy hour`, async () => {
    const server = await prometheus();
    await withRelease('healthy', { factor: hurry }, async (release, rules) => {
      const { namespace, world } = release;
      const mirror = ['--mirror-interval', '1s', '--mirror-namespace', namespace];
      await release.start([...mirror, '--requests-per-minute', '1000']);
      await rules();
      const hour = quiet(server, 'healthy', seconds * 1_000);
      for (let round = 0; round < (isShort ? 1 : 4); round += 1) {
        await release.readyBots(10);
        for (const bot of await world.list('BotUser', namespace)) await world.delete(bot);
        await sleep(3_000);
      }
      await hour;
    });
  });

  test.concurrent('nothing fires in a rolling restart', async () => {
    const server = await prometheus();
    // A failover takes seconds of the operator's own, which is in no hurry: the rules are less so.
    await withRelease('restarting', { factor: 12 }, async (release, rules) => {
      const replica = () => release.start(['--leader-elect']);
      let [first, second] = [await replica(), await replica()];
      await release.readyBots(3);
      await rules();
      const calm = quiet(server, 'restarting', isShort ? 15_000 : 40_000);
      for (let round = 0; round < (isShort ? 1 : 2); round += 1) {
        // As a Deployment does: first the new one, then an old one ends.
        const [third, fourth] = [await replica(), await release.end(first).then(replica)];
        await release.end(second);
        [first, second] = [third, fourth];
      }
      await calm;
    });
  });
});

test('docs/alerts.md has a row for each incident', () => {
  const subjects = incidents.map(({ what, alert, names }) => ({ what, alert, named: textOf(names) }));
  if (process.env.RECORD_ALERTS === '1') record(subjects, [...stories.values()]);
  expect(differences(subjects)).toEqual([]);
});
