import type { Log } from '../../common/log.ts';
import type { Ticks } from '../metrics/rate.ts';
import { type Holder, Holders } from './holders.ts';
import { type Opening, Openings } from './openings.ts';

/** Kept for the process: about 30, and what name look-ups, files and the cloud take for a moment. */
const ofProcess = 40;
/** Kept for the API, so that one can look when tunnels have all others. It may have more where there are. */
const ofApi = 8;
/** Connections at a door that are only told that there is no room; kept for the two doors. */
export const mostRefused = 12;
const ofRefusals = 2 * mostRefused;
const smallestRoom = 8;
const shareOfClients = 3 / 4;
/** Left to clients, which may wait, by connections to local servers. */
const shareLeft = 1 / 8;
const crowdedFrom = 3 / 4;
const reclaimEveryMs = 100;
const logEveryMs = 10_000;

export interface DescriptorsOptions {
  /** Files that the process may have open (`ulimit -n`); undefined is without limit. */
  readonly limit: number | undefined;
  /** How long a request waits for a connection; default 10 s. */
  readonly patienceMs?: number;
  readonly ticks: Ticks;
  readonly log: Log;
}

/**
 * The file descriptors that connections may take. At the limit of the process the system refuses whatever comes next, be
 * it the connection to the local server that a client already waits for. So clients get three quarters of the room at
 * most, and the connections to local servers, for which requests wait, leave some to clients that can only wait.
 */
export class Descriptors {
  readonly #options: DescriptorsOptions;
  readonly #waiting: Openings;
  readonly #clients = new Holders(() => this.#next());
  readonly #ofApi = new Holders(() => this.#next());
  readonly #others = new Holders(() => this.#next());
  readonly #servers = new Holders(() => this.#next());
  readonly #closers = new Set<() => void>();
  #reclaimedAt = Number.NEGATIVE_INFINITY;
  #looking: NodeJS.Timeout | undefined;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #refused = 0;

  constructor(options: DescriptorsOptions) {
    this.#options = options;
    const { patienceMs = 10_000 } = options;
    this.#waiting = new Openings(patienceMs);
  }

  /** Why there is none, for who gets none. */
  get shortage(): string {
    return `as many files are open as its process may have (${this.#options.limit}, see ulimit -n)`;
  }

  /** Whether connections had better not stay open without use. */
  get isCrowded(): boolean {
    const isFull = this.#taken > this.#room * crowdedFrom || this.#ofClients > this.#mostClients * crowdedFrom;
    return isFull || this.isAwaited;
  }

  /** Whether somebody waits for one. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /** Called to close what nobody uses when there are none left, the last first. Returns what ends that. */
  onShortage(closeIdle: () => void): () => void {
    this.#closers.add(closeIdle);
    return () => this.#closers.delete(closeIdle);
  }

  /** Whether the connection of a client of http tunnels may stay. */
  admitClient(client: Holder): boolean {
    return this.#admit(client, this.#clients, () => this.#hasClientRoom());
  }

  /** Whether a connection to the API may stay. */
  admitToApi(client: Holder): boolean {
    return this.#admit(client, this.#ofApi, () => this.#ofApi.size < ofApi || this.#hasClientRoom());
  }

  /** Whether a connection may stay that needs another one at once, to its local server. */
  admitPair(client: Holder): boolean {
    return this.#admit(client, this.#others, () => this.#hasRoom(2));
  }

  /** Whether another port may be listened on: the process, the API and some connections have what they need all the same. */
  get hasPort(): boolean {
    return this.#beside > ofProcess + ofApi + smallestRoom;
  }

  /** Counts a server of its own port: what it takes stays taken, so that it leaves less to share out. */
  listens(server: Holder): void {
    this.#servers.add(server);
  }

  /** Counts what is open anyway. */
  hold(holder: Holder): void {
    this.#others.add(holder);
  }

  /** Opens a connection to a local server as soon as there is a descriptor for it, or gives up. */
  open(opening: Opening): void {
    if (!this.isAwaited && this.#makeRoom(() => this.#hasRoom(1))) this.#begin(opening);
    else if (this.#hasQueueRoom()) this.#wait(opening);
    else opening.giveUp();
  }

  /** What becomes idle meanwhile is closed for it, too. */
  #wait(opening: Opening): void {
    this.#waiting.add(opening);
    this.#looking ??= setInterval(() => {
      this.#makeRoom(() => this.#hasRoom(1));
      this.#next();
      if (this.isAwaited) return;
      clearInterval(this.#looking);
      this.#looking = undefined;
    }, reclaimEveryMs).unref();
  }

  /** For connections of all sorts. */
  get #room(): number {
    return Math.max(this.#beside - ofProcess - ofApi - ofRefusals, smallestRoom);
  }

  /** Those that are not of ports. */
  get #beside(): number {
    const { limit = Number.POSITIVE_INFINITY } = this.#options;
    return limit - this.#servers.size;
  }

  get #mostClients(): number {
    return Math.floor(this.#room * shareOfClients);
  }

  get #mostTaken(): number {
    return Math.ceil(this.#room * (1 - shareLeft));
  }

  get #ofClients(): number {
    return this.#clients.size + Math.max(this.#ofApi.size - ofApi, 0);
  }

  get #taken(): number {
    return this.#ofClients + this.#others.size;
  }

  #hasClientRoom(): boolean {
    return this.#taken < this.#room && this.#ofClients < this.#mostClients;
  }

  /** For so many connections to local servers, and whoever else does not wait. */
  #hasRoom(count: number): boolean {
    return this.#taken + count <= this.#mostTaken;
  }

  #admit(client: Holder, to: Holders, fits: () => boolean): boolean {
    const admitted = this.#makeRoom(fits);
    if (admitted) to.add(client);
    else this.#tell();
    return admitted;
  }

  /** Looking for what is idle takes a while: it is not done for each of many that come at once. */
  #makeRoom(fits: () => boolean): boolean {
    const { ticks } = this.#options;
    if (fits()) return true;
    if (ticks() - this.#reclaimedAt < reclaimEveryMs) return false;
    this.#reclaimedAt = ticks();
    for (const closeIdle of [...this.#closers].reverse()) {
      closeIdle();
      for (const holders of [this.#clients, this.#ofApi, this.#others]) holders.prune();
      if (fits()) return true;
    }
    return false;
  }

  #hasQueueRoom(): boolean {
    if (this.#waiting.size >= this.#room) this.#waiting.prune();
    return this.#waiting.size < this.#room;
  }

  #next(): void {
    while (this.isAwaited && this.#hasRoom(1)) {
      const opening = this.#waiting.shift();
      if (opening !== undefined) this.#begin(opening);
    }
  }

  #begin(opening: Opening): void {
    const opened = opening.open();
    if (opened !== undefined) this.hold(opened);
  }

  #tell(): void {
    const { ticks, limit, log } = this.#options;
    this.#refused += 1;
    if (ticks() - this.#loggedAt < logEveryMs) return;
    this.#loggedAt = ticks();
    log.warn('connections are refused: the process may not open more files', { limit, refused: this.#refused });
    this.#refused = 0;
  }
}
