/**
 * What others cost a tenant: `npm run sim:tenants`. Twelve users of an account of one request a minute, and 400 pending
 * addresses of another namespace, beside a third tenant that edits and makes something. Prints how long that takes alone
 * and beside them, in virtual time. Exit code 1 where it takes two seconds more.
 */
import { runCommand } from '../support/command.ts';
import { delaysOf, many, nobody } from './load/tenants.ts';

const bearableMs = 2_000;

await runCommand(async () => {
  let worst = 0;
  for (const seconds of [0, 1, 5, 20, 45, 59, 60, 61, 75, 100, 150]) {
    const [alone, beside] = [await delaysOf(nobody, seconds * 1_000), await delaysOf(many, seconds * 1_000)];
    const more = Object.entries(beside).map(([name, ms]) => [name, ms - (alone[name] ?? 0)] as const);
    worst = Math.max(worst, ...more.map(([, ms]) => ms));
    const shown = more.map(
      ([name, ms]) => `${name} ${whole(alone[name])} ms alone, ${whole(beside[name])} (${whole(ms)} more)`,
    );
    console.log(`${seconds} s after they came: ${shown.join('; ')}`);
  }
  console.log(`at most ${whole(worst)} ms more; ${bearableMs} ms are bearable`);
  return worst > bearableMs ? 'something' : 'nothing';
});

function whole(ms = Number.NaN): string {
  return ms.toFixed(0);
}
