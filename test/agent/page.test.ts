import { writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import type { Browser } from './browser.ts';
import { describePage } from './inspector-page.ts';
import { answerTo, type LocalServer, readRaw, startTestAgent, type TestAgent } from './support.ts';

const evil = '<script>document.title = "owned"</script><img src=x onerror="document.title = \'owned\'">';

const listener: RequestListener = (request, response) => {
  if (request.url?.startsWith('/json')) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync('{"deep":{"list":[1,2]},"id":12345678901234567890,"none":[]}'));
  } else if (request.url?.startsWith('/missing')) response.writeHead(404).end('no such thing');
  else request.pipe(response);
};

describePage('the inspector page', listener, (page) => {
  let agent: TestAgent;
  let local: LocalServer;
  let browser: Browser;
  let url: string;
  beforeAll(() => {
    ({ agent, local, browser, url } = page);
  });

  const rows = () => page.rows();
  const rowsAre = (uris: readonly string[]) => page.rowsAre(uris);
  const detailHas = (text: string) => page.detailHas(text);

  test('lists requests as they come, newest first, with status and duration', async () => {
    await page.has('#none', 'No requests yet');
    await agent.visit(`${url}/one`);
    await agent.visit(`${url}/missing`, { method: 'POST', body: 'x' });
    await rowsAre(['/missing', '/one']);
    // Shown from when it comes; its status follows.
    const isWhole = async () =>
      /^POST\s+\/missing\s+404\s+\d\d:\d\d:\d\d\s+(web\s+)?[\d.]+ (µs|ms)$/.test(await browser.text('#rows .row'));
    await until('the first row with status and duration', isWhole);
  });

  test('filters by words, status class and tunnel', async () => {
    await agent.visit(`${url}/one`);
    await agent.visit(`${url}/missing/two`);
    await agent.visit(`${url.replace('web', 'other')}/three`);
    await rowsAre(['/three', '/missing/two', '/one']);
    await browser.fill('#filter', '4xx');
    await rowsAre(['/missing/two']);
    await browser.fill('#filter', 'get one');
    await rowsAre(['/one']);
    await browser.fill('#filter', 'nothing');
    await rowsAre([]);
    await page.has('#none', 'None matches.');
    await browser.fill('#filter', '');
    await browser.until('the tunnels', 'document.querySelector("#tunnel").options.length === 3');
    await browser.evaluate(
      'document.querySelector("#tunnel").value = "other"; document.querySelector("#tunnel").dispatchEvent(new Event("change"))',
    );
    await rowsAre(['/three']);
  });

  test('shows headers and bodies, laid out, decoded and raw', async () => {
    await agent.visit(`${url}/json`, { method: 'POST', headers: { 'X-Mine': 'shown' }, body: 'a plain body' });
    await rowsAre(['/json']);
    await browser.click('#rows .row');
    await detailHas('"deep": {');
    const detail = await browser.text('#detail');
    for (const part of [
      'POST /json',
      'X-Mine',
      'shown',
      'a plain body',
      'gzip decoded',
      '200 OK',
      `"id": 12345678901234567890,\n  "none": []\n}`,
    ])
      expect(detail).toContain(part);
    await browser.click('#raw');
    await detailHas('POST /json HTTP/1.1');
    await detailHas('HTTP/1.1 200 OK');
    expect(await browser.text('#detail')).not.toContain('"deep": {');
    await browser.click('#raw');
  });

  test('what a capture holds stays text', async () => {
    const headers = { 'content-type': 'text/html', 'x-evil': evil };
    const outgoing = agent.through(url, { path: '/x?q=<script>', method: 'POST', headers });
    (await answerTo(outgoing.end(evil))).resume();
    await rowsAre(['/x?q=<script>']);
    await browser.click('#rows .row');
    await detailHas(evil);
    expect(await browser.evaluate('document.querySelectorAll("#requests script, #requests img").length')).toBe(0);
    expect(await browser.evaluate('document.title')).toBe('Inspector');
  });

  test('replays, and the replay is in the list', async () => {
    await agent.visit(`${url}/again`, { method: 'POST', body: 'sent twice' });
    await rowsAre(['/again']);
    await browser.click('#rows .row');
    await detailHas('sent twice');
    await browser.click('#replay');
    await rowsAre(['↻ /again', '/again']);
    const [copy, original] = await agent.captures();
    expect(copy.replay_of).toBe(original.id);
  });

  test('replays an edited request to another tunnel', async () => {
    await agent.visit(`${url}/before`, { method: 'POST', headers: { 'x-old': '1' }, body: 'old body' });
    await rowsAre(['/before']);
    await browser.click('#rows .row');
    await detailHas('old body');
    await browser.press('e');
    await browser.until('the dialog', 'document.querySelector("#edit").open');
    expect(await browser.evaluate('document.querySelector("#edit-body").value')).toBe('old body');
    await browser.fill('#edit-method', 'PUT');
    await browser.fill('#edit-uri', 'no target');
    await browser.click('#edit-send');
    await until('the refusal', async () => (await browser.text('#edit-error')).includes('"uri"'));
    expect(browser.errors.splice(0)).toEqual([expect.stringContaining('400')]);
    await browser.fill('#edit-uri', '/after?x=1');
    await browser.fill('#edit-headers', 'Host: web.localhost\nX-New: 2');
    await browser.fill('#edit-body', 'new bödy');
    await browser.evaluate('document.querySelector("#edit-tunnel").value = "other"');
    await browser.click('#edit-send');
    await rowsAre(['↻ /after?x=1', '/before']);
    await detailHas('PUT /after?x=1');
    const [copy] = await agent.captures();
    expect(copy).toMatchObject({
      tunnel_name: 'other',
      request: { method: 'PUT', headers: { 'X-New': ['2'], 'Content-Length': ['9'] } },
    });
    expect(Buffer.from(readRaw(copy.request.raw).body, 'latin1').toString()).toBe('new bödy');
    expect(copy.request.headers['x-old']).toBeUndefined();
  });

  test('sends a body that nobody changed as it was captured, whatever its line ends', async () => {
    const body = 'a\r\nb\rc\nd';
    await page.look('/lines', { method: 'POST', body });
    await browser.press('e');
    await browser.until('the dialog', 'document.querySelector("#edit").open');
    await browser.click('#edit-send');
    await rowsAre(['↻ /lines', '/lines']);
    const [copy] = await agent.captures();
    expect(readRaw(copy.request.raw).body).toBe(body);
  });

  test('says where only the beginning of a body can be edited', async () => {
    const cut = `{ id: 'x', request: { headers: [], body: { encoding: 'utf8', text: 'x', truncated: true } } }`;
    await browser.evaluate(`import('/page/edit.js').then(({ edit }) => edit(${cut}))`);
    await page.has('#edit-note', 'only its beginning');
  });

  test('clears', async () => {
    await agent.visit(`${url}/one`);
    await rowsAre(['/one']);
    await browser.click('#clear');
    await rowsAre([]);
    expect(await agent.captures()).toEqual([]);
  });

  test('goes with the keyboard', async () => {
    for (const path of ['/1', '/2', '/3']) await agent.visit(url + path);
    await rowsAre(['/3', '/2', '/1']);
    await browser.press('j');
    await detailHas('GET /3');
    await browser.press('j');
    await detailHas('GET /2');
    await browser.press('k');
    await detailHas('GET /3');
    await browser.press('r');
    await rowsAre(['↻ /3', '/3', '/2', '/1']);
    await browser.press('/');
    expect(await browser.evaluate('document.activeElement.id')).toBe('filter');
    await browser.press('Escape');
    await browser.press('?');
    expect(await browser.evaluate('document.querySelector("#help").open')).toBe(true);
    await browser.press('Escape');
    expect(await browser.evaluate('document.querySelector("#help").open')).toBe(false);
    await browser.press('Escape');
    await detailHas('Choose a request.');
    await browser.press('s');
    await browser.until(
      'the status page',
      'location.pathname === "/status" && !document.querySelector("#status").hidden',
    );
    await browser.press('g');
    await browser.until('the list', '!document.querySelector("#requests").hidden');
  });

  test('says where the tunnels are reached, and what they forward to', async () => {
    await until('the tunnels', async () => (await browser.text('#served')).includes(`${url} → `));
    expect(await browser.text('#served li:last-child')).toMatch(/^http:\/\/other\S+ → /);
    const passed = (await agent.tunnel({ name: 'passed', proto: 'tcp', addr: local.addr })).public_url;
    await until('another', async () => (await browser.text('#served')).includes(passed));
    expect(await browser.evaluate('[...document.querySelectorAll("#served a")].map(({ href }) => href)')).toEqual(
      expect.not.arrayContaining([passed]),
    );
    await agent.call('DELETE', '/api/tunnels/passed');
    await until('it to be gone', async () => !(await browser.text('#served')).includes(passed));
  });

  test('status shows agent, tunnels and charts', async () => {
    await agent.visit(`${url}/one`);
    await browser.open(`${agent.url}/status`);
    await until('the tunnels', async () => (await browser.text('#tunnels')).includes(local.addr));
    expect(await browser.text('#agent')).toMatch(/online[\s\S]*1\.2\.3[\s\S]*us \(/);
    expect(await browser.text('#tunnels tbody tr')).toContain('web');
    // A step of the charts takes 5 s, and is drawn when it is over.
    await browser.until('both percentiles', 'document.querySelectorAll("#latency-chart polyline").length === 2');
  });

  test('pages that were left hold no connection, of which a browser has six', async () => {
    for (let round = 0; round < 8; round += 1) {
      await browser.open(`${agent.url}/status`);
      await browser.until('live updates', 'document.querySelector("#live.on")');
      await browser.open(`${agent.url}/?${round}`);
      await browser.until('live updates', 'document.querySelector("#live.on")');
    }
  });

  test('status shows how the endpoints stand at the cloud', async () => {
    const credential = { key: () => 'a-key', watch: async () => {} };
    const registered = await startTestAgent({}, { cloud: { url: 'http://127.0.0.1:1', credential } });
    try {
      await registered.tunnel({ name: 'web', proto: 'http', addr: local.addr });
      await browser.open(`${registered.url}/status`);
      const text = 'http://127.0.0.1:1 shows 0 endpoints; it cannot be reached: the connection was refused';
      await until('the cloud', async () => (await browser.text('#agent')).includes(text));
    } finally {
      await browser.open('about:blank');
      await registered.close();
    }
  });

  test('fits a phone, and turns dark and light', async () => {
    await browser.resize(360, 740);
    await agent.visit(`${url}/${'long/'.repeat(60)}`);
    await until('the row', async () => (await rows()).length === 1);
    const visible = (selector: string) =>
      browser.evaluate<boolean>(`document.querySelector('${selector}').checkVisibility()`);
    const shown = async () => [await visible('.list'), await visible('#detail')];
    expect(await shown()).toEqual([true, false]);
    await browser.press('j');
    await detailHas('GET /long');
    expect(await shown()).toEqual([false, true]);
    await browser.click('#back');
    expect(await shown()).toEqual([true, false]);
    await browser.press('j');
    await detailHas('GET /long');
    expect(await browser.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    expect(await browser.evaluate('document.querySelector("#detail").clientWidth')).toBeGreaterThan(300);
    const back = () => browser.evaluate('getComputedStyle(document.body).backgroundColor');
    const before = await back();
    await browser.press('t');
    expect(await back()).not.toBe(before);
    await browser.press('t');
    expect(await back()).toBe(before);
    if (process.env.SCREENSHOTS) await writeFile(`${process.env.SCREENSHOTS}/phone.png`, await browser.screenshot());
    await browser.resize(1280, 800);
    if (process.env.SCREENSHOTS) await writeFile(`${process.env.SCREENSHOTS}/wide.png`, await browser.screenshot());
  });
});
