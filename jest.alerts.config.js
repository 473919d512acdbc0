import config, { everything } from './jest.config.js';

const { projects: _, ...run } = config;

/** The alerts in a real Prometheus: docs/architecture.md, Tests. @type {import('jest').Config} */
export default {
  ...run,
  ...everything,
  maxWorkers: 1,
  // Incidents that go on at the same time, each with processes of its own, which do little but wait.
  maxConcurrency: process.env.TEST_ALERTS === 'short' ? 6 : 7,
  roots: ['<rootDir>/test/alerts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 480_000,
};
