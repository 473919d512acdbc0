import { type Outcome, run, type Violation } from '../core/run.ts';
import type { Story } from '../core/story.ts';
import type { World } from '../core/world.ts';
import { crashAt, crashAtName } from '../crash-map/crash-at.ts';
import { oracles } from '../oracles/index.ts';
import { troubles } from '../troubles/index.ts';

export interface TellOptions {
  /** Names; default all. */
  readonly oracles?: readonly string[] | undefined;
  readonly print?: (line: string) => void;
  readonly onWorld?: (world: World) => void;
  readonly stopAtFirst?: boolean;
}

/** Speaks where the operator, or the world itself, does not come to the end of a story. */
export const brokenOff = 'broken-off';

const beginnings = {
  ...Object.fromEntries(Object.entries(troubles).map(([name, { begin }]) => [name, begin])),
  [crashAtName]: crashAt,
};

/** Tells a story with every trouble that there is, before the oracles. */
export async function tell(story: Story, options: TellOptions = {}): Promise<Outcome> {
  const { oracles: names = Object.keys(oracles), print, onWorld, stopAtFirst = false } = options;
  const stray = strayErrors();
  try {
    const outcome = await run(story, {
      oracles: names.flatMap((name) => oracles[name] ?? []),
      troubles: beginnings,
      stopAtFirst,
      ...(print === undefined ? {} : { print }),
      ...(onWorld === undefined ? {} : { onWorld }),
    });
    return { ...outcome, violations: [...outcome.violations, ...stray.violations] };
  } catch (error) {
    const broken = { oracle: brokenOff, at: 0, message: textOf(error) };
    return { hash: '', violations: [...stray.violations, broken], virtualMs: 0, realMs: 0, traceLines: 0 };
  } finally {
    stray.stop();
  }
}

/** Of promises that nobody waited for: a process of the operator would have ended by one. */
function strayErrors() {
  const violations: Violation[] = [];
  const onError = (error: unknown) => {
    violations.push({ oracle: brokenOff, at: 0, message: `nobody waited for: ${textOf(error)}` });
  };
  process.on('unhandledRejection', onError);
  return { violations, stop: () => process.off('unhandledRejection', onError) };
}

const root = new URL('../../../', import.meta.url).href;

function textOf(error: unknown): string {
  return (error instanceof Error ? (error.stack ?? error.message) : String(error)).replaceAll(root, '');
}
