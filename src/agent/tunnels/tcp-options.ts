/**
 * Of every connection through a tunnel: nothing is kept back, and whether an idle peer is still there is asked, as one
 * that vanished would hold its connection for ever. Node alone would first ask after two hours.
 */
export const tcpOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 120_000 } as const;
