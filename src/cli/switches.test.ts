import { afterEach, describe, expect, test } from '@jest/globals';
import { Command, Option } from 'commander';
import { takeSwitchValues } from './switches.ts';

const variable = 'EDGE_OPERATOR_TEST_ELECT';
afterEach(() => {
  delete process.env[variable];
});

function optionsOf(argv: readonly string[], command = new Command('try')): Record<string, unknown> {
  command
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .option('--once', 'a switch', false)
    .option('--no-inspect', 'a switch that takes something away')
    .addOption(new Option('--elect', 'a switch with a variable').env(variable))
    .option('--name <name>', 'no switch');
  takeSwitchValues(command);
  return command.parse(argv, { from: 'user' }).opts();
}

describe('switches', () => {
  test.each([
    [['--once'], { once: true }],
    [['--once=true'], { once: true }],
    [['--once=True', '--elect=1'], { once: true, elect: true }],
    [['--once=false', '--elect=F'], { once: false, elect: false }],
    [['--no-inspect=true'], { inspect: false }],
    [['--no-inspect=false'], { inspect: true }],
    [['--once', '--once=false'], { once: false }],
    [['--once=false', '--once'], { once: true }],
    [['--name=true'], { name: 'true' }],
  ])('%j', (argv, options) => {
    expect(optionsOf(argv)).toMatchObject(options);
  });

  test('a flag wins over its variable', () => {
    process.env[variable] = 'true';
    expect(optionsOf(['--elect=false'])).toMatchObject({ elect: false });
  });

  test.each([['--once=yes'], ['--once='], ['--elect=2']])('%s is refused by name', (arg) => {
    const flag = arg.replace(/=.*/, '');
    expect(() => optionsOf([arg])).toThrow(`${arg} is neither on nor off: write ${flag}=true or ${flag}=false`);
  });

  test('a value of its own is refused by name, where it cannot be something else', () => {
    expect(() => optionsOf(['--once', 'false'])).toThrow('--once false is two words: write --once=false');
    expect(() => optionsOf(['--once', 'maybe'])).toThrow(/too many arguments/);
    const command = new Command('try').argument('<addr>');
    expect(optionsOf(['--once', 'true'], command)).toMatchObject({ once: true });
  });

  test('what stands behind -- is no flag', () => {
    const command = new Command('try').argument('<addr>');
    optionsOf(['--', '--once=true'], command);
    expect(command.args).toEqual(['--once=true']);
  });
});
