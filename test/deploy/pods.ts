import type { Rendered } from './helm.ts';

/* Pods as the chart's Deployments describe them. */

// biome-ignore lint/suspicious/noExplicitAny: pods have every shape
type Any = any;

/** Why a pod would be refused in a namespace that enforces the `restricted` pod security standard; empty: it would not. */
export function restrictedProblems(pod: Any): readonly string[] {
  const shared = pod.securityContext ?? {};
  const hostUse = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => pod[field] === true);
  const allowed = [
    'configMap',
    'secret',
    'emptyDir',
    'projected',
    'downwardAPI',
    'csi',
    'persistentVolumeClaim',
    'ephemeral',
  ];
  const volumes = (pod.volumes ?? []).filter((volume: Any) => !allowed.some((type) => type in volume));
  const containers = [...pod.containers, ...(pod.initContainers ?? [])];
  return [
    ...hostUse,
    ...volumes.map((volume: Any) => `volume ${volume.name}`),
    ...containers.flatMap((container: Any) => containerProblems(container, shared)),
  ];
}

function containerProblems(container: Any, shared: Any): readonly string[] {
  const own = { ...shared, ...container.securityContext };
  const rules: Readonly<Record<string, boolean>> = {
    privileged: own.privileged !== true,
    allowPrivilegeEscalation: own.allowPrivilegeEscalation === false,
    runAsNonRoot: own.runAsNonRoot === true,
    runAsUser: own.runAsUser !== 0,
    seccompProfile: ['RuntimeDefault', 'Localhost'].includes(own.seccompProfile?.type),
    'capabilities.drop': own.capabilities?.drop?.includes('ALL') === true,
    'capabilities.add': (own.capabilities?.add ?? []).every((name: string) => name === 'NET_BIND_SERVICE'),
    // Not asked for by the standard, but by us.
    readOnlyRootFilesystem: own.readOnlyRootFilesystem === true,
  };
  const broken = Object.keys(rules).filter((rule) => rules[rule] === false);
  const hostPorts = (container.ports ?? []).filter((port: Any) => port.hostPort !== undefined).map(() => 'hostPort');
  return [...broken, ...hostPorts].map((problem) => `${container.name}: ${problem}`);
}

/** The one container of a Deployment. */
export function containerOf(deployment: Rendered): Any {
  return deployment.spec.template.spec.containers[0];
}

/** `--a=b` and `--a` of a container's arguments, by name without the dashes. */
export function flagsOf(container: Any): ReadonlyMap<string, string | true> {
  const flags: readonly string[] = container.args.slice(1);
  return new Map(
    flags.map((flag) => {
      const [, name = flag, value] = /^--([a-z-]+)(?:=(.*))?$/s.exec(flag) ?? [];
      return [name, value ?? true];
    }),
  );
}
