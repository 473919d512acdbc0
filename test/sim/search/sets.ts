/**
 * What goes wrong together: a story of one set has most of it at once, and finds what one of everything seldom comes to.
 * `--only keys` is `--only` of all that stands there.
 */
export const sets: Readonly<Record<string, readonly string[]>> = {
  keys: [
    ...['account-swaps', 'rotated-key', 'wrong-key', 'wrong-address', 'shared-key', 'lost-answers', 'late-answers'],
    ...['slow-acts', 'gateway-5xx', 'crashes', 'restarts', 'edits', 'deletes', 'annotations-wiped'],
  ],
  restores: [
    ...['kube-restored', 'statuses-wiped', 'annotations-wiped', 'annotations-set-back', 'lost-answers', 'slow-acts'],
    ...['crashes', 'twins', 'deletes', 'external-drift', 'account-swaps', 'rotated-key'],
  ],
  replicas: [
    ...['resharded', 'freezes', 'crashes', 'restarts', 'watches-lag', 'watches-frozen', 'kube-lost-answers'],
    ...['stale-lists', 'lost-answers', 'rotated-key', 'account-swaps', 'two-operators', 'deletes', 'edits'],
  ],
  records: [
    ...['imports', 'external-id-edits', 'policies', 'pauses', 'annotations-wiped', 'annotations-copied'],
    ...['annotations-forged', 'annotations-set-back', 'older-dormant', 'lost-answers', 'account-swaps'],
    ...['namespaces-deleted', 'lost-secrets', 'accounts-paused'],
  ],
  modules: [
    ...['edits', 'deletes', 'shared-parents', 'pauses', 'policies', 'annotations-wiped', 'annotations-set-back'],
    ...['lost-answers', 'slow-acts', 'kube-lost-answers', 'kube-conflicts', 'crashes', 'restarts', 'external-drift'],
    'watches-lag',
  ],
  agents: [
    ...['tunnels', 'agents-restarted', 'replays', 'lost-answers', 'resets', 'crashes', 'restarts'],
    ...['annotations-wiped', 'accounts-paused', 'freezes', 'kube-lost-answers', 'edits', 'deletes'],
  ],
  installations: [
    ...['two-operators', 'two-accounts-two-operators', 'account-swaps', 'kube-restored', 'statuses-wiped'],
    ...['annotations-wiped', 'deletes', 'edits', 'flags-changed', 'restarts', 'lost-answers'],
  ],
};

/** With what stands in the sets among the names in place of them. */
export function withoutSets(names: readonly string[]): readonly string[] {
  return [...new Set(names.flatMap((name) => sets[name] ?? name))];
}
