import base from './jest.config.js';

/** What is installed and deployed, with the tools that people use for it. @type {import('jest').Config} */
export default { ...base, roots: ['<rootDir>/test/deploy'], testPathIgnorePatterns: ['/node_modules/'] };
