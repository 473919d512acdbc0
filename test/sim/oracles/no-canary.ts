import type { Report } from '../core/run.ts';
import { type Fields, fieldsOf, parsed } from './witness/json.ts';
import { type KubeWrite, kubeModelOf } from './witness/kube-model.ts';
import { domain } from './witness/resource.ts';
import type { Witness } from './witness/witness.ts';

/** Every secret of a story has it in it. */
const canary = /CANARY-?\d+/;

/** What is secret stands nowhere where an operator writes: logs, events, statuses, annotations, ConfigMaps. */
export function noCanary(world: Witness, report: Report) {
  let read = 0;
  const readLogs = () => {
    for (; read < world.logs.length; read += 1) {
      const line = world.logs[read];
      if (line === undefined || !canary.test(`${line.message} ${JSON.stringify(line.fields)}`)) continue;
      report('no-canary', `a secret in a log line of ${line.process}: ${line.message}`);
    }
  };
  kubeModelOf(world).writes.add((write) => {
    const where = canary.test(write.text) ? leakIn(write) : undefined;
    if (where !== undefined)
      report('no-canary', `a secret in ${where} of ${write.kind} ${write.namespace}/${write.name}`);
  });
  world.network.sendings.add(readLogs);
  return { atRest: readLogs, atEnd: readLogs };
}

/** Undefined: it is where a person put it. */
function leakIn({ kind, text, by, resource }: KubeWrite): string | undefined {
  const object = fieldsOf(parsed(text));
  if (resource !== undefined) return leakInResource(object);
  if (kind === 'Event') return 'the text';
  return by !== undefined && kind === 'ConfigMap' ? 'the data' : undefined;
}

function leakInResource({ metadata, status }: Fields): string | undefined {
  if (canary.test(JSON.stringify(status ?? {}))) return 'the status';
  const annotations = Object.entries(fieldsOf(fieldsOf(metadata).annotations));
  const leak = annotations.find(([name, value]) => name.startsWith(`${domain}/`) && canary.test(String(value)));
  return leak === undefined ? undefined : `the annotation ${leak[0]}`;
}
