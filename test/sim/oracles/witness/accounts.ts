import { cloudModelOf } from './cloud-model.ts';
import { type InstallationHistory, installationsOf, type Setup } from './installations.ts';
import { fieldsOf, textOf } from './json.ts';
import { type AccountID, type Keys, serviceOf } from './keys.ts';
import { type KubeModel, kubeModelOf } from './kube-model.ts';
import type { Resource, Version } from './resource.ts';
import { perWorld, type Span, type Witness } from './witness.ts';

/** An account as a resource uses it: at which service, with which key. */
export interface Access {
  readonly service: string;
  readonly key: string;
  /** Undefined: the service refuses the key. */
  readonly account: AccountID | undefined;
  readonly requestsPerMinute: number;
}

/** Which accounts resources use, by what they, their CloudAccounts and Secrets, and the installations say. */
export class Accounts {
  readonly #kube: KubeModel;
  readonly #keys: Keys;
  readonly #world: Witness;

  constructor(world: Witness) {
    this.#world = world;
    this.#kube = kubeModelOf(world);
    this.#keys = cloudModelOf(world).keys;
  }

  get installations(): ReadonlyMap<string, InstallationHistory> {
    return installationsOf(this.#world);
  }

  /** Those that it may have used for that resource at some moment of that time, by any of these versions. */
  during(
    installation: InstallationHistory,
    resource: Resource,
    versions: readonly Version[],
    span: Span,
  ): readonly Access[] {
    const names = new Set(versions.map(accountNameOf));
    return [...names].flatMap((name) => {
      if (name === undefined) return this.defaults(installation, span);
      return this.#named(installation, resource.namespace, name, span);
    });
  }

  /** The one that it uses now; undefined where it can use none. */
  now(installation: InstallationHistory, resource: Resource): Access | undefined {
    const { now } = this.#world.scheduler;
    if (resource.kind === 'CloudAccount') return this.#held(installation.at(now), resource, now);
    return this.named(installation, resource.namespace, accountNameOf(resource.version));
  }

  /** As `now`, of the account of that name; undefined: the default one. */
  named(installation: InstallationHistory, namespace: string, name: string | undefined): Access | undefined {
    const { now } = this.#world.scheduler;
    const setup = installation.at(now);
    if (name === undefined) return this.#access(setup?.apiURL, setup?.apiKey, setup?.requestsPerMinute);
    const account = this.#kube.get('CloudAccount', namespace, name);
    return account && this.#held(setup, account, now);
  }

  /** The one that it used at that moment, by the name that its account has now. */
  at(installation: InstallationHistory, resource: Resource, now: number): Access | undefined {
    const name = accountNameOf(resource.version);
    const setup = installation.at(now);
    if (name === undefined) return this.#access(setup?.apiURL, setup?.apiKey, setup?.requestsPerMinute);
    const account = [...this.#kube.ofKind('CloudAccount')].find(
      (each) => each.namespace === resource.namespace && each.name === name && each.livedIn(now, now),
    );
    return account && this.#held(setup, account, now);
  }

  /** What a CloudAccount stood for at that moment. */
  ofAt(installation: InstallationHistory, account: Resource, now: number): Access | undefined {
    return this.#held(installation.at(now), account, now);
  }

  #held(setup: Setup | undefined, account: Resource, now: number): Access | undefined {
    const version = account.versions.at(now);
    if (version === undefined) return undefined;
    const { name, key } = keyRefOf(version);
    const [value] = this.#kube.valuesOf('Secret', account.namespace, name, key, now, now);
    const { apiURL, requestsPerMinute } = version.spec;
    return this.#access(textOf(apiURL) ?? setup?.apiURL, value, Number(requestsPerMinute ?? 120));
  }

  /** The default account, as it was set up in that time. */
  defaults(installation: InstallationHistory, [from, to]: Span): readonly Access[] {
    return installation
      .during(from, to)
      .flatMap(({ apiURL, apiKey, requestsPerMinute }) => this.#access(apiURL, apiKey, requestsPerMinute) ?? []);
  }

  /**
   * What a CloudAccount stood for in that time. A key that is gone is kept in memory for deletes, so the last one counts
   * as well.
   */
  of(installation: InstallationHistory, account: Resource, [from, to]: Span): readonly Access[] {
    const urls = installation.during(from, to).map(({ apiURL }) => apiURL);
    return account.versions.during(from, to).flatMap((version) => {
      const { name, key } = keyRefOf(version);
      const last = this.#kube.lastValueOf('Secret', account.namespace, name, key, to);
      const values = [...this.#kube.valuesOf('Secret', account.namespace, name, key, from, to), last];
      const { apiURL, requestsPerMinute } = version.spec;
      const addresses = apiURL === undefined ? urls : [textOf(apiURL)];
      return addresses.flatMap((address) =>
        values.flatMap((value) => this.#access(address, value, Number(requestsPerMinute ?? 120)) ?? []),
      );
    });
  }

  #named(installation: InstallationHistory, namespace: string, name: string, span: Span): readonly Access[] {
    const accounts = [...this.#kube.ofKind('CloudAccount')].filter(
      (each) => each.namespace === namespace && each.name === name,
    );
    return accounts
      .filter((each, index) => each.livedIn(...span) || index === accounts.length - 1)
      .flatMap((each) => this.of(installation, each, span));
  }

  #access(address: string | undefined, key: string | undefined, requestsPerMinute = 120): Access | undefined {
    const service = serviceOf(address);
    // As everything that reads a key from a file or Secret does.
    const trimmed = key?.trim();
    if (service === undefined || trimmed === undefined || trimmed === '') return undefined;
    return { service, key: trimmed, account: this.#keys.accountOf(service, trimmed), requestsPerMinute };
  }
}

export const accountsOf = perWorld((world) => new Accounts(world));

/** Undefined: the default account. */
export function accountNameOf({ spec }: Version): string | undefined {
  return textOf(fieldsOf(spec.accountRef).name);
}

export function keyRefOf({ spec }: Version): { readonly name: string; readonly key: string } {
  const { name, key } = fieldsOf(spec.apiKeySecretRef);
  return { name: textOf(name) ?? '', key: textOf(key) ?? '' };
}
