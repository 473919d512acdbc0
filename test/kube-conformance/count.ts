import { readdirSync } from 'node:fs';
import type { AggregatedResult, Config, Reporter, TestContext } from '@jest/reporters';

const atLeast = 250;

/** Prints how many cases of the suite passed, and on which server; too few of a whole run fail it. */
export default class ConformanceCount implements Reporter {
  readonly #isPart: boolean;
  #error: Error | undefined;

  constructor({ testNamePattern }: Config.GlobalConfig) {
    this.#isPart = Boolean(testNamePattern);
  }

  onRunComplete(_contexts: Set<TestContext>, { testResults }: AggregatedResult): void {
    const all = testResults.filter(({ testFilePath }) => testFilePath.startsWith(import.meta.dirname));
    const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'));
    const server = process.env.TEST_KUBE_APISERVER ? 'real' : 'embedded';
    const inMemory = all.filter(({ displayName }) => displayName?.name === 'in memory');
    const overSockets = all.filter((suite) => !inMemory.includes(suite));
    this.#count(server, overSockets, files.length);
    // All but what kubectl asks.
    this.#count(`${server}, in memory`, inMemory, files.length - 1);
  }

  #count(server: string, suites: AggregatedResult['testResults'], files: number): void {
    if (this.#isPart || suites.length < files) return;
    const passed = suites.reduce((sum, { numPassingTests }) => sum + numPassingTests, 0);
    const wrong = passed < atLeast ? `, fewer than ${atLeast}` : '';
    const line = `kube conformance (${server}): ${passed} cases${wrong}`;
    process.stderr.write(`${line}\n`);
    if (wrong !== '') this.#error = new Error(line);
  }

  getLastError(): Error | undefined {
    return this.#error;
  }
}
