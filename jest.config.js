/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // Need Go, and kubectl: `npm run test:deploy`.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/deploy/'],
  extensionsToTreatAsEsm: ['.ts'],
  // Where nothing claims a file, Jest has Node strip its types, which keeps lines and columns.
  transform: {},
  injectGlobals: false,
  globalSetup: '<rootDir>/test/support/set-up.ts',
  globalTeardown: '<rootDir>/test/support/tear-down.ts',
  testSequencer: '<rootDir>/test/support/longest-first.js',
  // For two processors: some suites do little but wait.
  maxWorkers: 3,
  // Of concurrent tests, each of which starts a process or two.
  maxConcurrency: 4,
  testTimeout: 60_000,
  reporters: ['default', '<rootDir>/test/kube-conformance/count.ts'],
};
