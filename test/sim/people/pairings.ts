/**
 * What does little by itself, and what it goes with: a list that lags matters when the answer to a create was lost. Habits
 * and troubles alike, by their names.
 */
export const pairings: Readonly<Record<string, readonly string[]>> = {
  'lost-requests': ['edits', 'deletes'],
  'lost-answers': ['edits', 'deletes'],
  'late-answers': ['edits', 'deletes'],
  'slow-acts': ['deletes', 'edits'],
  resets: ['edits', 'deletes'],
  'refused-connections': ['edits', 'deletes'],
  'gateway-404': ['edits', 'deletes'],
  'gateway-html': ['edits', 'deletes'],
  'gateway-4xx': ['edits', 'deletes'],
  'gateway-5xx': ['edits', 'deletes'],
  'gateway-408': ['deletes'],
  'half-a-page': ['lost-answers', 'external-drift'],
  'mixed-answers': ['twins', 'deletes', 'edits'],
  throttled: ['edits', 'deletes'],
  'lagging-lists': ['lost-answers', 'deletes'],
  'odd-items': ['lost-answers', 'external-drift'],
  'endless-pages': ['lost-answers'],
  'cloud-clock': ['lost-answers', 'deletes'],
  'revoked-key': ['edits', 'deletes'],
  'empty-account': ['edits', 'deletes'],
  'watches-cut': ['edits', 'deletes'],
  'watches-frozen': ['edits', 'deletes'],
  'watches-lag': ['edits', 'deletes', 'pauses'],
  compacted: ['edits', 'deletes'],
  'kube-403': ['edits', 'deletes', 'restarts'],
  'kube-prunes': ['tunnels', 'edits', 'deletes', 'replays'],
  'kube-strips': ['edits', 'deletes', 'crashes'],
  'kube-5xx': ['edits', 'deletes'],
  'kube-conflicts': ['edits', 'deletes'],
  'kube-lost-answers': ['edits', 'deletes'],
  'stale-lists': ['watches-cut', 'lost-answers', 'deletes'],
  'kube-restored': ['edits', 'deletes'],
  crashes: ['edits', 'deletes'],
  freezes: ['edits', 'deletes'],
  'clock-jumps': ['lost-answers', 'deletes', 'external-drift'],
  'wrong-address': ['edits'],
  'wrong-key': ['edits'],
  'rotated-key': ['edits', 'deletes', 'resharded'],
  restarts: ['edits', 'deletes'],
  resharded: ['edits', 'deletes', 'account-swaps'],
  twins: ['lost-answers'],
  'flags-changed': ['edits', 'deletes', 'lost-answers'],
  'accounts-paused': ['lost-answers', 'slow-acts'],
  'annotations-copied': ['lost-answers'],
  'annotations-forged': ['lost-answers'],
  'annotations-set-back': ['deletes', 'lost-answers', 'tunnels'],
};

/** What would make nonsense of one another, or of the expectations of a story. */
export const excluded: readonly (readonly [string, string])[] = [['two-operators', 'two-accounts-two-operators']];

/** What takes long to simulate: seldom in a story of everything. */
export const heavy: readonly string[] = [
  'absent-imports',
  'poor-account',
  'crowded-namespace',
  'big-account',
  'endless-pages',
];

/** Because of these nothing is certain about who comes first, or who may act. */
export const unsettling: readonly string[] = ['two-operators', 'two-accounts-two-operators', 'kube-restored'];
