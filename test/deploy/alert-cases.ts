type Labels = Readonly<Record<string, string>>;

export interface Series {
  readonly metric: string;
  readonly labels: Labels;
  /** A value a minute, as promtool writes them: `1+0x30` is thirty-one times 1. */
  readonly values: string;
}

export interface AlertCase {
  readonly alert: string;
  readonly when: string;
  readonly series: readonly Series[];
  readonly minute: number;
  /** Labels of each alert that fires then, beside those of the target. */
  readonly fires: readonly Labels[];
}

/** Of every series, as Prometheus adds them at a scrape. */
export const target: Labels = { namespace: 'edge-operator', job: 'edge-operator-metrics' };

const a = { instance: 'a' };
const b = { instance: 'b' };
const controller = { name: 'botuser', controller: 'botuser' };
const account = { account: 'default' };

const series = (metric: string, values: string, labels: Labels = {}): Series => ({
  metric,
  values,
  labels: { ...target, ...a, ...labels },
});
const leads = series('edge_operator_leader', '1+0x90');
const follows = series('edge_operator_leader', '0+0x90');
const shard = { shard: '0' };
const holds = series('edge_operator_shard_held', '1+0x90', shard);
const lacks = series('edge_operator_shard_held', '0+0x90', shard);
const resources = (values: string, kind: string, reason: string, labels: Labels = {}): Series =>
  series('edge_operator_resources', values, {
    kind,
    reason,
    ready: reason === 'Available' ? 'True' : 'False',
    ...labels,
  });
const state = (name: string, values: string) =>
  series('edge_operator_cloud_account_state', values, { ...account, state: name });
const refusedKey = state('unauthorized', '1+0x90');
const requests = (outcome: string, values: string) =>
  series('edge_operator_cloud_requests_total', values, { operation: 'bot_users.get', code: '2xx', outcome });
const waits = (le: string, values: string) =>
  series('workqueue_queue_duration_seconds_bucket', values, { ...controller, le });
const reconciles = (result: string, values: string) =>
  series('controller_runtime_reconcile_total', values, { controller: 'botuser', result });
const mirror = (sweptAt: string, interval: string) => [
  series('edge_operator_mirror_last_sweep_timestamp_seconds', sweptAt, account),
  series('edge_operator_mirror_interval_seconds', interval, account),
];

const refused = (watched: string, values: string) =>
  series('edge_operator_namespace_refused_kinds', values, { watched });

const both = (
  alert: string,
  firing: readonly [when: string, minute: number, fires: readonly Labels[], ...series: Series[]],
  ...quiet: readonly (readonly [when: string, minute: number, ...series: Series[]])[]
): readonly AlertCase[] => {
  const [when, minute, fires, ...seen] = firing;
  return [
    { alert, when, minute, fires, series: seen },
    ...quiet.map(([why, at, ...calm]) => ({ alert, when: why, minute: at, fires: [], series: calm })),
  ];
};

const build = series('edge_operator_build_info', '1+0x90', { version: '1', node_version: 'v24' });
const starts = (values: string) => series('process_start_time_seconds', values);
const longest = (values: string) => series('workqueue_longest_running_processor_seconds', values, controller);
const depth = (values: string) => series('workqueue_depth', values, controller);
const worked = (values: string) => series('workqueue_work_duration_seconds_count', values, controller);
const working = (values: string) => series('controller_runtime_active_workers', values, { controller: 'botuser' });
const errors = (values: string) =>
  series('controller_runtime_reconcile_errors_total', values, { controller: 'botuser' });
const paused = (values: string) => series('edge_operator_cloud_rate_limit_paused', values, account);
const used = (values: string) => series('edge_operator_cloud_rate_limit_used_requests', values, account);
const budget = series('edge_operator_cloud_rate_limit_requests', '120+0x90', account);
const waiting = (priority: string, values: string) =>
  series('edge_operator_cloud_rate_limit_waiting_requests', values, { ...account, priority });
