import { converges } from './converges.ts';
import { FakeWorld, operator, unready } from './witness/witness.fixture.ts';

/** One in which it is judged whether all converges. */
export class ConvergingWorld extends FakeWorld {
  readonly #judge = this.judge(converges);

  /** What was said at rest. */
  async spoke(): Promise<readonly string[]> {
    await this.#judge.atRest?.();
    return this.said.map((line) => line.replace('converges: ', ''));
  }

  /** The operator says of a resource why it is not Ready. */
  async say(kind: string, name: string, reason: string, beside: 'Reconciling' | 'Stalled' = 'Stalled'): Promise<void> {
    await this.write(kind, name, { status: unready(1, reason, beside), by: operator });
  }
}
