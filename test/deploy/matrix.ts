import type { Values } from './helm.ts';

const account = { apiURL: 'https://api.example.com', existingSecret: 'edge-account' };

/** Sets of values that between them turn every switch of the chart; each has a name that says what it is for. */
export const matrix: Readonly<Record<string, Values>> = {
  defaults: {},
  'a key in the values': { account: { apiURL: 'http://cloud:8080/api', apiKey: 'canary-key', secretKey: 'k.e-y_1' } },
  'a Secret of the user': { account },
  'more accounts': {
    account,
    accounts: [
      { name: 'second', apiKey: 'canary-key', apiURL: 'https://b.example.com:8443', requestsPerMinute: 60 },
      {
        name: 'third',
        existingSecret: 'third',
        namespace: 'team',
        secretKey: 'key',
        endpointMirror: { enabled: true, intervalSeconds: 60, protocols: ['tcp'], types: ['edge'] },
      },
    ],
    settings: { allowedApiHosts: ['c.example.com'] },
  },
  'only accounts': {
    accounts: [
      { name: 'only', apiKey: 'canary-key', apiURL: 'https://b.example.com' },
      { name: 'near', apiKey: 'canary-key', apiURL: 'http://cloud.team.svc:8000/v2' },
    ],
    replicas: 2,
  },
  'two namespaces': {
    account,
    watchNamespaces: ['team', 'other'],
    accounts: [{ name: 'second', apiKey: 'canary-key', namespace: 'team' }],
    endpointMirror: { namespace: 'other', cloudAccounts: true },
    rbac: { secrets: true },
  },
  'no mirrors': { account, endpointMirror: { enabled: false } },
  'mirrors of all accounts': { account, endpointMirror: { cloudAccounts: true } },
  'the default mirror only': { account, endpointMirror: { namespace: 'team' } },
  'any Secret': { account, rbac: { secrets: true } },
  'named Secrets only': { account, rbac: { secretNames: ['a', 'b.c'] } },
  'nothing that another makes': {
    crds: { install: false },
    rbac: { create: false },
    serviceAccount: { create: false, name: 'mine' },
    metrics: { enabled: false },
    networkPolicy: { enabled: false },
  },
  'definitions that go': { crds: { keep: false }, rbac: { aggregate: true } },
  'nobody who reads metrics': { networkPolicy: { metricsNamespaces: [] } },
  'other names': {
    nameOverride: 'eop',
    serviceAccount: { annotations: { role: 'arn:x' } },
    commonLabels: { team: 'a' },
  },
  'one other name': { fullnameOverride: 'a-name-that-is-rather-long-but-still-a-name-for-all-of-it-1' },
  everything: {
    account,
    replicas: 3,
    shards: 12,
    image: { repository: 'registry.example.com:5000/x', digest: `sha256:${'0'.repeat(64)}`, pullPolicy: 'Always' },
    imagePullSecrets: [{ name: 'pull' }],
    settings: {
      defaultAccountNamespaces: ['team', 'other'],
      allowedApiHosts: ['c.example.com', '[::1]:8443'],
      allowedAgentHosts: [
        'agent.example.com',
        '10.1.2.3:4041',
        '*.agents.svc:4042',
        '10.0.8.0/24:4043',
        '[fd00::/64]:4044',
      ],
      resyncInterval: '1h',
      createSettle: '90s',
      installation: 'blue',
      takeOver: true,
      concurrency: 1000,
      logLevel: 'debug',
      logFormat: 'text',
    },
    podDisruptionBudget: { maxUnavailable: '50%' },
    networkPolicy: {
      metricsNamespaces: ['prometheus'],
      metricsFrom: [{ podSelector: { matchLabels: { reads: 'metrics' } } }],
      extraEgress: [{ ports: [{ port: 8443 }], to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
    },
    metrics: {
      serviceMonitor: { enabled: true, labels: { prometheus: 'main' }, interval: '1m' },
      prometheusRule: { enabled: true, labels: { prometheus: 'main' } },
      dashboard: { enabled: true, annotations: { folder: 'edge' } },
    },
    agent: {
      enabled: true,
      config: { region: 'eu', tunnels: { web: { proto: 'http', addr: 'shop:80' } } },
      registerEndpoints: true,
    },
    livenessProbe: { initialDelaySeconds: 5 },
    podAnnotations: { 'example.com/a': 'b' },
    podLabels: { tier: 'control' },
    priorityClassName: 'system-cluster-critical',
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [{ operator: 'Exists' }],
    affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
    ],
    extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ca/ca.crt' }],
    extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
    extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca' }],
  },
};
