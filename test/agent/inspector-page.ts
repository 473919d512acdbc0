import type { RequestListener } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { until } from '../support/until.ts';
import { Browser, chromium } from './browser.ts';
import { type LocalServer, startLocal, startTestAgent, type TestAgent } from './support.ts';

// A check of its own: it takes a processor for half a minute, and a browser.
const isLeftOut = process.env.TEST_BROWSER === undefined;

/** The page in a browser, of an agent whose tunnels `web` and `other` lead to a local server. */
export class InspectorPage {
  agent!: TestAgent;
  local!: LocalServer;
  browser!: Browser;
  /** Of the tunnel `web`. */
  url!: string;

  async start(listener: RequestListener): Promise<void> {
    this.local = await startLocal(listener);
    this.agent = await startTestAgent();
    this.url = (await this.agent.tunnel({ name: 'web', proto: 'http', addr: this.local.addr })).public_url;
    await this.agent.tunnel({ name: 'other', proto: 'http', addr: this.local.addr });
    this.browser = await Browser.start(chromium ?? 'chromium');
    await this.browser.resize(1280, 800);
  }

  async stop(): Promise<void> {
    await this.browser?.stop();
    await this.agent?.close();
    await this.local?.stop();
  }

  async open(address = `${this.agent.url}/`): Promise<void> {
    await this.browser.open('about:blank');
    await this.browser.open(address);
    await this.browser.until('live updates', 'document.querySelector("#live.on")');
  }

  rows(): Promise<string[]> {
    return this.browser.evaluate('[...document.querySelectorAll("#rows .uri")].map((uri) => uri.textContent)');
  }

  rowsAre(uris: readonly string[]): Promise<unknown> {
    return until(`the rows ${uris}`, async () => JSON.stringify(await this.rows()) === JSON.stringify(uris));
  }

  has(selector: string, text: string): Promise<unknown> {
    return until(`${selector} with ${text}`, async () => (await this.browser.text(selector)).includes(text));
  }

  detailHas(text: string): Promise<unknown> {
    return this.has('#detail', text);
  }

  /** Visits this target, and opens it on the page. */
  async look(target: string, options: Parameters<TestAgent['visit']>[1] = {}): Promise<void> {
    await this.agent.visit(this.url + target, options).catch(() => undefined);
    const row = `[...document.querySelectorAll("#rows .uri")].find((uri) => uri.textContent === ${JSON.stringify(target)})`;
    await this.browser.until(`the row ${target}`, row);
    await this.browser.evaluate(`${row}.click()`);
    await this.has('#detail h2', target);
  }
}

/** Tests of the page in a real browser; each begins with an empty list. */
export function describePage(title: string, listener: RequestListener, tests: (page: InspectorPage) => void): void {
  const page = new InspectorPage();
  (isLeftOut ? describe.skip : describe)(isLeftOut ? `${title} (skipped: no chromium on the PATH)` : title, () => {
    beforeAll(() => page.start(listener));
    beforeEach(async () => {
      await page.agent.call('DELETE', '/api/requests/http');
      await page.open();
    });
    afterEach(() => expect(page.browser.errors.splice(0)).toEqual([]));
    afterAll(() => page.stop());
    tests(page);
  });
}
