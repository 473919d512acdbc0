import config, { everything } from './jest.config.js';

const { projects: _, ...run } = config;

/** What needs a Kubernetes API, with what takes long: all of it runs on a real one too. @type {import('jest').Config} */
export default {
  ...run,
  ...everything,
  // On two processors with a real API server: with four workers a fifth of the time is idle, with seven nothing.
  maxWorkers: 6,
  roots: [
    '<rootDir>/test/scenarios',
    '<rootDir>/test/kube-conformance',
    '<rootDir>/src/operator/doctor',
    '<rootDir>/src/operator/kinds/cloud/accounts',
  ],
  testPathIgnorePatterns: ['/node_modules/'],
};
