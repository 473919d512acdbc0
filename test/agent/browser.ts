import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'undici';
import { until } from '../support/until.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The installed Chromium; undefined when there is none. */
export const chromium = names.find((name) => spawnSync(name, ['--version']).status === 0);

/** What the browser itself does at a key goes by its number. */
const virtualKeys: Readonly<Record<string, number>> = { Tab: 9, Enter: 13, Escape: 27, ArrowUp: 38, ArrowDown: 40 };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly exceptionDetails?: { readonly text: string };
    readonly entry?: { readonly text: string };
  };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** A headless browser with one page, driven through the DevTools protocol. */
export class Browser {
  readonly #process: ChildProcess;
  readonly #dir: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #session = '';
  #last = 0;
  /** Uncaught exceptions and errors on the page's console. */
  readonly errors: string[] = [];

  private constructor(process: ChildProcess, dir: string, socket: WebSocket) {
    this.#process = process;
    this.#dir = dir;
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data))));
  }

  static async start(binary: string): Promise<Browser> {
    const dir = await mkdtemp(join(tmpdir(), 'browser-'));
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
    const child = spawn(binary, [...flags, '--remote-debugging-port=0', `--user-data-dir=${dir}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const socket = new WebSocket(await devtoolsURL(child));
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    const browser = new Browser(child, dir, socket);
    await browser.#attach();
    return browser;
  }

  async open(url: string): Promise<void> {
    await this.#send('Page.navigate', { url });
    await this.until('the page', 'document.readyState === "complete"');
  }

  /** The value of an expression on the page. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = (await this.#send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })) as { result: { value: T }; exceptionDetails?: { exception?: { description?: string } } };
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? 'failed');
    return result.value;
  }

  async until(what: string, expression: string): Promise<void> {
    await until(what, () => this.evaluate<boolean>(`Boolean(${expression})`));
  }

  text(selector: string): Promise<string> {
    return this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`);
  }

  async click(selector: string): Promise<void> {
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
  }

  /** Sets a field as typing does. */
  async fill(selector: string, value: string): Promise<void> {
    const field = `document.querySelector(${JSON.stringify(selector)})`;
    await this.evaluate(
      `${field}.value = ${JSON.stringify(value)}; ${field}.dispatchEvent(new Event('input', { bubbles: true }))`,
    );
  }

  async press(key: string): Promise<void> {
    const what = key.length === 1 ? { key, text: key } : { key, windowsVirtualKeyCode: virtualKeys[key] };
    await this.#send('Input.dispatchKeyEvent', { type: 'keyDown', ...what });
    await this.#send('Input.dispatchKeyEvent', { type: 'keyUp', ...what });
  }

  async resize(width: number, height: number): Promise<void> {
    await this.#send('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: width < 500,
    });
  }

  /** A media feature, such as `forced-colors`, as if the system had it so; without a value as it has it. */
  async emulate(feature: string, value = ''): Promise<void> {
    await this.#send('Emulation.setEmulatedMedia', { features: [{ name: feature, value }] });
  }

  async screenshot(): Promise<Buffer> {
    const { data } = (await this.#send('Page.captureScreenshot', {})) as { data: string };
    return Buffer.from(data, 'base64');
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#socket.close();
    this.#process.kill('SIGKILL');
    await ended;
    await rm(this.#dir, { recursive: true, force: true, maxRetries: 5 });
  }

  async #attach(): Promise<void> {
    const { targetInfos } = (await this.#send('Target.getTargets', {})) as {
      targetInfos: { targetId: string; type: string }[];
    };
    const targetId = targetInfos.find(({ type }) => type === 'page')?.targetId;
    const { sessionId } = (await this.#send('Target.attachToTarget', { targetId, flatten: true })) as {
      sessionId: string;
    };
    this.#session = sessionId;
    for (const domain of ['Page', 'Runtime', 'Log']) await this.#send(`${domain}.enable`, {});
  }

  #send(method: string, params: object): Promise<unknown> {
    this.#last += 1;
    const id = this.#last;
    const session = this.#session === '' ? {} : { sessionId: this.#session };
    const answered = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params, ...session }));
    return answered.then(({ result, error }) => {
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    });
  }

  #receive(message: Message): void {
    if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
    else if (message.method === 'Runtime.exceptionThrown')
      this.errors.push(message.params?.exceptionDetails?.text ?? '');
    else if (message.method === 'Log.entryAdded') this.errors.push(message.params?.entry?.text ?? '');
  }
}

async function devtoolsURL(child: ChildProcess): Promise<string> {
  if (child.stderr === null) throw new Error('no stderr');
  for await (const line of createInterface(child.stderr)) {
    const url = /ws:\/\/\S+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  throw new Error('the browser ended before it was up');
}
