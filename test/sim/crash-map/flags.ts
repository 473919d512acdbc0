import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { UsageError } from '../../../src/common/usage.ts';
import { known, whole } from '../../support/command.ts';
import type { Pairs } from './map.ts';
import { type Life, lives, subjects } from './subjects.ts';

export interface CrashFlags {
  readonly kinds: readonly string[];
  readonly lives: readonly Life[];
  readonly pairs: Pairs;
  readonly workers: number;
  readonly json: string | undefined;
}

const kinds = subjects.map(({ kind }) => kind);

export function parseCrashFlags(args: readonly string[]): CrashFlags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kinds: { type: 'string' },
      lives: { type: 'string' },
      pairs: { type: 'string', default: 'some' },
      workers: { type: 'string', default: String(availableParallelism()) },
      json: { type: 'string' },
    },
  });
  return {
    kinds: known('--kinds', values.kinds, kinds) ?? kinds,
    lives: (known('--lives', values.lives, lives) as readonly Life[] | undefined) ?? lives,
    pairs: pairsOf(values.pairs),
    workers: whole('--workers', values.workers, 1),
    json: values.json,
  };
}

function pairsOf(text: string): Pairs {
  if (text === 'none' || text === 'some' || text === 'all') return text;
  throw new UsageError(`--pairs: "${text}" is none of none, some, all`);
}
