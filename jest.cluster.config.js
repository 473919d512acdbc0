import config, { everything } from './jest.config.js';

const { projects: _, ...run } = config;

/** The chart on a full control plane, in pods: docs/architecture.md, Tests. @type {import('jest').Config} */
export default {
  ...run,
  ...everything,
  // Each suite has a cluster of its own, which takes a processor while it starts, and then mostly waits.
  maxWorkers: 3,
  roots: ['<rootDir>/test/cluster'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 120_000,
  globalSetup: '<rootDir>/test/cluster/set-up.ts',
};
