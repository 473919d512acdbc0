import { botUsers } from './bot-users.ts';
import { endpointOperations } from './endpoints.ts';
import { moduleOperations } from './modules/operations.ts';
import type { Operation } from './operation.ts';
import { reservedAddrs } from './reserved-addrs.ts';
import { resourceOperations } from './resource.ts';
import type { World } from './world.ts';

/** Every operation (Cloud Management API, section 4). */
export function operations(world: World): readonly Operation[] {
  return [
    ...resourceOperations(reservedAddrs(world)),
    ...resourceOperations(botUsers(world)),
    ...endpointOperations(world),
    ...moduleOperations(world),
  ];
}
