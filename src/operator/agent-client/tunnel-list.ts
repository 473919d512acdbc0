import { z } from 'zod';
import { type Answer, body, malformed } from '../../common/http/answer.ts';
import { readItems } from '../../common/http/items.ts';
import { holdsMore } from '../../common/nesting.ts';
import type { OddItem } from '../../common/odd-item.ts';
import { list, type Tunnel, type TunnelList, tunnelSchema } from './schemas.ts';
import type { Turn } from './turns.ts';

// Of what else is there nothing is looked at.
const read = body(z.object({ tunnels: list(z.unknown()), uri: z.string() }));
const legible = z.object({ name: z.string() });

/** Twice what options may have: one tunnel alone is read in one step. */
const mostValues = 8_192;
/** An agent that has more of them is not understood at all. */
const mostOdd = 1_000;

/** Who is told of each tunnel as it is read. */
export interface TunnelReader {
  readonly onOdd: (item: OddItem) => void;
  readonly onTunnel?: ((tunnel: Tunnel) => void) | undefined;
}

/**
 * A list of tunnels that are read one by one, with rests: anybody may have started one, and an odd one is told of by its name and
 * left out. One that has no name at all may be any.
 */
export async function readTunnels(
  answer: Answer,
  { onOdd, onTunnel }: TunnelReader,
  turn: Pick<Turn, 'isOver' | 'rest'>,
): Promise<TunnelList> {
  const found = read(answer);
  const tunnels: Tunnel[] = [];
  for (const [at, raw] of found.tunnels.entries()) {
    if (turn.isOver) await turn.rest();
    const { items, odd } = readTunnel(raw);
    for (const tunnel of items) {
      tunnels.push(tunnel);
      if (turn.isOver) await turn.rest();
      onTunnel?.(tunnel);
    }
    odd.forEach(onOdd);
    if (at - tunnels.length >= mostOdd) throw malformed(answer, `more than ${mostOdd} tunnels cannot be read`);
  }
  return { ...found, tunnels };
}

function readTunnel(raw: unknown): ReturnType<typeof readItems<Tunnel>> {
  const identify = () => ({ id: legible.safeParse(raw).data?.name, createdAt: undefined });
  if (!holdsMore(raw, mostValues)) return readItems([raw], tunnelSchema, identify);
  return { items: [], odd: [{ ...identify(), problem: `it has more than ${mostValues} values` }] };
}
