import { areOfTwoSecrets, secretIn } from '../../../reconcile/ownership/key-mark.ts';

/** Of an account with a key, on record: of the path of its address nothing, the service is the same; of its key a mark. */
export function useNameOf(account: string, origin: string, mark: string | undefined): string {
  return [account, origin, ...(mark === undefined ? [] : [mark])].join(' ');
}

export function accountIn(name: string): string {
  return name.slice(0, name.indexOf(' '));
}

/** Without a mark nobody else is known to have its key. */
export function keyIn(name: string): string {
  const [account, origin, mark] = name.split(' ');
  return mark === undefined ? `account ${account} ${origin}` : `key ${origin} ${mark}`;
}

/** By which secret its key is marked. */
export function secretOfMarkIn(name: string): string | undefined {
  return secretIn(name.split(' ')[2]);
}

/** Of one whose key cannot be told from others: its mark was made elsewhere, as before somebody deleted the record. */
export function isStranger(name: string, to: string): boolean {
  const [, origin, mark] = name.split(' ');
  const [, ownOrigin, ownMark] = to.split(' ');
  return origin === ownOrigin && areOfTwoSecrets(mark, ownMark);
}

/** What it has in common with other names: the account at its address, and the key there. */
export function groupsOf(name: string): readonly string[] {
  const [account, origin] = name.split(' ');
  return [...new Set([`account ${account} ${origin}`, keyIn(name)])];
}
