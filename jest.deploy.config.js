import config, { everything } from './jest.config.js';

const { projects: _, ...run } = config;

/** What is installed and deployed, with the tools that people use for it. @type {import('jest').Config} */
export default {
  ...run,
  ...everything,
  maxWorkers: 2,
  roots: ['<rootDir>/test/deploy'],
  testPathIgnorePatterns: ['/node_modules/'],
  // `.ci/run` has it beside others, to which it is nice.
  testTimeout: 180_000,
};
