import base from './jest.config.js';

/** What is installed and deployed, with the tools that people use for it. @type {import('jest').Config} */
export default { ...base, maxWorkers: 2, roots: ['<rootDir>/test/deploy'], testPathIgnorePatterns: ['/node_modules/'] };
