import { describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { refuseMissingValues } from './missing-values.ts';

function optionsOf(...argv: readonly string[]): Record<string, unknown> {
  const command = new Command('try')
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .argument('[addr]')
    .option('--name <name>', 'with a value')
    .option('-o, --output <format>', 'with a value and a short form')
    .option('--once', 'without a value');
  refuseMissingValues(command);
  return command.parse(argv, { from: 'user' }).opts();
}

describe('a flag where a value is to be', () => {
  test.each([
    [['--name', '--output', 'json'], '--name needs a value, and "--output" is a flag'],
    [['--once', '-o', '--name=x'], '-o needs a value, and "--name" is a flag'],
    [['--name', '--nmae=secret'], '--name needs a value, and "--nmae" is a flag'],
    [['--name', '--', 'x'], '--name needs a value, and "--" is a flag'],
  ])('%j is refused by name', (argv, message) => {
    expect(() => optionsOf(...argv)).toThrow(message);
  });

  test.each([
    [['--name', '-1'], { name: '-1' }],
    [['--name', '-o', '--output', 'json'], { name: '-o', output: 'json' }],
    [['--name=--once'], { name: '--once' }],
    [['--name', ''], { name: '' }],
    [['--once', '--name', 'x'], { once: true, name: 'x' }],
    [['-ojson', '--once'], { output: 'json', once: true }],
    [['--once', '--', '--name'], { once: true }],
  ])('%j is none', (argv, options) => {
    expect(optionsOf(...argv)).toEqual(options);
  });
});
