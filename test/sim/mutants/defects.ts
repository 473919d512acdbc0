/** A defect of the sort that controllers really have, planted by changing one place of the operator. */
export interface Defect {
  readonly name: string;
  readonly sort:
    | 'cleared intent'
    | 'missing precondition'
    | 'stale read'
    | 'event acted on instead of level'
    | 'early finalizer'
    | 'wrong definite'
    | 'forgotten requeue'
    | 'unfair queue'
    | 'lost budget'
    | 'clock mix-up'
    | 'claim by name'
    | 'two leaders'
    | 'policy ignored'
    | 'wrong content'
    | 'leaked secret';
  /** Below src/operator unless it begins with `../`. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Troubles and habits under which it is looked for; default all. */
  readonly only?: readonly string[];
}

const create = 'reconcile/external/create.ts';
const lostCreate = 'reconcile/external/lost-create.ts';
const flow = 'reconcile/external/flow.ts';
const presence = 'reconcile/external/presence.ts';
const answer = '../common/http/answer.ts';
const failure = '../common/http/failure.ts';

export const defects: readonly Defect[] = [
  {
    name: 'no-intent',
    sort: 'cleared intent',
    file: create,
    find: '[annotation.createIntent]: formatIntent({ ...this.#now(), content }),',
    replace: '',
    only: ['crashes', 'lost-answers'],
  },
  {
    name: 'intent-withdrawn-by-any-error',
    sort: 'cleared intent',
    file: create,
    find: 'if (error instanceof ApiError && error.definite) await withdraw(resource);',
    replace: 'await withdraw(resource);',
    only: ['lost-answers'],
  },
  {
    name: 'intent-not-resolved-by-a-delete',
    sort: 'cleared intent',
    file: flow,
    find: `const unresolved = await lost.resolve();
    if (unresolved !== undefined) return unresolved;
    const id =`,
    replace: 'const id =',
    only: ['crashes', 'lost-answers', 'deletes'],
  },
  {
    name: 'unresolved-create-leaves-nothing',
    sort: 'cleared intent',
    file: flow,
    find: 'isKept(object) || (ownedIDOf(object) === undefined && intentOf(object) === undefined)',
    replace: 'isKept(object) || ownedIDOf(object) === undefined',
    only: ['crashes', 'lost-answers', 'deletes'],
  },
  {
    name: 'lost-create-settles-at-once',
    sort: 'cleared intent',
    file: lostCreate,
    find: 'if (looks.nextInMs !== undefined) return this.#wait(looks.nextInMs);',
    replace: '',
    only: ['slow-acts'],
  },
  {
    name: 'any-look-up-finds-nothing',
    sort: 'cleared intent',
    file: lostCreate,
    find: '>= earliest)',
    replace: '>= earliest + 3_600_000)',
    only: ['lost-answers'],
  },
  {
    name: 'no-id-on-record',
    sort: 'cleared intent',
    file: create,
    find: `    [annotation.createIntent]: null,
    [annotation.createdID]: id,
    ...(isNamed(latest) ? {} : { [annotation.externalID]: id }),`,
    replace: '    [annotation.createIntent]: null,',
    only: ['crashes'],
  },
  {
    name: 'writes-without-a-version',
    sort: 'missing precondition',
    file: 'reconcile/writer.ts',
    find: 'metadata: { ...(patch.metadata as object | undefined), resourceVersion }',
    replace: 'metadata: { ...(patch.metadata as object | undefined) }',
    only: ['deletes', 'freezes', 'watches-lag'],
  },
  {
    name: 'lease-without-a-version',
    sort: 'missing precondition',
    file: 'controller/lease.ts',
    find: '{ ...base, spec }',
    replace: '{ ...base, metadata: { ...base.metadata, resourceVersion: undefined }, spec }',
    only: ['freezes', 'kube-lost-answers'],
  },
  {
    name: 'no-finalizer-with-the-record',
    sort: 'missing precondition',
    file: 'reconcile/writer.ts',
    find: 'return this.#patch(object, { metadata: { finalizers: withFinalizer(object), annotations } });',
    replace: 'return this.#patch(object, { metadata: { annotations } });',
    only: ['deletes'],
  },
  {
    name: 'own-calls-are-always-fresh',
    sort: 'stale read',
    file: 'reconcile/cache.ts',
    find: 'return own.at >= since ? own.observed : undefined;',
    replace: 'return own.observed;',
    only: ['external-drift'],
  },
  {
    name: 'looks-in-an-old-list',
    sort: 'stale read',
    file: 'reconcile/cache.ts',
    find: 'if (this.#last !== undefined && this.#last.startedAt >= since)',
    replace: 'if (this.#last !== undefined)',
    only: ['lost-answers', 'edits'],
  },
  {
    name: 'modules-are-put-to-be-sure',
    sort: 'event acted on instead of level',
    file: 'reconcile/parts/plan.ts',
    find: 'if (s.exists && s.differences.length === 0) return',
    replace: 'if (s.exists && s.applied && s.differences.length === 0) return',
    only: ['imports', 'annotations-wiped'],
  },
  {
    name: 'a-list-proves-absence',
    sort: 'stale read',
    file: presence,
    find: 'if (observed === undefined && wasAbsent) return undefined;',
    replace: 'if (observed === undefined) return undefined;',
    only: ['lagging-lists', 'edits'],
  },
  {
    name: 'parts-are-never-looked-at-again',
    sort: 'stale read',
    file: 'reconcile/parts/part-reconciler.ts',
    find: 'known !== undefined && known.at >= since && known.uid === resource.uid',
    replace: 'known !== undefined && known.uid === resource.uid',
    only: ['external-drift'],
  },
  {
    name: 'copied-records-count',
    sort: 'claim by name',
    file: 'reconcile/annotations.ts',
    find: 'const isOwn = annotationOf(object, annotation.recordOf) === object.metadata.uid;',
    replace: 'const isOwn = object.metadata.uid !== undefined;',
    only: ['annotations-copied', 'deletes'],
  },
  {
    name: 'one-witness-is-enough',
    sort: 'wrong definite',
    file: flow,
    find: 'const unsure = (await presence.confirmGone(id)) ?? presence.tooSoon(id);',
    replace: 'const unsure = presence.tooSoon(id);',
    only: ['wrong-key'],
  },
  {
    name: 'another-address-is-no-matter',
    sort: 'wrong definite',
    file: 'reconcile/installation.ts',
    find: 'if (url === undefined || recorded === undefined || this.#options.takeOver) return undefined;',
    replace: 'if (url !== "" || recorded === undefined) return undefined;',
    only: ['wrong-address'],
  },
  {
    name: 'other-installations-are-no-matter',
    sort: 'claim by name',
    file: 'reconcile/installation.ts',
    find: 'return annotationOf(object, annotation.takeOver) === holder ? undefined : holder;',
    replace: 'return undefined;',
    only: ['two-accounts-two-operators'],
  },
  {
    name: 'age-decides',
    sort: 'claim by name',
    file: 'reconcile/ownership.ts',
    find: 'standing(a) - standing(b) || byAge(a, b);',
    replace: '0 * standing(a) || byAge(a, b);',
    only: ['older-dormant'],
  },
  {
    name: 'vanished-objects-stay-cached',
    sort: 'event acted on instead of level',
    file: 'controller/store.ts',
    find: 'const deletes = vanished.map(([key, stored]) => this.#delete(key, stored, version));',
    replace:
      'const deletes: StoreChange<T>[] = vanished.slice(0, 0).map(([key, stored]) => this.#delete(key, stored, version));',
    only: ['compacted', 'lost-secrets'],
  },
  {
    name: 'a-key-has-two-workers',
    sort: 'missing precondition',
    file: 'controller/queue.ts',
    find: 'if (this.#running.has(key)) this.#addAgain(key, priority);\n    else this.#addReady',
    replace: 'this.#addReady',
    only: ['edits', 'late-answers'],
  },
  {
    name: 'updates-are-not-enqueued',
    sort: 'event acted on instead of level',
    file: 'reconcile/kind-controller.ts',
    find: 'controller.supersede(keyOf(object), urgency);',
    replace: "{ if (change !== 'update') controller.supersede(keyOf(object), urgency); }",
    only: ['edits'],
  },
  {
    name: 'an-expired-watch-is-resumed',
    sort: 'event acted on instead of level',
    file: 'controller/reflector.ts',
    find: "if (verdict !== 'retry' || isSilence(error)",
    replace: 'if (isSilence(error)',
    only: ['compacted', 'edits'],
  },
  {
    name: 'rotated-keys-are-not-taken',
    sort: 'event acted on instead of level',
    file: 'kinds/cloud/accounts/account-entry.ts',
    find: 'if (this.#takeKey()) this.#options.onRotated();',
    replace: 'if (this.#apiKey === undefined && this.#takeKey()) this.#options.onRotated();',
    only: ['account-swaps', 'lost-secrets'],
  },
  {
    name: 'the-finalizer-goes-first',
    sort: 'early finalizer',
    file: flow,
    find: 'const unsure = await change.delete(id, presence);',
    replace: `await resource.release();
      const unsure = await change.delete(id, presence);`,
    only: ['gateway-5xx', 'crashes', 'deletes'],
  },
  {
    name: 'a-failed-delete-counts',
    sort: 'early finalizer',
    file: 'reconcile/external/change.ts',
    find: 'const wasSent = facts.deleteSentID === id;',
    replace: `const wasSent = facts.deleteSentID === id;
      facts.deletedID = id;`,
    only: ['gateway-5xx', 'deletes', 'throttled'],
  },
  {
    name: 'failed-parts-are-forgotten',
    sort: 'early finalizer',
    file: 'reconcile/parts/flow.ts',
    find: 'if (failed.length === 0) {',
    replace: 'if (failed.length >= 0) {',
    only: ['gateway-5xx', 'deletes'],
  },
  {
    name: 'a-404-page-is-an-absence',
    sort: 'wrong definite',
    file: answer,
    find: 'return answer.status === 404 && isOwn(answer);',
    replace: 'return answer.status === 404;',
    only: ['gateway-404', 'edits', 'deletes'],
  },
  {
    name: 'a-reset-is-definite',
    sort: 'wrong definite',
    file: failure,
    find: "'ECONNREFUSED',\n  'ENOTFOUND',\n  'EAI_AGAIN',\n  'EHOSTUNREACH'",
    replace: "'ECONNREFUSED',\n  'ECONNRESET',\n  'ENOTFOUND',\n  'EAI_AGAIN',\n  'EHOSTUNREACH'",
    only: ['lost-answers', 'resets', 'slow-acts'],
  },
  {
    name: 'a-timeout-is-definite',
    sort: 'wrong definite',
    file: failure,
    find: "  'UND_ERR_CONNECT_TIMEOUT',\n  'UND_ERR_INVALID_ARG',",
    replace: "  'UND_ERR_CONNECT_TIMEOUT',\n  'UND_ERR_HEADERS_TIMEOUT',\n  'TimeoutError',\n  'UND_ERR_INVALID_ARG',",
    only: ['late-answers', 'lost-answers', 'slow-acts'],
  },
  {
    name: 'a-5xx-is-definite',
    sort: 'wrong definite',
    file: answer,
    find: 'if (status < 400 || status >= 500 || aboutConnection.includes(status)) return false;',
    replace: `if (status < 400) return false;
  if (status >= 500) return true;`,
    only: ['gateway-5xx'],
  },
  {
    name: 'no-retry-when-unreachable',
    sort: 'forgotten requeue',
    file: 'reconcile/outcome.ts',
    find: "Unreachable: { stalled: false, retry: { kind: 'backoff' } },",
    replace: "Unreachable: { stalled: false, retry: { kind: 'never' } },",
    only: ['gateway-5xx', 'resets', 'refused-connections'],
  },
  {
    name: 'no-retry-when-throttled',
    sort: 'forgotten requeue',
    file: 'reconcile/outcome.ts',
    find: "if (retryAfterMs !== undefined && reason !== 'Rejected')",
    replace:
      "if (reason === 'RateLimited') return { retry: { kind: 'never' } };\n  if (retryAfterMs !== undefined && reason !== 'Rejected')",
    only: ['throttled'],
  },
  {
    name: 'no-second-look-for-a-lost-create',
    sort: 'forgotten requeue',
    file: lostCreate,
    find: `retry: { kind: 'after', ms } });`,
    replace: `retry: { kind: 'never' } });`,
    only: ['lost-answers', 'lost-requests'],
  },
  {
    name: 'a-conflict-is-the-end',
    sort: 'forgotten requeue',
    file: 'controller/controller.ts',
    find: 'if (isConflict(error)) return this.#again(key);',
    replace: "if (isConflict(error)) return 'requeue';",
    only: ['kube-conflicts', 'edits'],
  },
  {
    name: 'no-drift-checks',
    sort: 'forgotten requeue',
    file: 'reconcile/outcome.ts',
    find: "Available: { stalled: false, retry: { kind: 'resync' } },",
    replace: "Available: { stalled: false, retry: { kind: 'never' } },",
    only: ['external-drift'],
  },
  {
    name: 'changes-only-when-they-are-old',
    sort: 'unfair queue',
    file: 'cloud/limiter.ts',
    find: 'const [inTurn] = open;',
    replace: "const inTurn = open.find(({ priority, oldest }) => priority !== 'change' || now - oldest > 120_000);",
    only: ['edits', 'crowded-namespace', 'big-account'],
  },
  {
    name: 'who-waits-holds-its-worker',
    sort: 'unfair queue',
    file: 'controller/shift.ts',
    find: 'this.#leave();\n    try {',
    replace: 'try {',
    only: ['poor-account'],
  },
  {
    name: 'superseded-calls-are-sent',
    sort: 'event acted on instead of level',
    file: 'controller/controller.ts',
    find: "this.#stop(key, 'it has changed meanwhile');",
    replace: '',
    only: ['poor-account'],
  },
  {
    name: 'a-restart-forgets-what-was-sent',
    sort: 'lost budget',
    file: 'kinds/cloud/accounts/use-state.ts',
    find: 'return begun({ free, starts: [...starts.map(at), ...(free ? [now] : [])], named: new Map(named) }, now);',
    replace: 'return { free: true, starts: [], named: new Map() };',
    only: ['restarts'],
  },
  {
    name: 'a-403-to-a-list-says-nothing-of-the-key',
    sort: 'lost budget',
    file: 'cloud/key-gate.ts',
    find: 'return status === 401 || (status === 403 && isList);',
    replace: 'return status === 401;',
    only: ['revoked-key'],
  },
  {
    name: 'a-window-of-half-a-minute',
    sort: 'lost budget',
    file: 'cloud/rolling-window.ts',
    find: 'const minuteMs = 60_000;',
    replace: 'const minuteMs = 30_000;',
    only: ['poor-account', 'crowded-namespace'],
  },
  {
    name: 'answered-calls-do-not-count',
    sort: 'lost budget',
    file: 'cloud/rolling-window.ts',
    find: 'if (sent) this.#finished.push',
    replace: 'if (!sent) this.#finished.push',
    only: ['poor-account', 'crowded-namespace'],
  },
  {
    name: 'retry-after-is-not-read',
    sort: 'lost budget',
    file: 'cloud/transport.ts',
    find: 'limiter.penalize(error.retryAfterMs);',
    replace: 'limiter.penalize(1);',
    only: ['throttled'],
  },
  {
    name: 'a-lease-by-the-clock-on-the-wall',
    sort: 'clock mix-up',
    file: 'controller/leader-election.ts',
    find: 'this.#observed = new ObservedLease(this.#monotonic, this.#leaseDurationMs);',
    replace: 'this.#observed = new ObservedLease(this.#clock, this.#leaseDurationMs);',
    only: ['clock-jumps'],
  },
  {
    name: 'transition-times-of-the-process',
    sort: 'clock mix-up',
    file: 'reconcile/status.ts',
    find: 'new Date(options.time.wall())',
    replace: 'new Date(options.time.wall() + 3_600_000)',
  },
  {
    name: 'the-last-to-come-wins',
    sort: 'claim by name',
    file: 'reconcile/ownership.ts',
    find: 'standing(a) - standing(b) || byAge(a, b)',
    replace: 'standing(b) - standing(a) || byAge(a, b)',
    only: ['shared-parents', 'external-id-edits', 'imports'],
  },
  {
    name: 'what-is-claimed-can-be-adopted',
    sort: 'claim by name',
    file: lostCreate,
    find: '.filter((identity) => !claimed.has(identity.id))',
    replace: '.filter(() => claimed.size >= 0)',
    only: ['twins', 'lost-answers'],
  },
  {
    name: 'nobody-has-a-rival',
    sort: 'claim by name',
    file: flow,
    find: 'return claim === undefined ? undefined : peers.rivalOf(object, claim, standingOn(claim));',
    replace: 'return claim === "" ? peers.rivalOf(object, claim, standingOn(claim)) : undefined;',
    only: ['external-id-edits', 'annotations-copied', 'imports'],
  },
  {
    name: 'parts-have-no-rivals',
    sort: 'claim by name',
    file: 'reconcile/parts/part-scope.ts',
    find: 'return peers.rivalOf(resource.object, claim, standingOnPart(name));',
    replace: 'return claim === "" ? peers.rivalOf(resource.object, claim, standingOnPart(name)) : undefined;',
    only: ['shared-parents'],
  },
  {
    name: 'another-account-is-no-matter',
    sort: 'claim by name',
    file: 'reconcile/reconciler.ts',
    find: "if (moved !== undefined) return report('Rejected', moved);",
    replace: '',
    only: ['account-swaps'],
  },
  {
    name: 'no-guard',
    sort: 'two leaders',
    file: 'controller/leadership.ts',
    find: 'if (this.#elector?.holdsLease() === false)',
    replace: 'if (this.#elector === null)',
    only: ['freezes', 'kube-5xx'],
  },
  {
    name: 'a-lease-for-ever',
    sort: 'two leaders',
    file: 'controller/leader-election.ts',
    find: 'this.#leadsUntil = startedAt + this.#renewDeadlineMs;',
    replace: 'this.#leadsUntil = startedAt + 6 * this.#renewDeadlineMs;',
    only: ['freezes', 'kube-5xx'],
  },
  {
    name: 'observers-manage',
    sort: 'policy ignored',
    file: 'reconcile/external/decide.ts',
    find: "const observeOnly = s.managementPolicy === 'Observe';",
    replace: 'const observeOnly = s.managementPolicy === undefined;',
    only: ['policies', 'imports', 'external-drift'],
  },
  {
    name: 'nothing-is-retained',
    sort: 'policy ignored',
    file: 'reconcile/flow.ts',
    find: "object.spec.deletionPolicy === 'Retain' || object.spec.managementPolicy === 'Observe'",
    replace: "object.spec.managementPolicy === 'Observe'",
    only: ['policies', 'deletes'],
  },
  {
    name: 'pauses-are-ignored',
    sort: 'policy ignored',
    file: 'reconcile/annotations.ts',
    find: "return !/^(false|no|off|0)?$/i.test(annotationOf(object, annotation.paused) ?? '');",
    replace: "return annotationOf(object, annotation.paused) === 'always';",
    only: ['pauses', 'edits'],
  },
  {
    name: 'annotations-before-the-status',
    sort: 'claim by name',
    file: 'reconcile/ownership.ts',
    find: 'return ownershipOf(object).id ?? recordIn(object, annotation.createdID);',
    replace: 'return recordIn(object, annotation.createdID) ?? ownershipOf(object).id;',
    only: ['annotations-forged'],
  },
  {
    name: 'metadata-is-not-sent',
    sort: 'wrong content',
    file: 'kinds/cloud/reserved-addr/mapping.ts',
    find: "metadata: fields.has('metadata') ? spec.metadata : undefined,",
    replace: 'metadata: undefined,',
    only: ['edits'],
  },
  {
    name: 'descriptions-are-not-compared',
    sort: 'wrong content',
    file: 'kinds/cloud/reserved-addr/mapping.ts',
    find: "  compare('description', addr.description);\n",
    replace: '',
    only: ['edits'],
  },
  {
    name: 'parts-are-applied-off-record',
    sort: 'wrong content',
    file: 'reconcile/parts/flow.ts',
    find: "const ours = parts.filter((part, index) => part.named && plans[index]?.action.kind !== 'stop');",
    replace: 'const ours: typeof parts = [];',
    only: ['edits', 'deletes'],
  },
  {
    name: 'the-key-in-a-message',
    sort: 'leaked secret',
    file: 'cloud/transport.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    find: '`the API answered ${status} to this API key before; replace the key`',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    replace: '`the API answered ${status} to the API key ${key} before; replace the key`',
    only: ['revoked-key'],
  },
];
