import { z } from 'zod';
import { readBody } from './body.ts';
import { Collection, kinds } from './collection.ts';
import { idOf, metadata, type Region, refShape, region, regions, text, time, uri } from './fields.ts';
import { ref, uriOf } from './ids.ts';
import type { ApiRequest } from './operation.ts';
import { ApiProblem } from './problem.ts';
import type { Resource } from './resource.ts';
import type { World } from './world.ts';

export interface ReservedAddrRecord {
  readonly id: string;
  readonly createdAt: string;
  readonly description: string;
  /** Empty when unset. */
  readonly metadata: string;
  readonly addr: string;
  readonly region: Region;
  /** Empty when none is attached. */
  readonly endpointConfigurationId: string;
}

const createBody = z.strictObject({ description: text.default(''), metadata: metadata.default(''), region });

const updateBody = z.strictObject({
  description: text.optional(),
  metadata: metadata.optional(),
  endpoint_configuration_id: text.optional().describe('attaches that configuration; empty detaches it'),
});

const answer = z.strictObject({
  id: idOf('ra'),
  uri,
  created_at: time,
  description: text.describe('what the address is used for'),
  metadata: metadata.optional(),
  addr: text.describe('hostname:port, assigned at creation'),
  region: z.enum(regions),
  endpoint_configuration: refShape.nullable(),
});

/** Reserved addresses: Cloud Management API, sections 2 and 4, rules 1 and 2. */
export function reservedAddrs(world: World): Resource<ReservedAddrRecord> {
  const collection = new Collection<ReservedAddrRecord>(world.statements, kinds.reservedAddr);
  const configurations = new Collection(world.statements, kinds.endpointConfiguration);

  const create = (request: ApiRequest): ReservedAddrRecord => {
    const body = readBody(createBody, request.body);
    return collection.insert(request.account, (seq) => ({
      id: world.newId('ra'),
      createdAt: world.now(),
      ...body,
      addr: address(seq, body.region),
      endpointConfigurationId: '',
    }));
  };

  const update = (request: ApiRequest, item: ReservedAddrRecord): ReservedAddrRecord => {
    const body = readBody(updateBody, request.body);
    const configuration = body.endpoint_configuration_id ?? item.endpointConfigurationId;
    if (configuration !== '' && configurations.get(request.account, configuration) === undefined) {
      throw new ApiProblem(
        'referenceUnknown',
        `invalid field "endpoint_configuration_id": no endpoint configuration with id "${configuration}"`,
      );
    }
    return {
      ...item,
      description: body.description ?? item.description,
      metadata: body.metadata ?? item.metadata,
      endpointConfigurationId: configuration,
    };
  };

  const write = { createBody, updateBody, create, update };
  return { name: 'reserved_addrs', title: 'ReservedAddr', collection, answer, render, write };
}

/** The host name carries the number, so no two addresses ever share a host and port. */
const address = (seq: number, where: string): string => `${seq}.tcp.${where}.localhost:${10_000 + (seq % 50_000)}`;

function render(item: ReservedAddrRecord, base: string): z.output<typeof answer> {
  return {
    id: item.id,
    uri: uriOf(base, item.id),
    created_at: item.createdAt,
    description: item.description,
    ...(item.metadata === '' ? {} : { metadata: item.metadata }),
    addr: item.addr,
    region: item.region,
    endpoint_configuration: item.endpointConfigurationId === '' ? null : ref(base, item.endpointConfigurationId),
  };
}
