import { isSameURL } from '../../../common/http/url.ts';
import type { InstallationNames } from '../../kube/installation-name.ts';
import { annotation, annotationOf } from '../resource/annotations.ts';
import { isDeleting, type ManagedObject } from '../resource/resource.ts';
import { Neighbours, type Say } from './neighbours.ts';
import { installationOf, isSameInstallation, recordedURLOf } from './ownership.ts';

export interface InstallationOptions {
  /** What it is known by; not asked for before this process leads. */
  readonly name: () => string;
  /** The same without the uid of its namespace; default `name`. */
  readonly plainName?: () => string;
  /** Whether what other installations, or other addresses, have on record is taken over. */
  readonly takeOver: boolean;
  /** Milliseconds on the monotonic clock. */
  readonly now: () => number;
}

/** How a resource that cannot be worked for where its account is now goes all the same. */
export const letGo = `or set the annotation ${annotation.forceOrphan} to "true" to let this resource go and leave behind what it made`;

/** This installation of the operator, of several that may watch the same resources. */
export class Installation {
  readonly #options: InstallationOptions;
  readonly #neighbours: Neighbours;
  /** By uid of the resource, whose place was taken; `isDone` when it was seen to be. */
  readonly #taken = new Map<string, { readonly holder: string; isDone: boolean }>();

  constructor(options: InstallationOptions) {
    this.#options = options;
    this.#neighbours = new Neighbours(options.now);
  }

  get name(): string {
    return this.#options.name();
  }

  get names(): InstallationNames {
    const { name, plainName = name } = this.#options;
    return { name: name(), plain: plainName() };
  }

  /** What other installations have on record is taken over. */
  get takesOver(): boolean {
    return this.#options.takeOver;
  }

  /**
   * The other installation that manages the resource, unless it is to be taken over from that. One that takes it back takes over
   * itself: both would take it in turn, for ever.
   */
  otherOf(object: ManagedObject): string | undefined {
    const holder = installationOf(object);
    const { uid = '' } = object.metadata;
    if (holder === undefined) return undefined;
    const taken = this.#taken.get(uid);
    if (isSameInstallation(holder, this.name)) {
      this.wrote(object);
      return undefined;
    }
    if (annotationOf(object, annotation.takeOver) === holder) return undefined;
    if (!this.#options.takeOver || (taken?.holder === holder && taken.isDone)) return holder;
    if (taken?.holder !== holder) this.#taken.set(uid, { holder, isDone: false });
    return undefined;
  }

  /** It says whose it is now: who takes it back at once may be all that a watch ever shows. */
  wrote({ metadata: { uid = '' } }: Pick<ManagedObject, 'metadata'>): void {
    const taken = this.#taken.get(uid);
    if (taken !== undefined) taken.isDone = true;
  }

  /** Whether to write that the resource is another installation's. */
  ask(other: string, object: ManagedObject): Say {
    return this.#neighbours.ask(other, object);
  }

  /** What `ask` said is to be written could not be. */
  unsaid(other: string, object: ManagedObject): void {
    this.#neighbours.unsaid(other, object);
  }

  /** What is on record was made at another address than that of its account: nothing that this one says is about it. */
  movedAddress(object: ManagedObject, url: string | undefined): string | undefined {
    const recorded = recordedURLOf(object);
    if (url === undefined || recorded === undefined || this.#options.takeOver) return undefined;
    if (isSameURL(recorded, url) || annotationOf(object, annotation.takeOver) === recorded) return undefined;
    return (
      `what this resource made is at ${recorded}, and its account is at ${url} now: set the address back, or, ` +
      `if the API has moved, set the annotation ${annotation.takeOver} to ${recorded}${isDeleting(object) ? `, ${letGo}` : ''}`
    );
  }

  /** The resource is gone from Kubernetes, or is what it was before. */
  forget(uid: string): void {
    this.#taken.delete(uid);
    this.#neighbours.forget(uid);
  }
}
