import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const contentTypes = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
} as const;

/** By name, so that nothing else that lies there is served. */
const scripts = [
  ...['app', 'body', 'chart', 'copy', 'curl', 'detail', 'dom', 'edit'],
  ...['empty', 'exchange', 'foldable', 'image', 'json', 'keys', 'live', 'message'],
  ...['part', 'pretty', 'requests', 'row', 'rows', 'say', 'shell', 'status'],
  ...['stored', 'xml'],
];

const files = ['index.html', 'style.css', ...scripts.map((name) => `${name}.js`)];

export interface PageFile {
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer;
}

/** The files of the page: beside the source, or `page/` beside a bundle. */
export async function readPage(): Promise<readonly PageFile[]> {
  const dir = join(import.meta.dirname, import.meta.dirname.endsWith('inspector') ? '../page' : 'page');
  const read = await Promise.all(files.map((name) => readFile(join(dir, name))));
  return files.map((name, at) => ({
    path: `/page/${name}`,
    contentType: typeOf(name),
    body: read[at] ?? Buffer.alloc(0),
  }));
}

function typeOf(name: string): string {
  const extension = name.split('.').pop();
  return contentTypes[extension as keyof typeof contentTypes];
}
