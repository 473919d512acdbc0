import { ApiError } from '../../common/http/errors.ts';
import { isForbidden, isNotFound, isNothingThere, KubeConnectionError, KubeError } from '../kube/errors.ts';

export const installDefinitions =
  'install the definitions of this version: kubectl apply --server-side -f crds (from a checkout), or helm upgrade';

/** What to do where something could not be found out; undefined where the message is all that can be said. */
export function cureOf(error: unknown): string | undefined {
  if (error instanceof KubeConnectionError)
    return 'see whether kubectl reaches it: kubectl cluster-info; another cluster is named by --kubeconfig';
  if (error instanceof KubeError && error.status === 401) return 'sign in to the cluster, and see: kubectl auth whoami';
  if (isForbidden(error)) return 'have the right granted to whoever looks, or look as somebody who has it';
  if (isNothingThere(error) && !isNotFound(error)) return installDefinitions;
  if (error instanceof ApiError) return 'see whether --api-url is right, and whether this machine reaches it';
  return undefined;
}
