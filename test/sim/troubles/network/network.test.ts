import { isTo, type Passage, testInTurn } from '../small-world.fixture.ts';

const arrived = ({ flight }: Passage) => flight.arrivedAt !== undefined;
const answered = ({ flight }: Passage) => flight.answer !== undefined;
const isBroken = ({ code }: Passage) => code === 'ECONNRESET';
const isLate = ({ flight, seenAt = 0 }: Passage) => seenAt > flight.sentAt + 80;
const isActedOnLate = ({ flight, brokeAt }: Passage) => brokeAt !== undefined && (flight.arrivedAt ?? 0) > brokeAt;

testInTurn([
  ['lost-requests', { to: 'cloud', probability: 0.7 }, (it) => isTo(it, 'cloud') && !arrived(it)],
  ['lost-requests', { to: 'kube', probability: 0.5 }, (it) => isTo(it, 'kube') && !arrived(it)],
  [
    'lost-answers',
    { to: 'cloud', calls: 'mutating', probability: 0.7 },
    (it) => isTo(it, 'cloud') && answered(it) && !it.seen,
  ],
  ['lost-answers', { to: 'kube', broken: 1 }, (it) => isTo(it, 'kube') && answered(it) && isBroken(it)],
  ['late-answers', { to: 'cloud', upToMs: 5_000 }, (it) => isTo(it, 'cloud') && isLate(it)],
  ['slow-acts', { to: 'cloud', probability: 1 }, (it) => isTo(it, 'cloud') && isActedOnLate(it)],
  ['resets', { to: 'cloud', carriedOut: 1 }, (it) => isTo(it, 'cloud') && isBroken(it) && answered(it)],
  ['resets', { to: 'kube', carriedOut: 0 }, (it) => isTo(it, 'kube') && isBroken(it) && !arrived(it)],
  ['refused-connections', { to: 'cloud' }, (it) => isTo(it, 'cloud') && it.code === 'ECONNREFUSED'],
  ['refused-connections', { to: 'kube', probability: 0.5 }, (it) => isTo(it, 'kube') && it.code === 'ECONNREFUSED'],
]);
