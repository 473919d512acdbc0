import { describe, expect, test } from '@jest/globals';
import { parseSettings, settingsHelp } from './settings.ts';

describe('settings', () => {
  test('defaults', () => {
    expect(parseSettings({})).toMatchObject({
      watchNamespaces: [],
      requestsPerMinute: 120,
      resyncInterval: 600_000,
      allowedApiHosts: [],
      mirrorInterval: 30_000,
      createSettle: 60_000,
      takeOver: false,
      concurrency: 8,
      leaderElect: false,
      metricsAddr: { host: '', port: 8080 },
      healthAddr: { host: '', port: 8081 },
      logLevel: 'info',
      logFormat: 'json',
    });
  });

  test.each([
    ['100ms', 100],
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5m', 90_000],
    ['1h', 3_600_000],
  ])('a duration: %s', (text, ms) => {
    for (const name of ['resyncInterval', 'mirrorInterval', 'createSettle'] as const)
      expect(parseSettings({ [name]: text })[name]).toBe(ms);
  });

  test.each(['99ms', '0.05s', '1ms'])('too short a duration: %s', (text) => {
    for (const name of ['resyncInterval', 'mirrorInterval', 'createSettle'])
      expect(() => parseSettings({ [name]: text })).toThrow(/ must be at least 100ms and at most \d+h/);
  });

  test.each([
    ['resyncInterval', '8760h', '8761h'],
    ['mirrorInterval', '24h', '25h'],
    ['createSettle', '1h', '61m'],
    ['mirrorInterval', '24h', `${'9'.repeat(400)}h`],
  ] as const)('the longest %s is %s', (name, longest, tooLong) => {
    expect(parseSettings({ [name]: longest })[name]).toBeGreaterThan(0);
    expect(() => parseSettings({ [name]: tooLong })).toThrow(`at most ${longest}`);
  });

  test.each([
    ['apiUrl', 'https://example.com#part'],
    ['apiUrl', 'https://example.com?'],
    ['apiUrl', 'api.example.com'],
    ['watchNamespaces', 'a b'],
    ['watchNamespaces', 'ok,Not_Ok'],
    ['watchNamespaces', ''],
    ['watchNamespaces', ' ,'],
    ['mirrorNamespace', ''],
    ['leaderElectNamespace', 'a.b'],
    ['createSettle', '50ms'],
    ['createSettle', '0'],
    ['installation', 'a b'],
    ['installation', '-a'],
    ['installation', 'a'.repeat(64)],
    ['takeOver', 'yes'],
    ['shards', '0'],
    ['shards', '-1'],
    ['shards', 'two'],
    ['shards', '65'],
  ])('%s cannot be %j', (name, value) => {
    const { flag } = settingsHelp().find((setting) => setting.name === name) ?? {};
    expect(() => parseSettings({ [name]: value })).toThrow(`${flag} (or EDGE_OPERATOR_`);
  });

  test('an address without its scheme is told with it', () => {
    expect(() => parseSettings({ apiUrl: 'api.example.com' })).toThrow(
      '--api-url (or EDGE_OPERATOR_API_URL): "api.example.com" must begin with https:// or http://: write https://api.example.com',
    );
  });

  test('a count is bounded, however long it is', () => {
    for (const concurrency of ['1001', '9'.repeat(20), '9'.repeat(400)])
      expect(() => parseSettings({ concurrency })).toThrow(/^--concurrency .*" must be at most 1000$/);
  });

  test.each([
    ['true', true],
    ['True', true],
    ['1', true],
    ['false', false],
    ['F', false],
  ])('a switch by its variable: %s', (takeOver, on) => {
    expect(parseSettings({ takeOver }).takeOver).toBe(on);
  });

  test.each(['yes', '', '2', 'true '])('no switch: %j', (takeOver) => {
    const refused = /^--take-over \(or EDGE_OPERATOR_TAKE_OVER\): .* is neither on nor off: write true or false$/;
    expect(() => parseSettings({ takeOver })).toThrow(refused);
  });

  test.each([
    [{}, false],
    [{ shards: '1' }, false],
    [{ shards: '2' }, true],
    [{ shards: '2', leaderElect: 'true' }, true],
    [{ leaderElect: 'true' }, true],
    [{ leaderElect: 'false' }, false],
  ])('shards are shared out by Leases: of %j leader election is %s', (given, leaderElect) => {
    expect(parseSettings(given).leaderElect).toBe(leaderElect);
  });

  test('shards without leader election are refused: every replica would work for all accounts', () => {
    expect(() => parseSettings({ shards: '2', leaderElect: 'false' })).toThrow(
      '--shards (or EDGE_OPERATOR_SHARDS): 2 shards are shared out by leader election: leave --leader-elect=false out',
    );
  });

  test('lists, addresses and switches', () => {
    const settings = parseSettings({
      watchNamespaces: 'a, b,a,',
      metricsAddr: '[::1]:0',
      healthAddr: '0',
      leaderElect: 'true',
    });
    expect(settings.watchNamespaces).toEqual(['a', 'b']);
    expect(settings.metricsAddr).toEqual({ host: '::1', port: 0 });
    expect(settings.healthAddr).toBeUndefined();
    expect(settings.leaderElect).toBe(true);
  });

  test.each([
    ...['https://user:s3cret@host', 'https://:s3cret@host', 'https://host/?key=s3cret', 'https://host/#s3cret'],
    ...['user:s3cret@host', 'https:user:s3cret@host', 'https://user:a/s3cret@host', 'https://user:s3cret@host/a@b'],
    ...['host?key=s3cret', 'ftp://:s3cret@host'],
  ])('an address that holds a secret is refused, and not repeated: %s', (apiUrl) => {
    const parse = () => parseSettings({ apiUrl });
    expect(parse).toThrow(/^--api-url .*without user, query or fragment/);
    expect(parse).not.toThrow(/s3cret/);
  });

  test('of such an address the rest is repeated', () => {
    expect(() => parseSettings({ apiUrl: 'https://me:secret@example.com' })).toThrow('"https://***@example.com" is');
  });

  test.each([
    ['*', '*'],
    ['a', ['a']],
    [' a,b-1, a', ['a', 'b-1']],
  ])('namespaces that may use the default account: %j', (given, namespaces) => {
    const { defaultAccountNamespaces } = parseSettings({ defaultAccountNamespaces: given });
    expect(defaultAccountNamespaces).toEqual(namespaces);
  });

  test.each(['', ',', 'a,*', 'A', 'a.b', '-a', 'a_b', 'a*', 'a'.repeat(64)])(
    'no namespaces that may use the default account: %j',
    (defaultAccountNamespaces) => {
      expect(() => parseSettings({ defaultAccountNamespaces })).toThrow(
        /^--default-account-namespaces \(or EDGE_OPERATOR_DEFAULT_ACCOUNT_NAMESPACES\): .* or \* for all$/,
      );
    },
  );

  test.each([
    ['', undefined],
    ['blue-2.eu_west', 'blue-2.eu_west'],
  ])('an installation is known by %j', (given, installation) => {
    expect(parseSettings({ installation: given }).installation).toBe(installation);
  });

  test.each([
    ['0', 0],
    ['1s', 1_000],
    ['2m', 120_000],
  ])('the interval of the mirror: %s', (text, ms) => {
    expect(parseSettings({ mirrorInterval: text }).mirrorInterval).toBe(ms);
  });

  test.each(['10ms', '30', ''])('no interval of a mirror: %j', (text) => {
    expect(() => parseSettings({ mirrorInterval: text })).toThrow(/^--mirror-interval .*(30s|100ms).* or 0 for never/);
  });

  test('hosts are compared as URLs write them', () => {
    const allowedAgentHosts = 'EU.example.com, us.example.com:443,a:080,10.0.0.1:8080, [::1]:9';
    expect(parseSettings({ allowedAgentHosts }).allowedAgentHosts).toEqual([
      'eu.example.com',
      'us.example.com:443',
      'a:80',
      '10.0.0.1:8080',
      '[::1]:9',
    ]);
  });

  test('a host of agents may be a pattern of one label', () => {
    const allowedAgentHosts = '*.Agents.svc:4040, *.example.com, *.a:443, 10.0.8.0/24:4040, [fd00::/8]:1';
    expect(parseSettings({ allowedAgentHosts }).allowedAgentHosts).toEqual([
      '*.agents.svc:4040',
      '*.example.com',
      '*.a:443',
      '10.0.8.0/24:4040',
      '[fd00::/8]:1',
    ]);
  });

  test.each([
    '*',
    '*:4040',
    '*.',
    '*.*.svc',
    'a.*.svc',
    'a*.svc',
    '*a.svc',
    '*.1.2.3',
    '*.[::1]',
    '**.svc',
    'https://*.a',
  ])('no pattern: %s', (allowedAgentHosts) => {
    expect(() => parseSettings({ allowedAgentHosts })).toThrow(/^--allowed-agent-hosts .*any one label/);
    expect(() => parseSettings({ allowedApiHosts: allowedAgentHosts })).toThrow(/^--allowed-api-hosts /);
  });

  test('no pattern names a host that keys are sent to', () => {
    expect(() => parseSettings({ allowedApiHosts: '*.example.com' })).toThrow(/^--allowed-api-hosts /);
  });

  test('hosts that keys are sent to are https, unless they say http', () => {
    const allowedApiHosts = 'EU.example.com, us.example.com:443,10.0.0.1:8080, https://a, http://b:80, http://[::1]:9';
    expect(parseSettings({ allowedApiHosts }).allowedApiHosts).toEqual([
      'https://eu.example.com',
      'https://us.example.com',
      'https://10.0.0.1:8080',
      'https://a',
      'http://b',
      'http://[::1]:9',
    ]);
  });

  test.each(['https://a', 'a/b', 'a:port', 'me@a', 'a,*?'])('no hosts: %s', (allowedAgentHosts) => {
    expect(() => parseSettings({ allowedAgentHosts })).toThrow(/^--allowed-agent-hosts .*host:port/);
  });

  test.each(['ftp://a', 'http://a/b', 'http:a', 'https://', 'a/b', 'a:port', 'http://me@a', 'a,*?'])(
    'no hosts for keys: %s',
    (allowedApiHosts) => {
      expect(() => parseSettings({ allowedApiHosts })).toThrow(/^--allowed-api-hosts .*host:port.*http:\/\/host/);
    },
  );

  test('every setting is a flag and a variable, and says what it is', () => {
    for (const { name, flag, variable, about } of settingsHelp()) {
      expect(flag).toMatch(/^--[a-z-]+$/);
      expect(variable).toBe(`EDGE_OPERATOR_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`);
      expect(`${name}: ${about}`).toMatch(/\S: \S/);
    }
  });

  test('a wrong value names the flag, the variable, the value and what to write', () => {
    expect(() => parseSettings({ resyncInterval: 'soon' })).toThrow(
      '--resync-interval (or EDGE_OPERATOR_RESYNC_INTERVAL): "soon" is no duration: write 500ms, 30s, 5m or 1h',
    );
  });
});
