import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestCloud, type TestCloud } from '../../../test/support/cloud-api.ts';
import { openDatabase, transaction } from './database.ts';
import { defaultSeed } from './seed/default.ts';

let dir: string;
const running: TestCloud[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cloud-api-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((cloud) => cloud.stop()));
  await rm(dir, { recursive: true });
});

const file = () => join(dir, 'cloud.db');

async function start(options = {}): Promise<TestCloud> {
  const cloud = await startTestCloud({ data: file(), seeds: [defaultSeed], baseUrl: 'http://cloud.test', ...options });
  running.push(cloud);
  return cloud;
}

async function restart(): Promise<TestCloud> {
  await running.pop()?.stop();
  return start();
}

const lists = async (cloud: TestCloud) =>
  Promise.all(
    ['/reserved_addrs', '/bot_users', '/endpoints'].map(async (path) => (await cloud.call('GET', path)).body),
  );

test('a restart keeps everything, and seeding again changes nothing', async () => {
  const cloud = await start();
  const addr = (await cloud.call('POST', '/reserved_addrs', { description: 'a', metadata: 'é' })).body;
  const configuration = { endpoint_configuration_id: defaultSeed.endpoint_configurations?.[0] };
  await cloud.call('PATCH', `/reserved_addrs/${addr.id}`, configuration);
  await cloud.call('POST', '/bot_users', { name: 'b', active: false });
  const before = await lists(cloud);
  expect(await lists(await restart())).toEqual(before);
});

test('a restart keeps modules, the SAML certificate too', async () => {
  const [edge] = defaultSeed.https_edges ?? [];
  const path = `/edges/https/${edge?.id}/routes/${edge?.routes?.[0]}/saml`;
  const { status, body } = await (await start()).call('PUT', path, { idp_metadata: '<EntityDescriptor/>' });
  expect(status).toBe(200);
  expect((await (await restart()).call('GET', path)).body).toEqual(body);
});

test('after a restart addresses stay unique and cursors of deleted objects stay known', async () => {
  const cloud = await start();
  const first = (await cloud.call('POST', '/reserved_addrs', {})).body;
  const second = (await cloud.call('POST', '/reserved_addrs', {})).body;
  await cloud.call('DELETE', `/reserved_addrs/${second.id}`);
  const again = await restart();
  expect((await again.call('POST', '/reserved_addrs', {})).body.addr).not.toBe(second.addr);
  const { body } = await again.call('GET', `/reserved_addrs?before_id=${second.id}`);
  expect(body.reserved_addrs).toEqual([first]);
});

test('the file is in WAL mode and held by one server', async () => {
  await start();
  await expect(start()).rejects.toThrow(/^data file .*cloud\.db cannot be used: .*locked/);
});

describe('it holds secrets, so that', () => {
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
  const modes = async (folder: string) => {
    const names = (await readdir(folder)).sort();
    return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await modeOf(join(folder, name))])));
  };

  test("the file and what stands beside it are this user's alone, as is the folder that is made for it", async () => {
    const folder = join(dir, 'made');
    const cloud = await start({ data: join(folder, 'cloud.db') });
    await cloud.call('POST', '/bot_users', { name: 'a' });
    expect(await modeOf(folder)).toBe('700');
    expect(await modes(folder)).toEqual({ 'cloud.db': '600', 'cloud.db-wal': '600' });
  });

  test('one that others could read is so no longer; a folder that was there stays as it is', async () => {
    await chmod(dir, 0o755);
    await (await start()).stop();
    running.pop();
    for (const suffix of ['-wal', '-shm']) await writeFile(file() + suffix, '', { mode: 0o644 });
    await chmod(file(), 0o644);
    await start();
    expect(await modeOf(dir)).toBe('755');
    for (const mode of Object.values(await modes(dir))) expect(mode).toBe('600');
  });

  test('what is no data file, such as a device, is refused and stays as it is', async () => {
    await writeFile(file(), 'of somebody else', { mode: 0o644 });
    await expect(start()).rejects.toThrow('file is not a database');
    expect(await modes(dir)).toEqual({ 'cloud.db': '644' });
  });
});

test('a file of another version is refused', async () => {
  const database = new DatabaseSync(file());
  database.exec('PRAGMA user_version = 99');
  database.close();
  await expect(start()).rejects.toThrow('version 99');
});

describe('where SQLite rolls back by itself, as on a full disk,', () => {
  const fill = (database: DatabaseSync) =>
    database.exec(`CREATE TRIGGER full BEFORE INSERT ON objects BEGIN SELECT RAISE(ROLLBACK, 'disk is full'); END`);
  const insert = `INSERT INTO objects (account, kind, id) VALUES ('a', 'b', 'c')`;

  test('the error is that, and the next transaction goes on', () => {
    const database = openDatabase();
    fill(database);
    expect(() => transaction(database, () => database.exec(insert))).toThrow('disk is full');
    database.exec('DROP TRIGGER full');
    transaction(database, () => database.exec(insert));
    expect(database.prepare('SELECT count(*) AS n FROM objects').get()).toEqual({ n: 1 });
    database.close();
  });

  test('seeding at start is refused as the data file is', async () => {
    const database = openDatabase(file());
    fill(database);
    database.close();
    const message = `data file ${file()} cannot be used: disk is full`;
    await expect(start()).rejects.toMatchObject({ name: 'SetupError', setting: 'data', message });
  });
});
