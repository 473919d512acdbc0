import config, { everything } from './jest.config.js';

const { projects: _, ...run } = config;

/** The simulator's own tests, the stories it keeps, and the figures it is asked for: docs/architecture.md, Tests. @type {import('jest').Config} */
export default {
  ...run,
  ...everything,
  // They never wait.
  maxWorkers: 2,
  roots: ['<rootDir>/test/sim'],
  testPathIgnorePatterns: ['/node_modules/'],
};
