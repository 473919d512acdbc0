import type { Flight } from '../../core/network.ts';
import { calls, isMutating, options, probability } from '../options.ts';

/** What a gateway meets: calls to the cloud. */
export const gatewayShape = { calls, probability: probability.default(1) };

export const gatewayOptions = options(gatewayShape);

export const passesGateway = (flight: Flight, wanted: { readonly calls: 'all' | 'mutating' }): boolean =>
  flight.to.name === 'cloud' && (wanted.calls === 'all' || isMutating(flight));
