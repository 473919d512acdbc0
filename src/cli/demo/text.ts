import type { RequestPath } from './request-path.ts';
import type { World } from './world.ts';

interface Where {
  readonly namespace: string;
  readonly logFile: string;
}

export function summary(ready: boolean, path: RequestPath | undefined, { namespace, logFile }: Where): string {
  const why = `the log says why: ${logFile}\n`;
  if (!ready) return `Not everything became Ready within a minute; ${why}`;
  if (path === undefined) return `Everything is Ready, but no request came through the tunnel; ${why}`;
  return `Everything is Ready, and a request went through the tunnel:

  asked      ${path.publicURL}/hello
  answered   ${path.answer}
  replayed   RequestReplay ${namespace}/${path.replay}
  mirrored   ConfigMap ${namespace}/${path.configMap}
`;
}

export function invitation({ kubeconfig, cloudURL, agentURL, logFile }: World, path: RequestPath | undefined): string {
  const curl = path === undefined ? '' : `  curl ${path.publicURL}\n`;
  return `
See the requests on the inspector page: ${agentURL}
Try it from another terminal:

  export KUBECONFIG=${kubeconfig}
${curl}  kubectl get edge
  kubectl get configmaps -l edge-operator.dev/mirror=endpoints
  kubectl explain ra.spec
  kubectl patch ra db --type merge -p '{"spec":{"description":"changed"}}'
  kubectl describe ra db
  kubectl delete bot deployer

Cloud: ${cloudURL}   Log: ${logFile}
Ctrl-C ends everything.

`;
}
