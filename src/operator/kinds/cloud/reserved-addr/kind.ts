import type { CloudClient } from '../../../cloud/client.ts';
import type { ReservedAddr } from '../../../cloud/schemas.ts';
import { externalKind } from '../../../reconcile/external/kind.ts';
import { contentOf, diff, toCreate, toStatus, toUpdate } from './mapping.ts';
import { definition, type Spec, spec } from './schema.ts';

/** Reserved addresses (Cloud Management API, sections 2 and 4). */
export const reservedAddr = externalKind<Spec, ReservedAddr, CloudClient>(definition, {
  displayName: 'reserved address',
  spec,
  identity: (addr) => ({ id: addr.id, createdAt: addr.created_at }),
  content: contentOf,
  contentOf,
  diff,
  status: toStatus,
  get: (cloud, id, call) => cloud.reservedAddrs.get(id, call),
  list: (cloud, call, onOdd) => cloud.reservedAddrs.listAll(call, { onOdd }),
  create: (cloud, wanted, call) => cloud.reservedAddrs.create(toCreate(wanted), call),
  update: (cloud, id, wanted, fields, call) => cloud.reservedAddrs.update(id, toUpdate(wanted, fields), call),
  delete: (cloud, id, call) => cloud.reservedAddrs.delete(id, call),
});
