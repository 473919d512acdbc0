import { createHmac, hash } from 'node:crypto';

/**
 * Tells the keys that an account has had from each other, for processes that come after (ADR 15). It stands where tenants
 * read it: without the secret nobody can try a key by it, nor compare those of two accounts; and it is short, so that many
 * keys have the same one.
 *
 * @param secret the same for each process of the operator, and for those who may not read it unknown
 */
export function keyMarkOf(secret: string, account: string, apiKey: string): string {
  const mark = createHmac('sha256', secret).update(`${account} ${apiKey}`).digest('hex').slice(0, 8);
  return `${hash('sha256', secret, 'hex').slice(0, 4)}-${mark}`;
}

/** What was marked by another secret, as of another installation, is not known to be of one key. */
export function mayBeTwoKeys(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/** Nothing is known of whether they are of one key. */
export function areOfTwoSecrets(one: string | undefined, other: string | undefined): boolean {
  const [bySecret, byOther] = [secretIn(one), secretIn(other)];
  return bySecret !== undefined && byOther !== undefined && bySecret !== byOther;
}

/** What tells the secrets of marks apart. */
export function secretIn(mark: string | undefined): string | undefined {
  return mark?.split('-')[0];
}
