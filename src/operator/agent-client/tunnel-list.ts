import { z } from 'zod';
import { body, type Read } from '../../common/http/answer.ts';
import { readItems } from '../../common/http/items.ts';
import type { OddItem } from '../../common/odd-item.ts';
import { list, type TunnelList, tunnelSchema } from './schemas.ts';

const read = body(z.looseObject({ tunnels: list(z.unknown()), uri: z.string() }));
const legible = z.object({ name: z.string() });

/**
 * A list of tunnels that are read one by one: anybody may have started one, and an odd one is told of by its name and left out.
 * One that has no name at all may be any.
 */
export function tunnelsExcept(onOdd: (item: OddItem) => void): Read<TunnelList> {
  return (answer) => {
    const found = read(answer);
    const { items, odd } = readItems(found.tunnels, tunnelSchema, (raw) => ({
      id: legible.safeParse(raw).data?.name,
      createdAt: undefined,
    }));
    odd.forEach(onOdd);
    return { ...found, tunnels: [...items] };
  };
}
