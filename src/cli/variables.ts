const prefix = 'EDGE_OPERATOR_';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What to say of variables that look like those of the operator and are not: nobody reads them. Values are not repeated. */
export function unknownVariables(env: Environment, known: readonly string[]): readonly string[] {
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith(prefix) && !known.includes(name) && !isOfService(name, value))
    .map(([name]) => `${name} is no variable of the operator, and is ignored: run --help has those that are`);
}

/** As Kubernetes gives them to every pod for a Service of its namespace whose name begins with `edge-operator`. */
function isOfService(name: string, value: string | undefined): boolean {
  if (/_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) return true;
  return name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value ?? '');
}
