import { describe, expect, test } from '@jest/globals';
import { Durations } from './durations.ts';
import { Histogram } from './histogram.ts';
import { History } from './history.ts';
import { Rate } from './rate.ts';
import { Meter } from './tunnel-metrics.ts';

function stopwatch() {
  const time = { ms: 0 };
  return { time, ticks: () => time.ms };
}

describe('Rate', () => {
  test('reads a steady rate after a while, the shorter window first', () => {
    const { time, ticks } = stopwatch();
    const rate = new Rate(ticks);
    const run = (minutes: number) => {
      for (let event = 0; event < minutes * 60 * 10; event += 1) {
        time.ms += 100;
        rate.mark();
      }
    };
    run(1);
    expect(rate.read().rate1).toBeCloseTo(10 * (1 - Math.exp(-1)), 1);
    expect(rate.read().rate5).toBeCloseTo(10 * (1 - Math.exp(-1 / 5)), 1);
    run(90);
    for (const value of Object.values(rate.read())) expect(value).toBeCloseTo(10, 0);
  });

  test('falls by a factor of e with each window of silence', () => {
    const { time, ticks } = stopwatch();
    const rate = new Rate(ticks);
    for (let event = 0; event < 600; event += 1) rate.mark();
    const { rate1, rate15 } = rate.read();
    expect(rate1).toBeCloseTo(10);
    time.ms += 60_000;
    expect(rate.read().rate1).toBeCloseTo(rate1 / Math.E);
    expect(rate.read().rate15).toBeCloseTo(rate15 * Math.exp(-1 / 15));
  });
});

describe('Histogram', () => {
  test.each([50, 90, 95, 99, 100])('percentile %d is off by 1 %% at most', (percentage) => {
    const histogram = new Histogram();
    for (let us = 1; us <= 100_000; us += 1) histogram.record(us * 1_000);
    const exact = percentage * 1e6;
    expect(Math.abs(histogram.percentile(percentage) - exact) / exact).toBeLessThan(0.01);
  });

  test('none is 0; what is out of range counts at its edge', () => {
    const histogram = new Histogram();
    expect(histogram.percentile(50)).toBe(0);
    histogram.record(0);
    expect(histogram.percentile(50)).toBeLessThan(1_100);
    histogram.record(1e18);
    expect(histogram.percentile(100)).toBeGreaterThan(8e13);
  });
});

describe('Durations', () => {
  test('forget what is older than ten minutes once there is something new', () => {
    const { time, ticks } = stopwatch();
    const durations = new Durations(ticks);
    durations.record(1e9);
    time.ms += 3_600_000;
    expect(durations.read().p50 / 1e9).toBeCloseTo(1, 1);
    durations.record(1e6);
    expect(durations.read().p99 / 1e6).toBeCloseTo(1, 1);
  });

  test('five minutes later the old still counts', () => {
    const { time, ticks } = stopwatch();
    const durations = new Durations(ticks);
    durations.record(1e9);
    time.ms += 300_000;
    durations.record(1e6);
    expect(durations.read().p99 / 1e9).toBeCloseTo(1, 1);
  });
});

describe('Meter', () => {
  test('counts what begins, shows what is open, and measures what is over, once', () => {
    const { time, ticks } = stopwatch();
    const meter = new Meter(ticks);
    const [one, two] = [meter.begin(), meter.begin()];
    time.ms += 5;
    one();
    one();
    expect(meter.read()).toMatchObject({ count: 2, gauge: 1 });
    expect(meter.read().p50 / 5e6).toBeCloseTo(1, 1);
    two();
    expect(meter.read()).toMatchObject({ count: 2, gauge: 0 });
  });
});

describe('History', () => {
  test('has ten minutes in steps of 5 s, empty ones too', () => {
    const { time, ticks } = stopwatch();
    time.ms = 3_600_000;
    const history = new History(ticks);
    for (let event = 0; event < 50; event += 1) history.record(2e6);
    expect(history.read().every(({ rate }) => rate === 0)).toBe(true);
    time.ms += 5_000;
    const samples = history.read();
    expect(samples).toHaveLength(119);
    expect(samples.at(-1)).toMatchObject({ agoMs: 5_000, rate: 10 });
    expect((samples.at(-1)?.p99 ?? 0) / 2e6).toBeCloseTo(1, 1);
    expect(samples.at(-2)).toEqual({ agoMs: 10_000, rate: 0, p50: 0, p99: 0 });
    time.ms += 600_000;
    history.record(1e6);
    expect(history.read().every(({ rate }) => rate === 0)).toBe(true);
  });
});
