import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { describePage } from './inspector-page.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGMQaPgARAwoFABZVQkBesIHTQAAAABJRU5ErkJggg==',
  'base64',
);
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="7" height="5"><script>top.document.title = 'owned'</script></svg>`;
const bodies: Readonly<Record<string, readonly [contentType: string, body: string | Buffer]>> = {
  '/xml': ['application/xml', '<a><b c=">">1</b><d/></a>'],
  '/bad-xml': ['text/xml', '<a><b></a>'],
  '/bad-json': ['application/json', '{"a": 1,}'],
  '/latin': ['text/plain; charset=iso-8859-1', Buffer.from('Grüße', 'latin1')],
  '/image': ['image/png', png],
  '/svg': ['image/svg+xml', svg],
  '/no-image': ['image/png', 'no image at all \0'],
};
let stream: ServerResponse | undefined;

describePage(
  'the detail of the inspector page',
  (request, response) => {
    const { url = '' } = request;
    const [contentType, body] = bodies[url] ?? [];
    if (contentType !== undefined) response.writeHead(200, { 'content-type': contentType }).end(body);
    else if (url === '/stream') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.write('data: first\n\n');
    } else request.pipe(response);
  },
  (page) => {
    const evaluate = <T>(expression: string) => page.browser.evaluate<T>(expression);
    /** What the page puts on the clipboard. */
    const copied = async (selector: string) => {
      await evaluate(
        'window.copied = undefined; navigator.clipboard.writeText = async (text) => { window.copied = text; }',
      );
      await page.browser.click(selector);
      await page.browser.until('a copy', 'window.copied !== undefined');
      return evaluate<string>('window.copied');
    };

    test('tells how a replay went, and why one was not sent', async () => {
      const brief = (await page.agent.tunnel({ name: 'brief', proto: 'http', addr: page.local.addr })).public_url;
      await page.look('/again');
      const [{ id: original }] = await page.agent.captures();
      await page.browser.click('#replay');
      await until('the result', async () =>
        /^Replayed: 200 OK in [\d.]+ (µs|ms)$/.test(await page.browser.text('#said')),
      );
      const [copy] = await page.agent.captures();
      expect(copy.replay_of).toBe(original);
      expect(await page.browser.text('#detail .id')).toBe(copy.id);
      await page.browser.click('#detail .facts a');
      await until('the original', async () => (await page.browser.text('#detail .id')) === original);

      await page.agent.visit(`${brief}/gone`);
      await page.rowsAre(['/gone', '↻ /again', '/again']);
      await page.browser.click('#rows .row');
      await page.has('#detail h2', '/gone');
      await page.agent.call('DELETE', '/api/tunnels/brief');
      await page.browser.click('#replay');
      await page.has('#said', 'Not replayed: no tunnel named "brief" is running');
      page.browser.errors.splice(0);
    });

    test('shows both sides beside each other, and one of them where there is no room', async () => {
      await page.look('/sides', { method: 'POST', body: 'x' });
      const tops = '[...document.querySelectorAll(".side h3")].map((one) => one.getBoundingClientRect().top)';
      const [request, response] = await evaluate<number[]>(tops);
      expect(request).toBe(response);
      await page.browser.resize(320, 640);
      const visible = '[...document.querySelectorAll(".side")].map((one) => one.checkVisibility())';
      expect(await evaluate(visible)).toEqual([true, false]);
      await page.browser.click('.tabs [data-side="response"]');
      expect(await evaluate(visible)).toEqual([false, true]);
      await page.browser.click('.tabs [data-side="request"]');
      await page.browser.resize(1280, 800);
    });

    test('lays out XML and parameters, reads other character sets, and says what is not valid', async () => {
      await page.look('/query?a=1&b=two%20words&a=%3Cb%3E');
      const cells =
        '[...document.querySelectorAll(".request tr")].slice(0, 3).map((row) => row.cells[1].innerText.trim())';
      expect(await evaluate(cells)).toEqual(['1', 'two words', '<b>']);
      await page.look('/xml');
      await page.has('.response pre', '<a>\n  <b c=">">1</b>\n  <d/>\n</a>');
      await page.look('/bad-xml');
      await page.has('.response .size', 'not valid XML: </a> ends what is not open');
      await page.look('/bad-json');
      await page.has('.response .size', 'not valid JSON: ');
      expect(await page.browser.text('.response pre')).toBe('{"a": 1,}');
      await page.look('/latin');
      await page.has('.response pre', 'Grüße');
      expect(await page.browser.text('.response .size')).toContain('windows-1252');
    });

    test('shows images, and runs nothing in them', async () => {
      await page.look('/image');
      await page.has('.response .image', '2 × 3');
      await page.look('/svg');
      await page.has('.response .image', '7 × 5');
      await page.has('.response pre', '<script>');
      await page.look('/no-image');
      await page.has('.response .image', 'This is no image/png that the browser shows.');
      expect(await evaluate('document.title')).toBe('Inspector');
    });

    test('copies the request for curl, its headers and body', async () => {
      await page.look('/copied?x=1', { method: 'POST', headers: { 'x-mine': "it's" }, body: 'a body' });
      const line = await copied('#copy-curl');
      expect(line.startsWith(`curl '${page.url}/copied?x=1' -H `)).toBe(true);
      expect(line).toContain(`-H 'x-mine: it'\\''s'`);
      expect(line).toContain(`--data-raw 'a body'`);
      expect(await copied('.request details > button')).toContain("x-mine: it's\n");
      expect(await copied('[aria-label="Copy header x-mine"]')).toBe("it's");
      expect(await copied('.request .above button')).toBe('a body');
      expect(await copied('#copy-link')).toMatch(/\/#req_\w+$/);
    });

    test('follows a stream, and leaves alone what is read', async () => {
      const outgoing = page.agent.through(page.url, { path: '/stream' });
      outgoing.on('response', (answer) => answer.resume());
      outgoing.end();
      await page.rowsAre(['/stream']);
      await page.browser.click('#rows .row');
      await page.has('.response pre', 'data: first');
      await page.has('.response .size', 'still coming');
      await evaluate(`document.querySelector('.response summary').click();
        window.pre = document.querySelector('.response pre'); pre.style.maxHeight = '60px'; pre.focus()`);
      stream?.write('data: second\n\n'.repeat(50));
      await page.has('.response pre', 'data: second');
      await evaluate('pre.scrollTop = 120');
      stream?.end('data: last\n\n');
      await page.has('.response pre', 'data: last');
      await until('the end', async () => !(await page.browser.text('.response .size')).includes('still coming'));
      expect(
        await evaluate(`[pre === document.querySelector('.response pre'), pre === document.activeElement,
          pre.scrollTop, document.querySelector('.response details').open]`),
      ).toEqual([true, true, 120, false]);
      expect(await page.browser.text('#detail .facts')).not.toContain('in progress');
      await evaluate(`document.querySelector('.response summary').click()`);
    });

    test('can be read with the keyboard, and speaks of itself only in a word', async () => {
      for (const target of ['/1', '/2']) await page.agent.visit(page.url + target);
      await page.look('/long', { method: 'POST', body: 'line\n'.repeat(500) });
      const body = `document.querySelector('.response pre')`;
      const named = `[${body}.tabIndex, ${body}.getAttribute('role'), ${body}.getAttribute('aria-label')]`;
      expect(await evaluate(named)).toEqual([0, 'region', 'Body of the response']);
      await evaluate(`${body}.focus()`);
      await page.browser.press('ArrowDown');
      await page.browser.until('the body to scroll', `${body}.scrollTop > 0`);
      for (const focused of [body, `document.querySelector('#replay')`]) {
        await evaluate(`${focused}.focus()`);
        for (const key of ['j', 'k', 'ArrowUp']) await page.browser.press(key);
        expect(await page.browser.text('#detail h2')).toBe('POST /long');
      }
      await evaluate(`document.querySelector('#rows').focus()`);
      await page.browser.press('j');
      await page.has('#detail h2', 'GET /2');
      const live = '[...document.querySelectorAll("[aria-live], [role=status], [role=alert]")].map((one) => one.id)';
      expect(await evaluate(live)).toEqual(['live', 'said', 'edit-error']);
    });

    test('fits into 320 pixels', async () => {
      const long = 'x'.repeat(300);
      const widest = () =>
        evaluate<number>(
          'Math.max(document.documentElement.scrollWidth, document.querySelector("#detail").scrollWidth)',
        );
      // Chromium now and then lays out a list that was hidden with the widths it had on a wide page.
      for (let round = 0; round < 6; round++) {
        await page.browser.resize(1280, 800);
        await page.look(`/${long}?${long}=${long}`, { method: 'POST', headers: { [`x-${long}`]: long }, body: long });
        await page.browser.resize(320, 640);
        expect(await widest()).toBeLessThanOrEqual(320);
        await page.browser.click('.tabs [data-side="response"]');
        expect(await widest()).toBeLessThanOrEqual(320);
        await page.browser.click('.tabs [data-side="request"]');
        await page.browser.click('#back');
        expect(await widest()).toBeLessThanOrEqual(320);
      }
      await page.browser.press('s');
      await page.has('#tunnels', 'web');
      expect(await widest()).toBeLessThanOrEqual(320);
      await page.browser.resize(1280, 800);
    });
  },
);
