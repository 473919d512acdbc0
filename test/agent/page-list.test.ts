import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { describePage } from './inspector-page.ts';
import { startTestAgent } from './support.ts';

let release: (() => void) | undefined;

const listener: Parameters<typeof describePage>[1] = (request, response) => {
  const { url = '' } = request;
  if (url === '/slow') {
    release = () => response.end();
    return;
  }
  if (url === '/packed') {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' }).end(gzipSync('Wrapped word'));
  } else if (url === '/broken') {
    response.writeHead(200, { 'content-length': '100' }).write('only so much', () => response.destroy());
  } else request.pipe(response);
};

describePage('the list of the inspector page', listener, (page) => {
  const count = () => page.browser.text('#count');
  const countIs = (text: string) => until(`the count ${text}`, async () => (await count()) === text);

  test('shows the newest 500, says of how many, and loads older ones', async () => {
    await page.agent.visit(`${page.url}/oldest`, { method: 'POST', body: 'a body to be found' });
    for (let round = 0; round < 52; round += 1)
      await Promise.all(Array.from({ length: 10 }, (_, at) => page.agent.visit(`${page.url}/${round}/${at}`)));
    await countIs('500 of 521 requests');
    expect((await page.rows()).length).toBe(500);
    await page.browser.fill('#filter', '"to be found"');
    await page.rowsAre(['/oldest']);
    expect(await count()).toBe('1 found in 521 requests');
    await page.browser.fill('#filter', '');
    await countIs('500 of 521 requests');
    await page.browser.click('#older');
    await countIs('521 of 521 requests');
    expect((await page.rows()).at(-1)).toBe('/oldest');
    expect(await page.browser.evaluate('document.querySelector("#older").checkVisibility()')).toBe(false);
    await page.agent.visit(`${page.url}/one-more`);
    await until('the new one on top', async () => (await page.rows())[0] === '/one-more');
    await countIs('521 of 522 requests');
  });

  test('is filtered by what headers and bodies hold, also what comes meanwhile', async () => {
    await page.agent.visit(`${page.url}/plain`, { headers: { 'x-trace': 'Abc-1' } });
    await page.agent.visit(`${page.url}/packed`);
    await page.browser.fill('#filter', 'abc-1');
    await page.rowsAre(['/plain']);
    await page.browser.fill('#filter', 'wrapped');
    await page.rowsAre(['/packed']);
    await page.agent.visit(`${page.url}/other`, { method: 'POST', body: 'wrapped as well' });
    await page.agent.visit(`${page.url}/none`, { method: 'POST', body: 'not this' });
    await page.rowsAre(['/other', '/packed']);
    await page.browser.fill('#filter', '\ud800');
    await page.has('#none', 'None matches.');
  });

  test('has what matches late where it began', async () => {
    await page.browser.fill('#filter', '200');
    const slow = page.agent.visit(`${page.url}/slow`);
    await until('the slow one', () => release !== undefined);
    await page.agent.visit(`${page.url}/quick`);
    await page.rowsAre(['/quick']);
    release?.();
    await slow;
    await page.rowsAre(['/quick', '/slow']);
  });

  test('names time and tunnel of each', async () => {
    await page.agent.visit(`${page.url}/one`);
    await page.agent.visit(`${page.url.replace('web', 'other')}/two`);
    await page.rowsAre(['/two', '/one']);
    expect(await page.browser.text('#rows .when')).toMatch(/^\d\d:\d\d:\d\d$/);
    const tunnels = '[...document.querySelectorAll("#rows .tunnel")].map((one) => one.innerText)';
    expect(await page.browser.evaluate(tunnels)).toEqual(['other', 'web']);
  });

  test('says by text that a 200 was broken off', async () => {
    await page.look('/broken');
    await page.browser.until('the mark', 'document.querySelector("#rows .code").textContent === "200 ✕failed"');
    await page.detailHas('Failed: ');
    expect(await page.browser.text('.side.response')).toContain('broken off here');
  });

  test('marks the chosen one in forced colours too', async () => {
    await page.agent.visit(`${page.url}/one`);
    await page.look('/two');
    await page.browser.emulate('forced-colors', 'active');
    const backs = '[...document.querySelectorAll("#rows .row")].map((row) => getComputedStyle(row).backgroundColor)';
    const [chosen, other] = await page.browser.evaluate<string[]>(backs);
    await page.browser.emulate('forced-colors');
    expect(chosen).not.toBe(other);
  });

  test('has an address for each request, which leads to it again', async () => {
    await page.look('/linked');
    const [{ id }] = await page.agent.captures();
    expect(await page.browser.evaluate('location.href')).toBe(`${page.agent.url}/#${id}`);
    expect(await page.browser.text('#detail .id')).toBe(id);
    await page.open(`${page.agent.url}/#${id}`);
    await page.detailHas('GET /linked');
    await page.browser.evaluate('history.pushState(undefined, "", "/"); dispatchEvent(new PopStateEvent("popstate"))');
    await page.detailHas('Choose a request.');
  });

  test('says of an address that it leads to no request', async () => {
    const follow = (hash: string) => page.browser.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await follow('req_none');
    await page.detailHas('The agent holds no request req_none');
    await follow('%3Cimg%20src=x%3E%E0');
    await page.detailHas('The address names no captured request.');
    await follow('req_none');
    await page.detailHas('The agent holds no request');
    await follow('../../api/tunnels');
    await page.detailHas('The address names no captured request.');
    // The browser notes each 404.
    expect(page.browser.errors.splice(0).every((error) => error.includes('404'))).toBe(true);
  });

  /** What it says in place of requests with these settings and tunnels. */
  async function said(settings: object, tunnels: readonly object[]): Promise<string> {
    const agent = await startTestAgent({ ...settings });
    try {
      for (const tunnel of tunnels) await agent.tunnel({ addr: page.local.addr, ...tunnel });
      await page.open(`${agent.url}/`);
      await page.browser.until('words', '!document.querySelector("#none").hidden');
      return await page.browser.text('#none');
    } finally {
      await page.browser.open('about:blank');
      await agent.close();
    }
  }

  test('says what an empty list waits for', async () => {
    const http = { name: 'a', proto: 'http' };
    expect(await said({}, [])).toMatch(
      /^No tunnel is running\.[\s\S]*agent tunnels start 8080 --name web --agent-url http:/,
    );
    expect(await said({}, [{ name: 'db', proto: 'tcp' }])).toMatch(/^Only http tunnels are captured/);
    expect(await said({}, [{ ...http, inspect: false }])).toContain('inspect: false');
    expect(await said({ inspect_db_size: -1 }, [http])).toContain('inspect_db_size is -1');
  });

  test('gives a line for each tunnel that brings a request', async () => {
    await page.has('#none', `curl ${page.url}/`);
    await page.has('#none', `curl ${page.url.replace('web', 'other')}/`);
    await page.browser.evaluate('navigator.clipboard.writeText = async (text) => { window.copied = text; }');
    await page.browser.click('#none button');
    expect(await page.browser.evaluate('window.copied')).toBe(`curl ${page.url}/`);
    await page.has('#said', 'Command copied.');
  });

  test('shows a tunnel whose name is markup as text', async () => {
    const name = '<img src=x onerror="document.title = \'owned\'">';
    const { public_url: url } = await page.agent.tunnel({ name, proto: 'http', addr: page.local.addr });
    await page.has('#none', `Through ${name}:`);
    await page.agent.visit(`${url}/named`);
    await page.has('#rows .tunnel', name);
    expect(await page.browser.evaluate('document.querySelectorAll("#requests img").length')).toBe(0);
    await page.agent.call('DELETE', `/api/tunnels/${encodeURIComponent(name)}`);
  });
});
