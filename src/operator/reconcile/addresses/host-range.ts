import { BlockList, isIP } from 'node:net';
import { refusalOf } from '../../../common/http/address.ts';
import { portOf } from '../../../common/http/url.ts';

const form = /^\[?([\d.]+|[\da-f:]+)\/(\d{1,3})\]?(?::(\d{1,5}))?$/i;
/** IPv4 as IPv6, as `URL` writes it. */
const mapped = /^::ffff:[\da-f]+:[\da-f]+$/;

/** Addresses of a network, on one port: `10.0.8.0/24:4040`, `[fd00:8::/64]:4040`; without a port the default one of the scheme. */
export class HostRange {
  readonly #addresses = new BlockList();
  readonly #port: number | undefined;

  private constructor(network: string, prefix: number, port: number | undefined) {
    this.#addresses.addSubnet(network, prefix, familyOf(network));
    this.#port = port;
  }

  /** Undefined for what is no range. */
  static parse(text: string): HostRange | undefined {
    const [, network = '', prefix = '', port = ''] = form.exec(text) ?? [];
    const bits = isIP(network) === 4 ? 32 : 128;
    if (isIP(network) === 0 || Number(prefix) > bits || Number(port || 1) > 65_535) return undefined;
    return new HostRange(network, Number(prefix), port === '' ? undefined : Number(port));
  }

  /**
   * Of URLs that have the address itself, as it is: an IPv4 address that is written as IPv6 would pass for another agent's, of
   * which nobody has anything. The operator's own machine and what gives out a machine's credentials are in no range,
   * however wide.
   */
  has(url: URL): boolean {
    const address = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(address) === 0 || !this.#isPortOf(url) || refusalOf(address) !== undefined) return false;
    if (mapped.test(address)) return false;
    return this.#addresses.check(address, familyOf(address));
  }

  #isPortOf(url: URL): boolean {
    return this.#port === undefined ? url.port === '' : portOf(url) === this.#port;
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