const limited = (values: string) => series('edge_operator_cloud_rate_limited_total', values, account);
const drift = (values: string) => series('edge_operator_drift_corrected_total', values, { kind: 'BotUser' });
const pending = (values: string) => series('edge_operator_mirror_pending_configmaps', values, account);
const bots = { kind: 'BotUser' };

const isReady = (values: string) => series('edge_operator_ready', values);
const ofBots = { resource: 'botusers' };
const watches = (values: string) => series('edge_operator_kubernetes_watches', values, ofBots);
const memory = (values: string) => series('process_resident_memory_bytes', values);
const memoryLimit = series('edge_operator_memory_limit_bytes', '100+0x90');
const kubernetes = (code: string, values: string) =>
  series('edge_operator_kubernetes_requests_total', values, { verb: 'list', resource: 'botusers', code });
/** The API server answers nothing. */
const unreachable = [kubernetes('200', '50+0x90'), kubernetes('none', '0+1x90')];
const seconds = (le: string, values: string) =>
  series('edge_operator_cloud_request_seconds_bucket', values, { operation: 'bot_users.get', le });

export const cases: readonly AlertCase[] = [
  ...both(
    'EdgeOperatorAbsent',
    ['nothing is there', 6, [{}]],
    ['one replica is there', 60, build],
    ['it was away for 4 minutes', 7, { ...build, values: '1 1 stale _ _ _ 1+0x60' }],
  ),
  ...both('EdgeOperatorAbsent', [
    'another release is there',
    6,
    [{}],
    { ...build, labels: { ...build.labels, namespace: 'other' } },
    { ...build, labels: { ...build.labels, job: 'other-metrics' } },
  ]),
  ...both(
    'EdgeOperatorNoLeader',
    ['two replicas follow', 3, [shard], lacks, { ...lacks, labels: { ...lacks.labels, ...b } }],
    ['one of two leads', 30, lacks, { ...holds, labels: { ...holds.labels, ...b } }],
    ['the API server is away, which has an alert of its own', 30, lacks, ...unreachable],
    [
      'another takes over within a minute',
      4,
      { ...holds, values: '1 1 stale' },
      { ...holds, labels: { ...holds.labels, ...b }, values: '0 0 0 1+0x60' },
    ],
  ),
  ...both(
    'EdgeOperatorManyLeaders',
    ['two replicas lead', 6, [shard], holds, { ...holds, labels: { ...holds.labels, ...b } }],
    ['one of two leads', 30, lacks, { ...holds, labels: { ...holds.labels, ...b } }],
    [
      'two installations have a leader each',
      30,
      holds,
      { ...holds, labels: { ...holds.labels, ...b, namespace: 'other' } },
    ],
  ),
  ...both(
    'EdgeOperatorRestarting',
    ['four restarts in half an hour', 20, [a], starts('1 1 1 2 2 2 3 3 3 4 4 4 5+0x60')],
    ['three restarts', 20, starts('1 1 1 2 2 2 3 3 3 4+0x60')],
    [
      'another program restarts',
      20,
      { ...starts('1 1 1 2 2 2 3 3 3 4 4 4 5+0x60'), labels: { ...target, ...a, job: 'other' } },
    ],
  ),
  ...both(
    'EdgeOperatorReplicaNotReady',
    [
      'one of two',
      16,
      [b],
      isReady('1+0x90'),
      { ...isReady('0+0x90'), labels: { ...target, ...b } },
      watches('1+0x90'),
    ],
    ['it starts', 60, isReady('0+0x10 1+0x60'), watches('1+0x90')],
    ['a definition is gone, which has an alert of its own', 60, isReady('0+0x90'), watches('0+0x90')],
    [
      'a namespace may not be read, which has one too',
      60,
      isReady('0+0x90'),
      watches('1+0x90'),
      refused('b', '9+0x90'),
    ],
  ),
  ...both('EdgeOperatorReplicaNotReady', [
    'a namespace was deleted long ago, of two',
    16,
    [b],
    isReady('1+0x90'),
    { ...isReady('0+0x90'), labels: { ...target, ...b } },
    watches('1+0x90'),
    refused('a', '0+0x90'),
    refused('b', '9+0x90'),
  ]),
  ...both(
    'EdgeOperatorMemoryHigh',
    ['95 percent for a quarter of an hour', 16, [a], memory('95+0x90'), memoryLimit],
    ['80 percent', 60, memory('80+0x90'), memoryLimit],
    ['there is no limit', 60, memory('95+0x90'), { ...memoryLimit, values: '0+0x90' }],
  ),
  ...both(
    'EdgeOperatorKubernetesUnreachable',
    ['no answer for 8 minutes', 20, [{}], kubernetes('200', '50+0x90'), kubernetes('none', '0+0x10 1+5x80')],
    ['some are answered', 60, kubernetes('200', '50+5x90'), kubernetes('none', '0+1x90')],
    ['nothing is asked', 60, kubernetes('200', '50+0x90'), kubernetes('none', '5+0x90')],
  ),
  ...both(
    'EdgeOperatorKindNotWatched',
    ['the definition is gone', 11, [{ resource: 'botusers' }], watches('0+0x90')],
    [
      'another replica watches it',
      60,
      watches('0+0x90'),
      { ...watches('1+0x90'), labels: { ...target, ...b, ...ofBots } },
    ],
    ['it is opened anew now and then', 60, watches('1 1 0 1 1 1 0 1 1+0x60')],
    ['a namespace may not be read, which has an alert of its own', 60, watches('0+0x90'), refused('b', '9+0x90')],
    ['the API server is away, which has one too', 60, watches('0+0x90'), ...unreachable],
  ),
  ...both('EdgeOperatorKindNotWatched', [
    'a namespace was deleted long ago, of two, and now the definition is gone',
    11,
    [{ resource: 'botusers' }],
    watches('0+0x90'),
    refused('a', '0+0x90'),
    refused('b', '9+0x90'),
  ]),
  ...both(
    'EdgeOperatorNamespaceRefused',
    ['deleted', 11, [{ watched: 'b' }], refused('b', '9+0x90'), refused('a', '0+0x90')],
    ['granted again', 40, refused('b', '9+0x8 0+0x90')],
  ),
  ...both(
    'EdgeOperatorReconcileStuck',
    ['one has been running for longer and longer', 22, [{ ...a, ...controller }], longest('0+60x90'), leads],
    ['none takes longer than 10 minutes', 80, longest('600+0x90'), leads],
    ["it is another operator's", 22, longest('0+60x90')],
    [
      'the whole queue stands still, which has an alert of its own',
      40,
      longest('0+60x90'),
      leads,
      depth('5+0x90'),
      worked('7+0x90'),
    ],
  ),
  ...both('EdgeOperatorReconcileStuck', [
    'an account waits out a 429 now and then, which is not counted',
    22,
    [{ ...a, ...controller }],
    longest('0+60x90'),
    leads,
    paused('0 0 1 0 0 0+0x12 1 0 0 1+0x60'),
  ]),
  ...both(
    'EdgeOperatorQueueStuck',
    ['five wait and nothing ends', 20, [{ ...a, ...controller }], depth('5+0x90'), worked('7+0x90'), leads],
    ['reconciles end', 60, depth('5+0x90'), worked('7+1x90'), leads],
    ['the queue was empty in between', 20, depth('5 5 5 5 5 5 5 5 5 5 0 5+0x60'), worked('7+0x90'), leads],
    [
      'it has just started, with much to do',
      20,
      depth(`${'_ '.repeat(20)}500-10x40`),
      worked(`${'_ '.repeat(20)}0+10x40`),
      leads,
    ],
    ['a replica that does not lead collects keys', 60, depth('5+0x90'), follows],
    [
      'an account waits out a 429, and nobody works',
      60,
      depth('5+0x90'),
      worked('7+0x90'),
      leads,
      paused('1+0x90'),
      working('0+0x90'),
    ],
  ),
  ...both('EdgeOperatorQueueStuck', [
    'every worker works for good while an account waits out a 429',
    20,
    [{ ...a, ...controller }],
    depth('5+0x90'),
    worked('7+0x90'),
    leads,
    paused('1+0x90'),
    working('4+0x90'),
  ]),
  ...both('EdgeOperatorQueueStuck', ['nothing ever ended', 20, [{ ...a, ...controller }], depth('5+0x90'), leads]),
  ...both(
    'EdgeOperatorQueueSlow',
    [
      'all wait for between 5 and 10 minutes',
      40,
      [{ controller: 'botuser' }],
      waits('300', '0+0x90'),
      waits('600', '0+1x90'),
      waits('+Inf', '0+1x90'),
      leads,
    ],
    [
      'all wait for nearly 4 minutes',
      40,
      waits('180', '0+0x90'),
      waits('240', '0+1x90'),
      waits('300', '0+1x90'),
      waits('+Inf', '0+1x90'),
      leads,
    ],
    ["it is another operator's", 40, waits('300', '0+0x90'), waits('600', '0+1x90'), waits('+Inf', '0+1x90')],
  ),
  ...both(
    'EdgeOperatorReconcileErrors',
    [
      'one in five fails',
      40,
      [{ controller: 'botuser' }],
      errors('0+2x90'),
      reconciles('error', '0+2x90'),
      reconciles('success', '0+8x90'),
      leads,
    ],
    ['one in twenty', 40, errors('0+1x90'), reconciles('error', '0+1x90'), reconciles('success', '0+19x90'), leads],
    [
      'the API server is away, which has an alert of its own',
      40,
      errors('0+2x90'),
      reconciles('error', '0+2x90'),
      reconciles('success', '0+0x90'),
      leads,
      ...unreachable,
    ],
    ['nothing happens', 40, errors('5+0x90'), reconciles('error', '5+0x90'), reconciles('success', '0+0x90'), leads],
  ),
  ...both(
    'EdgeOperatorAccountUnauthorized',
    ['401 for 5 minutes', 6, [account], state('unauthorized', '1+0x90'), state('usable', '0+0x90')],
    ['a new key helped', 10, state('unauthorized', '1 1 1 0+0x90'), state('usable', '0 0 0 1+0x90')],
    ['it is unreachable', 30, state('unauthorized', '0+0x90'), state('unreachable', '1+0x90')],
  ),
  ...both(
    'EdgeOperatorCloudUnreachable',
    ['for 10 minutes', 11, [account], state('unreachable', '1+0x90')],
    ['it answers now and then', 60, state('unreachable', '1 1 1 1 0 1 1 1 1 0 1 1 1 1 0 1 1 1 1 0')],
    ['it answers 401', 60, state('unreachable', '0+0x90'), state('unauthorized', '1+0x90')],
  ),
  ...both(
    'EdgeOperatorCloudErrors',
    ['one in five', 40, [{}], requests('Unreachable', '0+2x90'), requests('ok', '0+8x90')],
    ['one in twenty', 40, requests('Unreachable', '0+1x90'), requests('ok', '0+19x90')],
    [
      'no request of an account is answered, which has an alert of its own',
      60,
      requests('Unreachable', '0+2x90'),
      requests('ok', '0+8x90'),
      state('unreachable', '1+0x90'),
    ],
    ['what is refused is no such error', 40, requests('Rejected', '0+9x90'), requests('ok', '0+1x90')],
  ),
  ...both('EdgeOperatorCloudErrors', [
    'one in five, while an account has been unreachable for more than a day',
    1_500,
    [{}],
    requests('Unreachable', '0+2x1600'),
    requests('ok', '0+8x1600'),
    state('unreachable', '1+0x1600'),
  ]),
  ...both(
    'EdgeOperatorCloudSlow',
    [
      'one in five takes 8 seconds',
      40,
      [{}],
      seconds('5', '0+8x90'),
      seconds('10', '0+10x90'),
      seconds('+Inf', '0+10x90'),
    ],
    ['one in twenty', 40, seconds('5', '0+19x90'), seconds('10', '0+20x90'), seconds('+Inf', '0+20x90')],
    ['nothing is asked', 40, seconds('5', '0+0x90'), seconds('10', '9+0x90'), seconds('+Inf', '9+0x90')],
  ),
  ...both(
    'EdgeOperatorBudgetExhausted',
    ['115 of 120', 16, [account], used('115+0x90'), budget],
    ['drift takes its half', 60, used('60+0x90'), budget],
    ['changes wait, which has an alert of its own', 60, used('115+0x90'), budget, waiting('change', '3+0x90')],
    ['a burst of 10 minutes', 30, used('118+0x10 20+0x60'), budget],
  ),
  ...both(
    'EdgeOperatorChangesWait',
    ['always some', 11, [account], waiting('change', '3+0x90')],
    ['a 429 is waited out, which has an alert of its own', 60, waiting('change', '3+0x90'), paused('1+0x90')],
    ['drift waits', 60, waiting('change', '0+0x90'), waiting('resync', '40+0x90')],
  ),
  ...both(
    'EdgeOperatorRateLimitPaused',
    ['for 5 minutes', 6, [account], paused('1+0x90')],
    ['for a minute at a time', 30, paused('1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1')],
  ),
  ...both(
    'EdgeOperatorRateLimited',
    ['three times in half an hour', 20, [account], limited('0 0 0 1 1 1 2 2 2 3+0x60')],
    ['the pause is long, which has an alert of its own', 20, limited('0 0 0 1 1 1 2 2 2 3+0x60'), paused('1+0x90')],
    ['twice', 20, limited('0 0 0 1 1 1 2+0x60')],
    ['three times in three hours', 180, limited('0+0x60 1+0x60 2+0x60 3+0x60')],
  ),
  ...both(
    'EdgeOperatorAmbiguousCreate',
    [
      'one, seen by two replicas',
      2,
      [bots],
      resources('1+0x90', 'BotUser', 'AmbiguousCreate'),
      resources('1+0x90', 'BotUser', 'AmbiguousCreate', b),
    ],
    ['others are in trouble', 60, resources('1+0x90', 'BotUser', 'Rejected')],
  ),
  ...(['Rejected', 'Conflict', 'ExternalNotFound', 'Unauthorized', 'DriftDetected', 'OutcomeUnknown'] as const).flatMap(
    (reason) =>
      both('EdgeOperatorResourcesStalled', [
        `${reason}, seen by two replicas`,
        16,
        [{ ...bots, reason }],
        resources('2+0x90', 'BotUser', reason),
        resources('2+0x90', 'BotUser', reason, b),
      ]),
  ),
  ...both(
    'EdgeOperatorResourcesStalled',
    [
      'of two kinds',
      16,
      [
        { ...bots, reason: 'Rejected' },
        { kind: 'ReservedAddr', reason: 'Conflict' },
      ],
      resources('2+0x90', 'BotUser', 'Rejected'),
      resources('1+0x90', 'ReservedAddr', 'Conflict'),
    ],
    ['corrected within 10 minutes', 30, resources('1+0x10 0+0x60', 'BotUser', 'Rejected')],
    ['paused, as asked', 60, resources('1+0x90', 'BotUser', 'Paused')],
    ['on their way', 60, resources('1+0x90', 'BotUser', 'Unreachable')],
    [
      'the key is refused, which has an alert of its own',
      60,
      resources('1+0x90', 'BotUser', 'Unauthorized'),
      state('unauthorized', '1+0x90'),
    ],
  ),
  {
    alert: 'EdgeOperatorResourcesNotReady',
    when: 'not looked at once',
    minute: 31,
    fires: [{ ...bots, reason: 'Pending' }],
    series: [resources('1+0x90', 'BotUser', 'Pending')],
  },
  ...both(
    'EdgeOperatorResourcesNotReady',
    [
      'for half an hour',
      31,
      [{ ...bots, reason: 'DependencyNotReady' }],
      resources('1+0x90', 'BotUser', 'DependencyNotReady'),
    ],
    ['paused, as asked', 80, resources('1+0x90', 'BotUser', 'Paused')],
    ['ready', 80, resources('9+0x90', 'BotUser', 'Available')],
    ['stalled', 80, resources('9+0x90', 'BotUser', 'Rejected')],
    ['over', 80, resources('9+0x90', 'RequestReplay', 'OutcomeUnknown')],
    [
      'the cloud does not answer, which has an alert of its own',
      80,
      resources('1+0x90', 'BotUser', 'Unreachable'),
      state('unreachable', '1+0x90'),
    ],
    ['changes wait, which has one too', 80, resources('1+0x90', 'BotUser', 'Pending'), waiting('change', '3+0x90')],
    ['a 429 is waited out, which has one too', 80, resources('1+0x90', 'BotUser', 'RateLimited'), paused('1+0x90')],
    [
      'the agent of a tunnel is away, which has one too',
      80,
      resources('1+0x90', 'AgentTunnel', 'Unreachable'),
      resources('1+0x90', 'Agent', 'Unreachable'),
    ],
    ['agents have an alert of their own', 80, resources('1+0x90', 'Agent', 'Unreachable')],
    ['come and go', 80, resources('1+0x20 stale 1+0x20 stale 1+0x20 stale 1+0x20', 'BotUser', 'Pending')],
    ['under way for less than two hours', 110, resources('1+0x120', 'BotUser', 'Deleting')],
    [
      'the users of an account whose key is refused',
      80,
      resources('1+0x90', 'BotUser', 'DependencyNotReady'),
      refusedKey,
    ],
  ),
  ...(['Creating', 'Updating', 'Deleting'] as const).flatMap((reason) =>
    both('EdgeOperatorResourcesNotReady', [
      `${reason} for two hours, while an account is in trouble in each way`,
      125,
      [{ ...bots, reason }],
      resources('1+0x130', 'BotUser', reason),
      { ...refusedKey, values: '1+0x130' },
      paused('1+0x130'),
      waiting('change', '3+0x130'),
    ]),
  ),
  ...both('EdgeOperatorResourcesNotReady', [
    'for half an hour, while the key of an abandoned account has been refused for more than a day',
    1_535,
    [{ ...bots, reason: 'DependencyNotReady' }],
    resources(`${'_ '.repeat(1_500)}1+0x60`, 'BotUser', 'DependencyNotReady'),
    { ...refusedKey, values: '1+0x1600' },
  ]),
  ...both('EdgeOperatorResourcesNotReady', [
    'what does not follow from it, while an account waits out a 429 and has changes that wait',
    31,
    [{ ...bots, reason: 'DependencyNotReady' }],
    resources('1+0x90', 'BotUser', 'DependencyNotReady'),
    paused('1+0x90'),
    waiting('change', '3+0x90'),
  ]),
  ...both('EdgeOperatorResourcesNotReady', [
    'of agents, which have no account, while one is in trouble',
    31,
    [{ kind: 'AgentTunnel', reason: 'DependencyNotReady' }],
    resources('1+0x90', 'AgentTunnel', 'DependencyNotReady'),
    refusedKey,
  ]),
  ...both(
    'EdgeOperatorDriftBurst',
    ['one a minute', 40, [bots], drift('0+1x90')],
    ['five, once', 40, drift('0+0x20 1+1x4 5+0x60')],
  ),
  ...both(
    'EdgeOperatorMirrorStale',
    ['no sweep ever', 14, [account], ...mirror('0+0x90', '30+0x90')],
    ['a sweep a minute', 80, ...mirror('0+60x90', '30+0x90')],
    [
      'the cloud does not answer, which has an alert of its own',
      80,
      ...mirror('0+0x90', '30+0x90'),
      state('unreachable', '1+0x90'),
    ],
    ['every hour, as asked', 80, ...mirror('0+0x90', '3600+0x90')],
  ),
  ...both('EdgeOperatorMirrorStale', ['none any more', 40, [account], ...mirror('0+60x20 1200+0x90', '30+0x90')]),
  ...both(
    'EdgeOperatorMirrorPending',
    ['for 15 minutes', 16, [account], pending('1+0x90')],
    ['they are written in the end', 80, pending('9 9 9 0+0x90')],
  ),
  ...both(
    'EdgeOperatorAgentUnreachable',
    ['for 10 minutes', 11, [{}], resources('1+0x90', 'Agent', 'Unreachable')],
    ['tunnels only', 80, resources('1+0x90', 'AgentTunnel', 'Unreachable')],
  ),
];
