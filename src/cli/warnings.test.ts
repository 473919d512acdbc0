import { expect, test } from '@jest/globals';
import { parseSettings } from '../operator/settings.ts';
import { warningsOf } from './warnings.ts';

const namespaces = '--default-account-namespaces names none of --watch-namespaces: nothing may use the default account';

test.each<[why: string, given: object, env: object, warnings: readonly string[]]>([
  ['nothing', {}, { EDGE_OPERATOR_API_KEY: 'k' }, []],
  [
    'two keys',
    { apiKeyFile: 'f' },
    { EDGE_OPERATOR_API_KEY: 'canary' },
    ['EDGE_OPERATOR_API_KEY is ignored, for --api-key-file is given too: leave one of them out'],
  ],
  [
    'a default account for what nobody watches',
    { watchNamespaces: 'a,b', defaultAccountNamespaces: 'c' },
    {},
    [namespaces],
  ],
  ['one for some of what is watched', { watchNamespaces: 'a,b', defaultAccountNamespaces: 'b,c' }, {}, []],
  ['one for all that is watched', { watchNamespaces: 'a', defaultAccountNamespaces: '*' }, {}, []],
  ['one for some of all', { defaultAccountNamespaces: 'c' }, {}, []],
])('%s', (_why, given, env, warnings) => {
  expect(warningsOf(parseSettings({ ...given }), { ...env })).toEqual(warnings);
});
