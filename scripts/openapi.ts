/** Writes docs/openapi.json: what the cloud reference server answers at /openapi.json, formatted as everything else. */
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startCloudApi } from '../src/reference/cloud-api/server.ts';

const file = join(import.meta.dirname, '../docs/openapi.json');
const api = await startCloudApi({ apiKeys: ['unused'] });
const document = await (await fetch(`${api.url}/openapi.json`)).json();
await api.close();
await writeFile(file, JSON.stringify(document));
execFileSync(process.execPath, [
  join(import.meta.dirname, '../node_modules/@biomejs/biome/bin/biome'),
  'format',
  '--write',
  file,
]);
