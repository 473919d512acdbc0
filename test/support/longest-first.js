import TestSequencer from '@jest/test-sequencer';

/** What waits longest, so that it is not waited for when all else is done. */
const longest = [
  ...[
    'long/conformance',
    'long/budget',
    'long/mirror',
    'long/faults',
    'long/accounts',
    'long/processes',
    'long/output',
  ],
  ...['kube-conformance/kubectl', 'agent/page', 'agent/page-list', 'structure/bundle', 'scenarios/forged-records'],
];

const rankOf = ({ path }) => {
  const index = longest.findIndex((name) => path.endsWith(`/${name}.test.ts`));
  return index === -1 ? longest.length : index;
};

// JavaScript, as jest.config.js is: the types of jest's own class say other than what Node loads.
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    return super.sort([...tests]).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
