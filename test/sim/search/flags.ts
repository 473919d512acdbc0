import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { UsageError } from '../../../src/common/usage.ts';
import { known, whole } from '../../support/command.ts';
import { sets, withoutSets } from './sets.ts';

/** What `npm run sim` is asked to do. */
export interface Flags {
  /** undefined for as many as the minutes allow. */
  readonly seeds: number | undefined;
  readonly from: number;
  readonly only: readonly string[] | undefined;
  readonly oracles: readonly string[] | undefined;
  readonly minutes: number | undefined;
  readonly workers: number;
  readonly json: string | undefined;
  /** Of how many failing seeds of each oracle the story is made shorter. */
  readonly shrink: number;
  /** Shrunken stories are printed instead of written. */
  readonly print: boolean;
  readonly check: boolean;
  readonly list: boolean;
  /** One story instead of many. */
  readonly one: { readonly seed: number } | { readonly story: string } | undefined;
  readonly trace: boolean;
  readonly verbose: boolean;
}

export interface Names {
  readonly troublesAndHabits: readonly string[];
  readonly oracles: readonly string[];
}

const defaultSeeds = '100';

export function parseFlags(args: readonly string[], names: Names): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string' },
      from: { type: 'string', default: '1' },
      only: { type: 'string' },
      oracles: { type: 'string' },
      minutes: { type: 'string' },
      workers: { type: 'string', default: String(availableParallelism()) },
      json: { type: 'string' },
      shrink: { type: 'string', default: '1' },
      print: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      seed: { type: 'string' },
      story: { type: 'string' },
      trace: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  });
  const { seed, story, minutes, check, list } = values;
  if (seed !== undefined && story !== undefined) throw new UsageError('--seed and --story exclude each other');
  const one = seed !== undefined || story !== undefined;
  if ((values.trace || values.verbose) && !one) throw new UsageError('--trace is of one story: give --seed or --story');
  if (one && values.seeds !== undefined)
    throw new UsageError('--seeds is for many: with --seed or --story there is one');
  const seeds = values.seeds ?? (minutes === undefined ? defaultSeeds : undefined);
  const only = known('--only', values.only, [...names.troublesAndHabits, ...Object.keys(sets)]);
  return {
    seeds: seeds === undefined ? undefined : whole('--seeds', seeds, 1),
    from: whole('--from', values.from, 0),
    only: only && withoutSets(only),
    oracles: known('--oracles', values.oracles, names.oracles),
    minutes: minutes === undefined ? undefined : number('--minutes', minutes),
    workers: whole('--workers', values.workers, 1),
    json: values.json,
    shrink: whole('--shrink', values.shrink, 0),
    print: values.print,
    check,
    list,
    trace: values.trace,
    one: seed === undefined ? (story === undefined ? undefined : { story }) : { seed: whole('--seed', seed, 0) },
    verbose: values.verbose,
  };
}

function number(flag: string, text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value;
  throw new UsageError(`${flag}: "${text}" is no number above 0`);
}
