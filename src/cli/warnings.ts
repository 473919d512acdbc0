import { type RunSettings, settingsHelp } from '../operator/settings.ts';
import { type Environment, unknownVariables } from './variables.ts';

/** What is given to `run` in vain. */
export function warningsOf(settings: RunSettings, env: Environment): readonly string[] {
  return [...unknownVariables(env, variables()), ...vainKey(settings, env), ...vainNamespaces(settings)];
}

/** Those of the flags, that of the key, and that of the commands for an agent. */
function variables(): readonly string[] {
  return [...settingsHelp().map(({ variable }) => variable), 'EDGE_OPERATOR_API_KEY', 'EDGE_OPERATOR_AGENT_URL'];
}

function vainKey({ apiKeyFile }: RunSettings, env: Environment): readonly string[] {
  if (apiKeyFile === undefined || !env.EDGE_OPERATOR_API_KEY) return [];
  return ['EDGE_OPERATOR_API_KEY is ignored, for --api-key-file is given too: leave one of them out'];
}

function vainNamespaces({ watchNamespaces, defaultAccountNamespaces: users }: RunSettings): readonly string[] {
  if (watchNamespaces.length === 0 || users === '*' || users.some((name) => watchNamespaces.includes(name))) return [];
  return ['--default-account-namespaces names none of --watch-namespaces: nothing may use the default account'];
}
