import config, { everything } from './jest.config.js';

const { projects: _, ...run } = config;

/** What is installed and deployed, with the tools that people use for it. @type {import('jest').Config} */
export default {
  ...run,
  ...everything,
  maxWorkers: 2,
  roots: ['<rootDir>/test/deploy'],
  testPathIgnorePatterns: ['/node_modules/'],
};
