/**
 * Whether a Host header names this machine itself, or one of the hosts allowed on top (host names without port;
 * `*.name` allows what is below it). A page of another site that has its name resolve to this machine
 * (DNS rebinding) is told apart by nothing else.
 */
export function isAllowedHost(header: string | undefined, alsoAllowed: readonly string[] = []): boolean {
  const host = hostName(header ?? '');
  return (
    host !== undefined && (isLoopback(host) || alsoAllowed.some((allowed) => matches(host, allowed.toLowerCase())))
  );
}

/** Whether a Host header can be that of a URL: the addresses in an answer are made of it. */
export function isHost(header = ''): boolean {
  return hostName(header) !== undefined && URL.canParse(`http://${header}`);
}

function hostName(header: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^\s:/?#\\@[\]]+)(?::\d+)?$/i.exec(header)?.[1]?.toLowerCase();
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

function matches(host: string, allowed: string): boolean {
  return allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed;
}

/** Whether a request was sent on this machine, and to this machine by name: not by a page of another site either. */
export function isFromHere(address: string, host: string | undefined): boolean {
  return /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/i.test(address) && isAllowedHost(host);
}
