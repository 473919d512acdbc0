import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { cloudKinds, definitions } from '../../src/operator/kinds/index.ts';
import { kindCases } from '../scenarios/kinds.ts';

/* What CONTRIBUTING.md asks of whoever adds a kind. */

const textOf = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const ofCloud = cloudKinds.dependents.map(({ definition }) => definition.type.kind).sort();

test('the conformance suite has a row for each kind of the cloud', () => {
  expect(kindCases.map(({ kind }) => kind).sort()).toEqual(ofCloud);
});

describe.each(definitions.map(({ type, singular }) => ({ kind: type.kind, singular })))(
  '$kind',
  ({ kind, singular }) => {
    test('has a sample', () => expect(parse(textOf(`deploy/samples/${singular}.yaml`)).kind).toBe(kind));
  },
);
