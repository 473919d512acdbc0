/** Of every project. */
const base = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  // Where nothing claims a file, Jest has Node strip its types, which keeps lines and columns.
  transform: {},
  injectGlobals: false,
  globalSetup: '<rootDir>/test/support/set-up.ts',
  globalTeardown: '<rootDir>/test/support/tear-down.ts',
};

/** @type {import('jest').Config} */
export const everything = {
  ...base,
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // Need Go, kubectl, a cluster, Prometheus: `npm run test:deploy`, `npm run test:cluster`, `npm run test:alerts`. The
  // simulator's own tests, and the stories it keeps, take minutes of a processor: `npm run test:sim`. So does what starts
  // whole processes for every kind, fault or account, or waits for its minute to be over: `npm run test:scenarios`.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/(deploy|cluster|alerts|sim|scenarios/long)/'],
};

/** What the servers must do, once more without sockets: all but what is about connections, files and processes. */
const inMemory = {
  ...base,
  displayName: 'in memory',
  globals: { inMemory: true },
  setupFiles: ['<rootDir>/test/support/set-up-in-memory.ts'],
  testMatch: [
    '<rootDir>/test/kube-conformance/*.test.ts',
    '<rootDir>/test/scenarios/long/conformance.test.ts',
    '<rootDir>/src/reference/cloud-api/**/*.test.ts',
  ],
  testPathIgnorePatterns: [
    '/node_modules/',
    'test/kube-conformance/kubectl',
    'cloud-api/(connection|control|core|persistence)',
    // What asks no server.
    'cloud-api/(accounts|journal|operations|problem|faults/fault-spec)',
  ],
};

/** @type {import('jest').Config} */
export default {
  // Besides the others in `.ci/run` alone: of every kind it takes 80 s of waiting.
  projects: [everything, ...(process.env.TEST_IN_MEMORY ? [inMemory] : [])],
  testSequencer: '<rootDir>/test/support/longest-first.js',
  // For two processors: some suites do little but wait.
  maxWorkers: 4,
  // Of concurrent tests, each of which starts a process or two.
  maxConcurrency: 4,
  testTimeout: 60_000,
  reporters: ['default', '<rootDir>/test/kube-conformance/count.ts'],
};
