import type { CarryingTunnel, RequestHead } from '../../src/agent/captures/capture.ts';
import type { Captures } from '../../src/agent/captures/captures.ts';
import type { Random } from '../../src/agent/ids.ts';
import type { Ticks } from '../../src/agent/metrics/rate.ts';
import { newTunnelMetrics } from '../../src/agent/metrics/tunnel-metrics.ts';
import { AgentProblem } from '../../src/agent/problem.ts';
import type { Definition, HttpDefinition, PassedThroughDefinition } from '../../src/agent/tunnels/definition.ts';
import { labelOf } from '../../src/agent/tunnels/label.ts';
import type { OpenTunnel, Replay, TunnelOpener } from '../../src/agent/tunnels/tunnel.ts';

const edgePort = 4_041;
const firstPort = 20_000;

export interface SimTunnelsParts {
  readonly captures: Captures;
  readonly ticks: Ticks;
  readonly random: Random;
}

/** Tunnels that listen nowhere: they open and stop at once, and the local server behind them answers 200 to everything. */
export class SimTunnels {
  readonly #parts: SimTunnelsParts;
  readonly #labels = new Set<string>();
  readonly #ports = new Set<number>();

  constructor(parts: SimTunnelsParts) {
    this.#parts = parts;
  }

  readonly open: TunnelOpener = async (key, definition) =>
    definition.proto === 'http' ? this.#openHttp(key, definition) : this.#openPort(key, definition);

  #openHttp(key: string, definition: HttpDefinition): OpenTunnel {
    const label = labelOf(definition, (wanted) => this.#labels.has(wanted), this.#parts.random);
    this.#labels.add(label);
    const replay = ({ of, ...exchange }: Replay) =>
      definition.inspect
        ? captureOf(this.#parts.captures, { key, name: definition.name }, { ...exchange, replayOf: of })
        : undefined;
    const tunnel = { ...this.#tunnel(key, definition, `http://${label}.localhost:${edgePort}`), replay };
    return { tunnel, stop: () => this.#labels.delete(label) };
  }

  #openPort(key: string, definition: PassedThroughDefinition): OpenTunnel {
    const port = definition.remote_port || this.#freePort();
    if (this.#ports.has(port)) throw new AgentProblem('tunnelFailed', `cannot listen on 127.0.0.1:${port}`);
    this.#ports.add(port);
    const tunnel = this.#tunnel(key, definition, `${definition.proto}://localhost:${port}`);
    return { tunnel, stop: () => this.#ports.delete(port) };
  }

  #freePort(): number {
    let port = firstPort;
    while (this.#ports.has(port)) port += 1;
    return port;
  }

  #tunnel(key: string, definition: Definition, publicURL: string) {
    return { key, definition, publicURL, metrics: newTunnelMetrics(this.#parts.ticks) };
  }
}

export interface SimExchange {
  readonly remoteAddr: string;
  readonly request: RequestHead;
  readonly body: Buffer;
  readonly replayOf?: string;
}

/** An exchange that is over as soon as it begins; undefined where nothing is captured. */
export function captureOf(captures: Captures, tunnel: CarryingTunnel, { body, ...start }: SimExchange) {
  const capture = captures.begin({ tunnel, ...start });
  if (body.length > 0) capture?.requestData(body);
  capture?.requestEnd();
  capture?.respond({ statusCode: 200, statusMessage: 'OK', httpVersion: '1.1', rawHeaders: ['Content-Length', '0'] });
  capture?.responseEnd();
  capture?.end();
  return capture;
}
