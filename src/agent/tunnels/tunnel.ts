import type { Capture, RequestHead } from '../captures/capture.ts';
import type { TunnelMetrics } from '../metrics/tunnel-metrics.ts';
import type { Definition } from './definition.ts';

/** A running tunnel, as the rest of the agent sees it. */
export interface Tunnel {
  /** Last segment of its `uri`. */
  readonly key: string;
  readonly definition: Definition;
  readonly publicURL: string;
  readonly metrics: TunnelMetrics;
  /**
   * Sends a request to the local server; nobody gets the answer, but it is captured where the tunnel inspects. Only a
   * tunnel that knows of requests can.
   */
  replay?(replay: Replay): Capture | undefined;
}

export interface Replay {
  readonly of: string;
  readonly remoteAddr: string;
  readonly request: RequestHead;
  readonly body: Buffer;
}

/** A tunnel and what ends it, with whatever is under way in it. */
export interface OpenTunnel {
  readonly tunnel: Tunnel;
  stop(): void;
}

/** Opens a tunnel under a key that no other has. @throws AgentProblem when its host is taken, or its port cannot be had. */
export type TunnelOpener = (key: string, definition: Definition) => Promise<OpenTunnel>;
