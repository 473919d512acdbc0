import { expect, test } from '@jest/globals';
import { Command, Option } from 'commander';
import { collect, settingOption } from './flags.ts';
import { refuseRepeatedFlags } from './repeated-flags.ts';

function optionsOf(...argv: readonly string[]): Record<string, unknown> {
  const command = new Command('try')
    .exitOverride()
    .addOption(new Option('-n, --name <name>', 'of one value').default('x'))
    .addOption(
      settingOption({
        name: 'watchNamespaces',
        flag: '--watch-namespaces',
        variable: 'NAMESPACES',
        arg: 'names',
        about: 'a list',
      }),
    )
    .option('--header <header>', 'may be repeated', collect)
    .option('--once', 'a switch');
  refuseRepeatedFlags(command);
  return command.parse(argv, { from: 'user' }).opts();
}

test.each([
  [['--name', 'a', '--name', 'b']],
  [['--name=a', '--once', '--name=a']],
  [['-na', '--name', 'b']],
  [['-n', 'a', '-n', 'b', '--name', 'c']],
])('%j is refused by the name of the flag', (argv) => {
  expect(() => optionsOf(...argv)).toThrow('--name is given more than once');
});

test.each([
  [['--name', 'a'], { name: 'a' }],
  [['--name=--name'], { name: '--name' }],
  [['--once', '--once'], { name: 'x', once: true }],
  [['--header', 'a', '--header', 'b'], { name: 'x', header: ['a', 'b'] }],
  [['--watch-namespaces', 'a', '--watch-namespaces=b'], { name: 'x', watchNamespaces: 'a,b' }],
])('%j is not', (argv, options) => {
  expect(optionsOf(...argv)).toMatchObject(options);
});
