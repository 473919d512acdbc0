/**
 * A virtual year of 500 resources that nobody touches: `npm run sim:year -- [--days N] [--resync DURATION]`. Exit code 1
 * where anything was written after the beginning, but Leases.
 */
import { parseArgs } from 'node:util';
import { runCommand, whole } from '../support/command.ts';
import { run } from './core/run.ts';
import { quiet, yearStory } from './load/year.ts';

await runCommand(async () => {
  const { values } = parseArgs({ options: { days: { type: 'string', default: '365' }, resync: { type: 'string' } } });
  const days = whole('--days', values.days, 1);
  const settings = values.resync === undefined ? {} : { resyncInterval: values.resync };
  const tally = { cloudReads: 0, watches: 0, leaseWrites: 0 };
  const story = yearStory({ days, settings });
  const oracles = [quiet(tally)];
  const { violations, realMs } = await run(story, { oracles, troubles: {}, hashed: false, mostRequests: Infinity });
  const { user, system } = process.cpuUsage();
  for (const { message } of violations.slice(0, 20)) console.log(message);
  console.log(
    [
      `${days} virtual days of 500 resources, ${values.resync ?? 'the default'} between two checks for drift`,
      `${violations.length} sorts of writes`,
      `${tally.cloudReads} reads of the cloud, ${tally.watches} watches, ${tally.leaseWrites} writes of Leases`,
      `${(realMs / 1_000).toFixed(0)} s, ${((user + system) / 1e6).toFixed(0)} s of processor`,
    ].join('; '),
  );
  return violations.length === 0 ? 'nothing' : 'something';
});
