import { SimProcess } from '../core/process.ts';
import type { World } from '../core/world.ts';

/** A process that asks for the same at several times; what it was told at each so far. */
export function asking(
  { scheduler, network, services, chance }: World,
  service: string,
  token: string,
  times: readonly number[],
  path: string,
): readonly string[] {
  const process = new SimProcess('client', scheduler, chance.of('client'));
  const dispatcher = network.dispatcherOf(process);
  const origin = services.get(service)?.origin ?? '';
  const headers = { authorization: `Bearer ${token}`, 'service-version': '2' };
  const told = times.map(() => '');
  const ask = async (nth: number) => {
    const { body } = await dispatcher.request({ origin, path, method: 'GET', headers });
    for await (const chunk of body) told[nth] += String(chunk);
  };
  for (const [nth, at] of times.entries()) scheduler.after(at, () => void ask(nth).catch(() => {}));
  return told;
}
