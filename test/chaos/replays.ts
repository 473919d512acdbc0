/**
 * Replays under an operator that is killed again and again: none may run twice, and each must say the truth.
 * `node test/chaos/replays.ts [replays] [kills]`; TEST_KUBE_APISERVER as in the scenarios. Exit code 1 on a lie.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { startLocal, startTestAgent } from '../agent/support.ts';
import { startWorld } from '../support/world.ts';

const [replays = 200, leastKills = 20] = process.argv.slice(2).map(Number);

const hits = new Map<string, number>();
const local = await startLocal(({ url = '' }, response) => {
  hits.set(url, (hits.get(url) ?? 0) + 1);
  response.end();
});
const [world, agent] = await Promise.all([startWorld(), startTestAgent()]);
const namespace = await world.namespace();
const { public_url: publicURL } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
await world.apply('Agent', namespace, 'dev', { url: agent.url });

const paths = Array.from({ length: replays }, (_, index) => `/${index}`);
for (const path of paths) await agent.visit(publicURL + path);
const idOf = new Map((await agent.captures()).map(({ id, request }) => [request.uri as string, id as string]));

const start = () => world.startOperator(['--allowed-agent-hosts', new URL(agent.url).host]);
const listed = () => world.list('RequestReplay', namespace);
const isFinished = ({ status }: ManagedObject) => status?.completedAt !== undefined;

let operator = start();
let kills = 0;
const applying = (async () => {
  for (const [index, path] of paths.entries()) {
    const spec = { agentRef: { name: 'dev' }, requestID: idOf.get(path) };
    await world.apply('RequestReplay', namespace, `r${index}`, spec);
    // Over the whole campaign, so that every kill meets some.
    await sleep((leastKills * 1_500) / replays);
  }
})();
while (kills < leastKills) {
  await operator.url('health');
  await sleep(200 + Math.random() * 1_200);
  await operator.stop('SIGKILL');
  kills += 1;
  operator = start();
}
await applying;
while (!(await listed()).every(isFinished)) await sleep(200);

const counts: Record<string, number> = {};
let lies = 0;
for (const object of await listed()) {
  const path = paths[Number(object.metadata.name.slice(1))] ?? '';
  const ran = (hits.get(path) ?? 0) - 1;
  const failed = conditionOf(object, 'Failed');
  const verdict = failed === undefined ? 'Complete' : failed.reason;
  const isTrue = verdict === 'Complete' ? ran === 1 : verdict === 'OutcomeUnknown' && ran <= 1;
  if (!isTrue) lies += 1;
  const key = `${verdict}, ran ${ran}${isTrue ? '' : ' (WRONG)'}`;
  counts[key] = (counts[key] ?? 0) + 1;
}
process.stdout.write(`${replays} replays, ${kills} kills: ${JSON.stringify(counts)}\n`);
await operator.stop('SIGKILL');
await world.stop();
await agent.close();
await local.stop();
process.exitCode = lies === 0 ? 0 : 1;
