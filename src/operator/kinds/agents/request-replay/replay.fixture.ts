import { ApiError, type ApiErrorReason } from '../../../../common/http/errors.ts';
import { ManualClock } from '../../../controller/manual-clock.fixture.ts';
import { contextOf } from '../../../reconcile/context.fixture.ts';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import type { Annotations, ObjectWriter } from '../../../reconcile/resource/writer.ts';
import { conditionsFor } from '../../../reconcile/status/conditions.ts';
import type { Report } from '../../../reconcile/status/outcome.ts';
import { ReplayFlow } from './flow.ts';

/** One RequestReplay, its agent, and the processes that come to it. */
export class ReplayWorld {
  readonly clock = new ManualClock();
  /** What happened, in order. */
  readonly steps: string[] = [];
  /** By step: an error of a `lost` one is of the answer only, for the write was made. */
  readonly nextErrors = new Map<string, unknown>();
  /** As Kubernetes has it. */
  object: ManagedObject | undefined;
  flow!: ReplayFlow;
  readonly writer = {
    sign: async (read: ManagedObject, annotations: Annotations) => {
      await this.#written('begin', withIntent(read, annotations[annotation.replayIntent] ?? ''));
      return this.object;
    },
    insist: async (read: ManagedObject, annotations: (latest: ManagedObject) => Annotations) => {
      await this.#written('cancel', withIntent(read, annotations(read)[annotation.replayIntent] ?? ''));
      return this.object;
    },
    delete: () => this.#written('remove', undefined),
  } as unknown as ObjectWriter;

  constructor() {
    this.create({});
    this.restart();
  }

  create(spec: Readonly<Record<string, unknown>>, annotations: Readonly<Record<string, string>> = {}): void {
    this.object = {
      apiVersion: 'edge-operator.dev/v1alpha1',
      kind: 'RequestReplay',
      metadata: { name: 'again', namespace: 'ns', uid: 'u', generation: 1, annotations },
      spec: { agentRef: { name: 'dev' }, requestID: 'req_1', ...spec },
    };
  }

  /** Another process: it knows what Kubernetes knows. */
  restart(): void {
    let nonces = 0;
    this.flow = new ReplayFlow({
      agentOf: () => {
        if (this.nextErrors.has('agentOf')) throw this.nextErrors.get('agentOf');
        const status = { status: 'online', agent_version: '', session: { legs: [] }, uri: '' };
        return {
          status: () => this.#step('status').then(() => status),
          check: async () => {
            if (this.nextErrors.has('check')) await this.#step('check');
          },
          replay: ({ id, tunnelName }) => this.#step(`replay ${id}${tunnelName ? ` on ${tunnelName}` : ''}`),
        };
      },
      nonce: () => `nonce${nonces++}`,
    });
  }

  /** One reconcile; with `settle`, its report becomes the status. */
  async reconcile({ settle = true } = {}): Promise<Report> {
    const { object, writer, clock } = this;
    if (object === undefined) throw new Error('the resource is gone');
    const outcome = await this.flow.ensure(contextOf(object, { writer, connection, now: () => clock.now() }));
    if (outcome.kind === 'reported' && settle) this.#settle(outcome);
    return outcome as Report;
  }

  conditions(): string | undefined {
    return this.object?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`).join(', ');
  }

  #settle(outcome: Report): void {
    const { status } = this.object ?? {};
    const conditions = conditionsFor(outcome, 1, {
      ...{ previous: status?.conditions ?? [], own: ['Complete', 'Failed'], asked: [] },
      now: new Date(this.clock.now()),
    });
    this.object = { ...this.object, status: { ...status, ...outcome.fields, conditions } } as ManagedObject;
  }

  async #step(name: string): Promise<void> {
    this.steps.push(name);
    const error = this.nextErrors.get(name);
    this.nextErrors.delete(name);
    if (error !== undefined) throw error;
  }

  async #written(name: string, next: ManagedObject | undefined): Promise<void> {
    this.steps.push(name);
    const error = this.nextErrors.get(name) ?? this.nextErrors.get(`lost ${name}`);
    if (!this.nextErrors.has(name)) this.object = next;
    this.nextErrors.delete(name);
    this.nextErrors.delete(`lost ${name}`);
    if (error !== undefined) throw error;
  }
}

export const connection = { key: 'ns/dev', client: undefined };

export function withIntent(object: ManagedObject, intent: string): ManagedObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [annotation.replayIntent]: intent } },
  };
}

export const agentError = (reason: ApiErrorReason, definite: boolean) =>
  new ApiError('said why', { operation: 'requests.replay', reason, definite });
