import { botUsers } from './bot-users.ts';
import { endpoints } from './endpoints.ts';
import { moduleOperations } from './modules/operations.ts';
import type { Operation } from './operation.ts';
import { reservedAddrs } from './reserved-addrs.ts';
import { resourceOperations } from './resource.ts';
import type { World } from './world.ts';

/** Every operation of reference section 4 that this server has. */
export function operations(world: World): readonly Operation[] {
  return [
    ...resourceOperations(reservedAddrs(world)),
    ...resourceOperations(botUsers(world)),
    ...resourceOperations(endpoints(world)),
    ...moduleOperations(world),
  ];
}
