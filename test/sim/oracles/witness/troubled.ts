import { type Act, mainKey } from '../../core/story.ts';
import { cloudModelOf } from './cloud-model.ts';
import { minute, type Witness } from './witness.ts';

export interface Wanted {
  /** Of its options; what is not named here may be anything. */
  readonly with?: Readonly<Record<string, unknown>>;
  /** It counts for so long after its end. */
  readonly afterMs?: number;
}

/** Whether a trouble of that name was there at that moment. */
export function wasTroubled(
  { story }: Pick<Witness, 'story'>,
  name: string,
  at: number,
  { with: wanted = {}, afterMs = 0 }: Wanted = {},
): boolean {
  return story.acts.some((act) => {
    if (act.do !== 'trouble' || act.name !== name || act.at > at || at > act.at + act.forMs + afterMs) return false;
    return Object.entries(wanted).every(([option, value]) => act.with?.[option] === value);
  });
}

/** What showed that account of the cloud as empty then: what was concluded of it is done within a minute. */
export function emptiedBy(world: Witness, account: string | undefined, at: number): Act | undefined {
  const { keys } = cloudModelOf(world);
  return world.story.acts.find((act) => {
    if (act.do !== 'trouble' || act.name !== 'empty-account') return false;
    const { key = mainKey } = act.with ?? {};
    return keys.accountOf('cloud', String(key)) === account && act.at <= at && at <= act.at + act.forMs + minute;
  });
}

/** Of each backup, when it was made, and when Kubernetes goes back to it. */
export function restoresOf({
  story,
}: Pick<Witness, 'story'>): readonly { readonly from: number; readonly to: number }[] {
  return story.acts.flatMap((act) =>
    act.do === 'trouble' && act.name === 'kube-restored' ? [{ from: act.at, to: act.at + act.forMs }] : [],
  );
}
