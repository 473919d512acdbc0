import { BlockList, isIP, type LookupFunction } from 'node:net';

/** What a pod of its own listens at. */
const loopback = subnets(['127.0.0.0', 8], ['::1', 128]);

/**
 * Addresses that stand for no host of the network, or for what gives out the credentials of a machine: unspecified,
 * link-local (169.254.169.254 among them), multicast, and the metadata services that have other addresses.
 */
const never = subnets(
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
  ['224.0.0.0', 3],
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
);

function subnets(...all: readonly (readonly [network: string, prefix: number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of all) list.addSubnet(network, prefix, network.includes(':') ? 'ipv6' : 'ipv4');
  return list;
}

/** Why no request may go to an IP address that others chose, as the end of a sentence about it; undefined when one may. */
export function refusalOf(address: string): string | undefined {
  if (isIP(address) === 0) return 'is no IP address';
  if (isIn(loopback, address)) return "is the operator's own machine";
  return isIn(never, address) ? 'is link-local, of a metadata service, or of no host' : undefined;
}

export function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && isIn(loopback, address);
}

/** Also as IPv6 writes IPv4: mapped, compatible, by NAT64 and by 6to4. */
function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  if (list.check(address, family)) return true;
  const embedded = family === 'ipv6' ? embeddedIn(address) : undefined;
  return embedded !== undefined && list.check(embedded, 'ipv4');
}

function embeddedIn(address: string): string | undefined {
  const groups = groupsOf(address);
  const [first, second] = groups;
  const isPrefixed = groups.slice(0, 5).every((group) => group === 0) && [0, 0xffff].includes(groups[5] ?? -1);
  const isNAT64 = first === 0x64 && second === 0xff9b;
  if (isPrefixed || isNAT64) return dotted(groups[6] ?? 0, groups[7] ?? 0);
  return first === 0x2002 ? dotted(second ?? 0, groups[2] ?? 0) : undefined;
}

/** The eight groups of an IPv6 address, as `URL` writes them: without zone, and with IPv4 in hex. */
function groupsOf(address: string): readonly number[] {
  const host = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [head = '', tail] = host.split('::');
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const gap = tail === undefined ? 0 : 8 - (before?.length ?? 0) - (after?.length ?? 0);
  return [...(before ?? []), ...Array(gap).fill('0'), ...(after ?? [])].map((group) => Number.parseInt(group, 16));
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** What a connection to a host name fails with that leads where no request may go. */
export const forbiddenAddress = 'EDGE_FORBIDDEN_ADDRESS';

/** Connects to the address that `addressOf` gives, whatever the name resolves to. */
export function lookupAs(addressOf: () => string): LookupFunction {
  return (_hostname, options, done) => {
    const address = addressOf();
    const family = isIP(address);
    if (options.all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}

/** As `lookup`, but a name that leads to an address for which there is a refusal leads nowhere. */
export function lookupExcept(lookup: LookupFunction, isRefused: (address: string) => boolean): LookupFunction {
  return (hostname, options, done) =>
    lookup(hostname, options, (error, found, family) => {
      const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address);
      if (error !== null || !addresses.some(isRefused)) return done(error, found, family);
      done(Object.assign(new Error('no request may go to this address'), { code: forbiddenAddress }), found, family);
    });
}
