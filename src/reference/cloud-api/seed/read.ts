import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { fieldName } from '../../../common/field-path.ts';
import { parseYaml } from '../../../common/yaml.ts';
import { SetupError } from '../setup-error.ts';
import { type ReadSeed, type Seed, seedSchema } from './schema.ts';

/**
 * Reads a seed file of YAML or JSON; an empty one seeds nothing.
 *
 * @throws SetupError naming the file and the path in it.
 */
export async function readSeedFile(file: string): Promise<Seed> {
  const seed = parse(file, await readText(file));
  checkSeed(seed, `seed file ${file}`);
  return seed as Seed;
}

/** @throws SetupError naming the first path that is wrong. */
export function checkSeed(seed: unknown, source: string): ReadSeed {
  const parsed = seedSchema.safeParse(seed);
  if (parsed.success) return parsed.data;
  throw new SetupError('seeds', `${source}: ${parsed.error.issues.map(describe)[0]}`);
}

function describe(issue: z.core.$ZodIssue): string {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const path = fieldName([...issue.path, ...unknown]);
  const message = unknown.length > 0 ? 'is no field of a seed' : problem(issue);
  return path === '' ? message : `${path}: ${message}`;
}

const shapes: Readonly<Record<string, string>> = { array: 'a list', object: 'a map', string: 'a string' };

function problem(issue: z.core.$ZodIssue): string {
  const shape = issue.code === 'invalid_type' ? shapes[issue.expected] : undefined;
  return shape === undefined ? issue.message : `must be ${shape}`;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new SetupError('seeds', `seed file ${file} cannot be read: ${reason(error)}`, { cause: error });
  }
}

function parse(file: string, text: string): unknown {
  try {
    return parseYaml(text) ?? {};
  } catch (error) {
    throw new SetupError('seeds', `seed file ${file} is not YAML: ${reason(error)}`, { cause: error });
  }
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
