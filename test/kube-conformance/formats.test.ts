import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Cluster, causes, configMap, paths, startCluster, widget } from './cluster.ts';
import { withFormats } from './widget-crd.ts';

let cluster: Cluster;
let path: string;
beforeAll(async () => {
  cluster = await startCluster(withFormats);
  path = await cluster.fresh();
});
afterAll(() => cluster.stop());

const formats = {
  'date-time': { right: ['2026-01-01t00:00:00z'], wrong: ['2026-13-01T00:00:00Z', '2026-01-01 00:00:00Z'] },
  date: { right: ['2026-02-01'], wrong: ['2026-1-1', '2026-02-30'] },
  uuid: { right: ['123e4567e89b12d3a456426614174000'], wrong: ['x'] },
  hostname: { right: ['A', 'a.bc'], wrong: ['-a', 'a_b', 'a.b', 'a.b.', 'a..b', ''] },
  ipv4: { right: ['1.2.3.4', '01.2.3.4'], wrong: ['1.2.3', '::1'] },
  ipv6: { right: ['::1'], wrong: ['1.2.3.4', '::1%eth0', '::g'] },
  cidr: { right: ['1.2.3.4/8', '::/128'], wrong: ['1.2.3.4', '1.2.3.4/33', '::/129'] },
  mac: { right: ['01:23:45:67:89:ab'], wrong: ['x'] },
  uri: { right: ['/a', 'a:b', 'http://a'], wrong: ['not a uri', 'http://x y'] },
  email: { right: ['a@b', 'A <a@b.c>'], wrong: ['x', 'a b@c'] },
  byte: { right: ['YQ=='], wrong: ['!!', 'YQ'] },
  duration: { right: ['1h', '-1h', '1.5h', '1h30m', '1d', '2 weeks'], wrong: ['x', '5'] },
  hexcolor: { right: ['#fff'], wrong: ['x'] },
  'a format that nobody knows': { right: ['x'], wrong: [] },
} as const;

describe('formats', () => {
  test.each(Object.entries(formats))('%s', async (format, { right, wrong }) => {
    for (const value of right) {
      const { code, body } = await cluster.send(
        'POST',
        `${path}?dryRun=All`,
        widget('a', { texts: { [format]: value } }),
      );
      expect([code, body.spec?.texts]).toEqual([201, { [format]: value }]);
    }
    for (const value of wrong) {
      const answer = await cluster.send('POST', `${path}?dryRun=All`, widget('a', { texts: { [format]: value } }));
      expect(causes(answer)).toContain(
        `spec.texts.${format}: Invalid value: ${JSON.stringify(value)}: spec.texts.${format} in body must be of type ${format}: ${JSON.stringify(value)}`,
      );
    }
  });

  const numbers = [
    ['int32', 'integer', 2 ** 31],
    ['int64', 'integer', 1e19],
    ['float', 'number', 1e39],
  ] as const;
  test.each(numbers)('%s has bounds', async (format, type, value) => {
    const answer = await cluster.send('POST', `${path}?dryRun=All`, widget('a', { numbers: { [format]: value } }));
    expect(causes(answer)).toContain(
      `<nil>: Invalid value: "": Checked value must be of type ${type} with format ${format} in spec.numbers.${format}`,
    );
  });
});

describe('nullable', () => {
  const kept = [
    ['an object', { nullable: { object: null } }, { object: null, text: 'd' }],
    ['an item', { nullable: { items: ['a', null] } }, { items: ['a', null], text: 'd' }],
    ['a field with a default', { nullable: { text: null } }, { text: null }],
  ] as const;
  test.each(kept)('%s stays null', async (_what, spec, wanted) => {
    const { code, body } = await cluster.send('POST', `${path}?dryRun=All`, widget('a', spec));
    expect([code, body.spec?.nullable]).toEqual([201, wanted]);
  });
});

describe('fields given twice', () => {
  const body =
    '{"apiVersion":"test.example.com/v1","kind":"Widget","metadata":{"name":"a","labels":{"a":"1","a":"2"}},' +
    '"spec":{"color":"red","color":"blue","parts":[{"name":"x","value":1,"value":2}]},"more":1,"more":2}';
  const problems = [
    'duplicate field "metadata.labels.a"',
    'duplicate field "spec.color"',
    'duplicate field "spec.parts[0].value"',
    'duplicate field "more"',
    'unknown field "more"',
  ];

  test('are refused when validation is strict', async () => {
    const answer = await cluster.send('POST', `${path}?dryRun=All&fieldValidation=Strict`, body);
    expect([answer.code, answer.body.message]).toEqual([
      400,
      `Widget in version "v1" cannot be handled as a Widget: strict decoding error: ${problems.join(', ')}`,
    ]);
  });

  test('are warned about otherwise, and the last one counts', async () => {
    const answer = await cluster.send('POST', `${path}?dryRun=All`, body);
    expect([answer.code, answer.body.spec.color]).toEqual([201, 'blue']);
    for (const problem of problems) expect(answer.warnings).toContain(`299 - ${JSON.stringify(problem)}`);
    const silent = await cluster.send('POST', `${path}?dryRun=All&fieldValidation=Ignore`, body);
    expect([silent.code, silent.warnings]).toEqual([201, '']);
  });

  test('in patches', async () => {
    await cluster.send('POST', path, widget('patched'));
    const patches = [
      ['application/merge-patch+json', '{"spec":{"size":4,"size":5}}', 'duplicate field "spec.size"'],
      [
        'application/json-patch+json',
        '[{"op":"add","op":"add","path":"/spec/size","value":5}]',
        'json patch duplicate field "[0].op"',
      ],
    ] as const;
    for (const [type, text, problem] of patches) {
      const one = `${path}/patched?dryRun=All`;
      const strict = await cluster.send('PATCH', `${one}&fieldValidation=Strict`, text, type);
      expect([strict.code, strict.body.message]).toEqual([
        422,
        expect.stringContaining(`strict decoding error: ${problem}`),
      ]);
      const warned = await cluster.send('PATCH', one, text, type);
      expect([warned.body.spec.size, warned.warnings]).toEqual([5, `299 - ${JSON.stringify(problem)}`]);
    }
  });

  test('of built-in types', async () => {
    const maps = await cluster.fresh(paths.configmaps);
    const text = JSON.stringify(configMap('a', { k: '1' })).replace('"k":"1"', '"k":"1","k":"2"');
    const { body: refused } = await cluster.send('POST', `${maps}?fieldValidation=Strict`, text);
    expect(refused.message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.k"',
    );
  });
});
